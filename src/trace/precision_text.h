#pragma once
// Precision in MLIR's text form.
#include <string>
#include <string_view>

#include "lockstep/trace/linear_algebra.h"

namespace lockstep {

inline std::string_view precision_text(Precision precision) {
  switch (precision) {
    case Precision::High: return "HIGH";
    case Precision::Highest: return "HIGHEST";
    case Precision::Default: break;
  }
  return "DEFAULT";
}

inline std::string precision_config(Precision precision) {
  const std::string one = "#stablehlo<precision " + std::string(precision_text(precision)) + ">";
  return "precision_config = [" + one + ", " + one + "]";
}

}  // namespace lockstep
