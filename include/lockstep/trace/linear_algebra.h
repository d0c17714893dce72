#pragma once
/// Products of matrices and tensors.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lockstep/array/array.h"

namespace lockstep {

/// How exact a product is on devices that have faster, coarser ones: `Default` is the device's own
/// choice, `Highest` is full float32. CPUs always compute in full.
enum class Precision { Default, High, Highest };

/// Which axes of lhs and rhs are multiplied and summed (contracting) and which run side by side
/// (batch).
struct DotDimensionNumbers {
  std::vector<std::int64_t> lhs_contracting = {};
  std::vector<std::int64_t> rhs_contracting = {};
  std::vector<std::int64_t> lhs_batch = {};
  std::vector<std::int64_t> rhs_batch = {};
  [[nodiscard]] bool operator==(const DotDimensionNumbers&) const = default;
};

struct DotOptions {
  Precision precision = Precision::Default;
  /// Type of the result and of its sums; the operands' type unless given.
  std::optional<DType> preferred_element_type = {};
};

/// The general product: result axes are the batch axes, then lhs's others, then rhs's others. Types
/// are promoted. ValueError "[dot_general] ..." naming the axes and both shapes where lengths
/// differ. Linear in each operand; its derivative is made of dot_generals.
[[nodiscard]] Array dot_general(const Array& lhs, const Array& rhs,
                                const DotDimensionNumbers& dimensions,
                                const DotOptions& options = {});
/// NumPy's matmul: vectors, matrices, and stacks of matrices whose leading axes broadcast.
[[nodiscard]] Array matmul(const Array& a, const Array& b, const DotOptions& options = {});
/// NumPy's dot: last axis of a with the last but one (or only) axis of b; a product where one is a
/// scalar.
[[nodiscard]] Array dot(const Array& a, const Array& b, const DotOptions& options = {});
/// Sum of the products of all elements (shapes must hold equally many).
[[nodiscard]] Array vdot(const Array& a, const Array& b, const DotOptions& options = {});
/// Sum over the last `axes` axes of a and the first `axes` of b, or over the pairs named.
[[nodiscard]] Array tensordot(const Array& a, const Array& b, std::int64_t axes = 2,
                              const DotOptions& options = {});
[[nodiscard]] Array tensordot(const Array& a, const Array& b,
                              const std::vector<std::int64_t>& a_axes,
                              const std::vector<std::int64_t>& b_axes,
                              const DotOptions& options = {});
/// All products of an element of a with one of b: (size a, size b).
[[nodiscard]] Array outer(const Array& a, const Array& b);
/// Einstein summation: "bij,bjk->bik". Letters and "..."; the result's axes are those after "->",
/// or, without it, the letters that occur once, in alphabetical order. A letter may repeat within
/// one operand (its diagonal). Any number of operands, multiplied from the left. ValueError naming
/// the letter, both lengths and the operands where they differ.
[[nodiscard]] Array einsum(std::string_view subscripts, const std::vector<Array>& operands,
                           const DotOptions& options = {});

}  // namespace lockstep
