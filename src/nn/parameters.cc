#include "nn/parameters.h"

#include <fmt/format.h>

#include "lockstep/base/error.h"
#include "lockstep/trace/elementwise.h"
#include "lockstep/trace/promotion.h"
#include "lockstep/tree/algorithms.h"

namespace lockstep::nn {

const Array& parameter(std::string_view layer, const Tree& params, std::string_view name) {
  if (params.contains(name) && params[name].is_leaf()) return params[name].leaf();
  throw_value_error(layer, fmt::format("no parameter '{}', the parameters are {}; they must come "
                                       "from the init of the same model",
                                       name, structure_of(params).to_string()));
}

std::vector<Array> promote_dtype(std::vector<Array> arrays, std::optional<DType> dtype) {
  if (!dtype) {
    std::vector<Array> present;
    for (const Array& array : arrays) {
      if (!array.is_null()) present.push_back(array);
    }
    dtype = to_inexact(result_type(present)).dtype;
  }
  for (Array& array : arrays) {
    if (!array.is_null() && array.dtype() != *dtype) array = astype(array, *dtype);
  }
  return arrays;
}

}  // namespace lockstep::nn
