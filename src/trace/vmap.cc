#include "lockstep/trace/vmap.h"

#include <string>

#include "lockstep/base/error.h"
#include "lockstep/trace/record.h"
#include "lockstep/trace/shape_ops.h"
#include "lockstep/tree/algorithms.h"
#include "trace/batch.h"
#include "trace/batching.h"
#include "trace/differentiation.h"
#include "trace/flat.h"

namespace lockstep {
namespace {

// The arguments' leaves, those that are batched with the batch moved to axis 0.
struct Batch {
  std::vector<TreeStructure> structures;
  std::vector<Array> leaves;
  std::vector<bool> batched;
  std::vector<AbstractValue> examples;  // the types for one example
  std::int64_t size = -1;
  std::string size_from;  // the leaf that told the size
};

void add_leaf(std::string_view where, Batch& batch, const std::string& name, const Array& leaf,
              const BatchAxis& axis) {
  if (leaf.is_null()) throw_value_error(where, name + " has no value");
  batch.batched.push_back(axis.has_value());
  batch.examples.push_back(leaf.abstract_value());
  if (!axis) {
    batch.leaves.push_back(leaf);
    return;
  }
  const std::int64_t ndim = leaf.ndim();
  const std::int64_t at = *axis < 0 ? *axis + ndim : *axis;
  if (at < 0 || at >= ndim) {
    throw_value_error(where, name + " is " + to_string(leaf.abstract_value()) +
                                 " and has no axis " + std::to_string(*axis) +
                                 " to map over; give std::nullopt in in_axes for an argument that "
                                 "every example shares");
  }
  const std::int64_t length = leaf.shape()[static_cast<std::size_t>(at)];
  if (batch.size < 0) {
    batch.size = length;
    batch.size_from = name;
  } else if (batch.size != length) {
    throw_value_error(where, name + " has length " + std::to_string(length) + " along axis " +
                                 std::to_string(*axis) + ", but " + batch.size_from + " has " +
                                 std::to_string(batch.size) +
                                 "; all mapped axes must have one length");
  }
  Shape& example = batch.examples.back().shape;
  example.erase(example.begin() + at);
  batch.leaves.push_back(at == 0 ? leaf : moveaxis(leaf, at, 0));
}

Batch batch_of(std::string_view where, std::span<const Tree> arguments,
               std::span<const BatchAxis> in_axes) {
  if (in_axes.size() != arguments.size()) {
    throw_value_error(where, "in_axes has " + std::to_string(in_axes.size()) + " entries for " +
                                 std::to_string(arguments.size()) +
                                 " arguments; there must be one for each");
  }
  Batch batch;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    for_each_leaf(arguments[a], [&](const KeyPath& path, const Array& leaf) {
      add_leaf(where, batch, describe_leaf(a, path), leaf, in_axes[a]);
    });
    batch.structures.push_back(structure_of(arguments[a]));
  }
  if (batch.size < 0) {
    throw_value_error(where,
                      "no argument is mapped: every entry of in_axes is std::nullopt or its "
                      "argument has no leaves; map at least one");
  }
  return batch;
}

}  // namespace

Tree tree_vmap(std::string_view where, const TreeFunction& function,
               std::span<const Tree> arguments, std::span<const BatchAxis> in_axes,
               std::int64_t out_axis) {
  const Batch batch = batch_of(where, arguments, in_axes);
  TreeStructure structure;
  BatchedOutputs found =
      evaluate_batch(record(flat_function(function, batch.structures, structure), batch.examples),
                     batch.leaves, batch.batched, batch.size);
  for (std::size_t o = 0; o < found.outputs.size(); ++o) {
    Array& output = found.outputs[o];
    if (!found.batched[o]) output = repeated(output, batch.size);
    const std::int64_t ndim = output.ndim();
    const std::int64_t at = out_axis < 0 ? out_axis + ndim : out_axis;
    if (at < 0 || at >= ndim) {
      throw_value_error(where, "out_axes is " + std::to_string(out_axis) +
                                   ", but a result for the whole batch is " +
                                   to_string(output.abstract_value()) +
                                   "; it must name an axis of it");
    }
    if (at != 0) output = moveaxis(output, 0, at);
  }
  return unflatten(structure, found.outputs);
}

}  // namespace lockstep
