#include "lockstep/array/abstract_value.h"

namespace lockstep {

std::string to_string(const AbstractValue& value) {
  std::string text(to_string(value.dtype));
  text += '[';
  for (std::size_t i = 0; i < value.shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(value.shape[i]);
  }
  text += ']';
  if (value.weak_type) text += '*';
  return text;
}

}  // namespace lockstep
