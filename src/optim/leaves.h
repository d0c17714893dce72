#pragma once
// What the transformations share: checks with their own names in the message, counters, moments.
#include <optional>
#include <string_view>

#include "lockstep/array/array.h"

namespace lockstep::optim {

// ValueError "[where] ..." unless `found` has the structure and the leaf shapes of `expected`; the
// names say what the two are.
void check_like(std::string_view where, std::string_view expected_name, const Tree& expected,
                std::string_view found_name, const Tree& found);

// The entry `name` of a state; ValueError "[where] ..." where the state is of another
// transformation.
[[nodiscard]] const Tree& state_entry(std::string_view where, const Tree& state,
                                      std::string_view name);

// An int32 zero, and count + 1 that stays at the greatest int32.
[[nodiscard]] Array zero_count();
[[nodiscard]] Array increment(const Array& count);

[[nodiscard]] Tree zeros_like(const Tree& tree, std::optional<DType> dtype = {});
[[nodiscard]] Tree full_like(const Tree& tree, double value);

// Each leaf as `dtype`, if there is one.
[[nodiscard]] Tree cast(const Tree& tree, std::optional<DType> dtype);

// (1 - decay) g^order + decay t at every leaf; order is 1 or 2.
[[nodiscard]] Tree update_moment(const Tree& updates, const Tree& moment, double decay, int order);

// 1 - decay^count, a scalar in the default floating type.
[[nodiscard]] Array bias_correction(double decay, const Array& count);
// leaf / correction, the correction in the leaf's type.
[[nodiscard]] Array corrected(const Array& leaf, const Array& correction);

}  // namespace lockstep::optim
