#include "lockstep/data/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "data/gather.h"
#include "data/thread_gang.h"
#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::string_view where = "BatchLoader";

std::int64_t chosen_num_threads(const Dataset& dataset, const LoaderOptions& options) {
  if (options.num_threads > 0) return options.num_threads;
  constexpr std::int64_t most = 8;  // memory is the limit from there on
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t rows = std::min(options.batch_size, dataset.num_rows());
  const std::int64_t useful = batch_bytes(dataset, rows) / least_bytes_per_thread;
  return std::clamp<std::int64_t>(std::min(cores, useful), 1, most);
}

void check_split(const Strategy& strategy, std::int64_t rows, std::string_view what) {
  const auto devices = static_cast<std::int64_t>(strategy.devices().size());
  const bool is_whole = strategy.batch_sharding(1).is_fully_replicated();
  if (is_whole || rows % devices == 0) return;
  throw_value_error(where, fmt::format("{} has {} rows, which cannot be split evenly over the {} "
                                       "devices of {}; expected a multiple of {}",
                                       what, rows, devices, strategy.to_string(), devices));
}

}  // namespace

// Makes one batch after the other. Used by one thread at a time.
class BatchLoader::Producer {
 public:
  Producer(Dataset dataset, const LoaderOptions& options, Sampler sampler)
      : dataset_(std::move(dataset)),
        sampler_(std::move(sampler)),
        transform_(options.transform),
        gang_(chosen_num_threads(dataset_, options)) {}

  // What next() gives: a batch, or the end of an epoch.
  struct Made {
    std::optional<Batch> batch;
    Cursor cursor;
  };

  Made make() {
    const std::vector<std::int64_t> rows = sampler_.next();
    Made made;
    made.cursor = {.epoch = sampler_.state().epoch, .position = sampler_.state().position};
    if (rows.empty()) return made;
    Tree::Dict columns;
    for (const auto& [name, column] : dataset_.columns()) {
      columns.emplace(name, Array(gather_rows(column, rows, gang_)));
    }
    Tree data(std::move(columns));
    if (transform_) data = transform_(std::move(data));
    made.batch = Batch{.data = std::move(data),
                       .num_rows = static_cast<std::int64_t>(rows.size()),
                       .cursor = made.cursor};
    return made;
  }

  [[nodiscard]] const Dataset& dataset() const { return dataset_; }
  [[nodiscard]] const Sampler& sampler() const { return sampler_; }
  void set_sampler(Sampler sampler) { sampler_ = std::move(sampler); }

 private:
  Dataset dataset_;
  Sampler sampler_;
  std::function<Tree(Tree)> transform_;
  ThreadGang gang_;
};

// Lets a producer work ahead on a thread of its own, as far as the queue has room.
class BatchLoader::Prefetcher {
 public:
  Prefetcher(Producer& producer, std::int64_t capacity)
      : producer_(producer), capacity_(static_cast<std::size_t>(capacity)) {
    thread_ = start_quiet_thread([this] { work(); });
  }
  ~Prefetcher() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    room_.notify_all();
    thread_.join();
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  Producer::Made take() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !made_.empty() || error_ != nullptr; });
    if (made_.empty()) std::rethrow_exception(error_);
    Producer::Made made = std::move(made_.front());
    made_.pop_front();
    lock.unlock();
    room_.notify_one();
    return made;
  }

 private:
  void work() {
    try {
      while (true) {
        {
          std::unique_lock lock(mutex_);
          room_.wait(lock, [this] { return is_stopping_ || made_.size() < capacity_; });
          if (is_stopping_) return;
        }
        Producer::Made made = producer_.make();
        {
          const std::lock_guard lock(mutex_);
          made_.push_back(std::move(made));
        }
        ready_.notify_one();
      }
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      ready_.notify_one();
    }
  }

  Producer& producer_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::deque<Producer::Made> made_;
  std::exception_ptr error_;
  bool is_stopping_ = false;
  std::thread thread_;
};

BatchLoader::BatchLoader(Dataset dataset, LoaderOptions options)
    : options_(std::move(options)), key_(sampler_key(options_.seed)) {
  if (options_.prefetch < 0 || options_.num_threads < 0) {
    throw_value_error(where, fmt::format("prefetch is {} and num_threads is {}; expected numbers "
                                         "that are not negative",
                                         options_.prefetch, options_.num_threads));
  }
  Sampler sampler(dataset.num_rows(),
                  {.batch_size = options_.batch_size,
                   .shuffle = options_.shuffle,
                   .drop_last = options_.drop_last,
                   .epoch_bits = options_.epoch_bits},
                  {.key = key_});
  producer_ = std::make_unique<Producer>(std::move(dataset), options_, std::move(sampler));
}

BatchLoader::~BatchLoader() = default;

void BatchLoader::prepare(const Strategy& strategy) {
  const std::int64_t rows = dataset().num_rows();
  if (rows >= options_.batch_size) check_split(strategy, options_.batch_size, "a batch");
  const std::int64_t short_rows = rows % options_.batch_size;
  if (!options_.drop_last && short_rows != 0) {
    check_split(strategy, short_rows, "the last batch of an epoch");
  }
  const Array key = device_put(key_, SingleDeviceSharding{strategy.root_device()});
  go_to({.key = key, .epoch = cursor_.epoch, .position = cursor_.position});
}

std::optional<Batch> BatchLoader::next() {
  if (prefetcher_ == nullptr && options_.prefetch > 0) {
    prefetcher_ = std::make_unique<Prefetcher>(*producer_, options_.prefetch);
  }
  try {
    Producer::Made made = prefetcher_ != nullptr ? prefetcher_->take() : producer_->make();
    cursor_ = made.cursor;
    return std::move(made.batch);
  } catch (...) {
    // The sampler is past the batch that failed: a further call must not leave it out.
    go_to({.key = key_, .epoch = cursor_.epoch, .position = cursor_.position});
    throw;
  }
}

void BatchLoader::skip_to_next_epoch() {
  if (cursor_.position == 0) return;
  go_to({.key = key_, .epoch = cursor_.epoch + 1, .position = 0});
}

std::optional<std::int64_t> BatchLoader::batches_per_epoch() const {
  return producer_->sampler().batches_per_epoch();
}

Tree BatchLoader::state_at(const Cursor& cursor) const {
  return to_tree({.key = key_, .epoch = cursor.epoch, .position = cursor.position});
}

void BatchLoader::restore(const Tree& state) {
  go_to(sampler_state_from_tree(state));
}

const Dataset& BatchLoader::dataset() const {
  return producer_->dataset();
}

void BatchLoader::go_to(SamplerState state) {
  Sampler sampler(dataset().num_rows(), producer_->sampler().options(), state);
  prefetcher_.reset();  // what it has made belongs to the old place
  producer_->set_sampler(std::move(sampler));
  key_ = std::move(state.key);
  cursor_ = {.epoch = state.epoch, .position = state.position};
}

}  // namespace lockstep::data
