#include "train/evaluation.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/strategy/single_device.h"
#include "lockstep/train/metrics.h"
#include "lockstep/tree/algorithms.h"
#include "train/metric_values.h"
#include "train/tree_leaves.h"

namespace lockstep {
namespace {

// Rows [begin, end) of every leaf that has rows.
Tree rows_of(const Tree& batch, std::int64_t begin, std::int64_t end) {
  return map_tree(
      [&](const Array& leaf) {
        if (leaf.ndim() == 0) return leaf;
        return Array(leaf.to_host().rows(begin, end));
      },
      batch);
}

// Reading a metric waits for it, so a few batches may be under way before the first is read.
constexpr std::size_t max_unread = 2;

}  // namespace

struct Evaluation::Pass {
  struct Unread {
    std::vector<std::string> names;
    std::vector<Array> values;
    double rows;
  };
  MetricAverager averager;
  std::vector<Unread> unread;

  void read(std::size_t keep) {
    while (unread.size() > keep) {
      averager.add(read_metrics(unread.front().names, unread.front().values), unread.front().rows);
      unread.erase(unread.begin());
    }
  }
};

Evaluation::Evaluation(const EvalFunction& step, std::shared_ptr<const Strategy> strategy)
    : strategy_(std::move(strategy)),
      root_strategy_(std::make_shared<SingleDeviceStrategy>(strategy_->root_device())),
      step_(CompiledStep::evaluation(step, strategy_)),
      root_step_(CompiledStep::evaluation(step, root_strategy_, "eval_step_of_the_rest")) {}

void Evaluation::add(Pass& pass, CompiledStep& step, const Strategy& strategy, const Tree& state,
                     const Tree& batch, std::int64_t rows) {
  const Tree placed = strategy.place_batch(batch);
  step.compile(state, placed);
  std::vector<Array> state_leaves = flatten(state);
  std::vector<Array> batch_leaves = flatten(placed);
  std::vector<Array> metrics;
  step.run(state_leaves, batch_leaves, metrics);
  pass.unread.push_back({step.metric_names(), std::move(metrics), static_cast<double>(rows)});
  pass.read(max_unread);
}

Metrics Evaluation::run(const Tree& state, data::DataSource& source,
                        std::optional<std::int64_t> limit) {
  Pass pass;
  const auto num_devices = static_cast<std::int64_t>(strategy_->devices().size());
  const Tree placed_state = strategy_->place_state(state);
  std::optional<Tree> root_state;  // placed on the root device when a rest first needs it
  std::int64_t num_batches = 0;
  for (;; ++num_batches) {
    if (limit && num_batches == *limit) {
      source.skip_to_next_epoch();
      break;
    }
    const std::optional<data::Batch> batch = source.next();
    if (!batch) break;
    if (batch->num_rows == 0) {
      throw_value_error("evaluate",
                        fmt::format("batch {} has no rows, and the mean of nothing is not a "
                                    "number; leave empty batches out",
                                    num_batches));
    }
    const std::int64_t rest = batch->num_rows % num_devices;
    const std::int64_t whole = batch->num_rows - rest;
    if (rest == 0) {
      add(pass, step_, *strategy_, placed_state, batch->data, whole);
      continue;
    }
    if (whole > 0)
      add(pass, step_, *strategy_, placed_state, rows_of(batch->data, 0, whole), whole);
    if (!root_state) root_state = root_strategy_->place_state(placed_state);
    add(pass, root_step_, *root_strategy_, *root_state,
        rows_of(batch->data, whole, batch->num_rows), rest);
  }
  if (num_batches == 0) {
    throw_value_error("evaluate",
                      "the source gave no batch; check its rows, its batch size and "
                      "whether it drops a short last batch");
  }
  pass.read(0);
  return pass.averager.means();
}

}  // namespace lockstep
