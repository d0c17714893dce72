#include "nn/labels.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"

namespace lockstep::nn {
namespace {

bool are_indices(const Array& logits, const Array& labels) {
  Shape rows = logits.shape();
  if (rows.empty()) return false;
  rows.pop_back();
  return is_integer(labels.dtype()) && labels.shape() == rows;
}

[[noreturn]] void refuse(std::string_view where, const Array& logits, const Array& labels,
                         std::string_view expected) {
  throw_value_error(
      where, fmt::format("logits are {} and labels {}; {}", to_string(logits.abstract_value()),
                         to_string(labels.abstract_value()), expected));
}

}  // namespace

bool labels_are_indices(std::string_view where, const Array& logits, const Array& labels) {
  if (are_indices(logits, labels)) return true;
  if (logits.ndim() > 0 && logits.shape() == labels.shape()) return false;
  refuse(where, logits, labels,
         "labels must be integers of the logits' shape without the last axis, or one-hot of the "
         "logits' shape");
}

void check_index_labels(std::string_view where, const Array& logits, const Array& labels) {
  if (are_indices(logits, labels)) return;
  refuse(where, logits, labels,
         "labels must be integers of the logits' shape without the last axis");
}

}  // namespace lockstep::nn
