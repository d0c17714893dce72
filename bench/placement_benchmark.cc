// (b) place_batch of 64 MiB over two devices against memcpy of the same bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "cpu_devices.h"
#include "lockstep/lockstep.h"

namespace lockstep::bench {
namespace {

constexpr std::int64_t num_rows = 4096;
constexpr std::int64_t num_columns = 4096;
constexpr std::size_t num_bytes = num_rows * num_columns * sizeof(float);

std::shared_ptr<const Strategy> two_devices() {
  use_two_cpu_devices();
  return create_strategy("cpu", 2);
}

void place(benchmark::State& state, const HostTensor& host) {
  const auto strategy = two_devices();
  const Tree batch{{"x", Array(host)}};
  for ([[maybe_unused]] auto iteration : state) {
    const Tree placed = strategy->place_batch(batch);
    placed["x"].leaf().block_until_ready();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(num_bytes));
}

void memcpy_64_mib(benchmark::State& state) {
  const std::vector<char> source(num_bytes, 1);
  std::vector<char> destination(num_bytes, 2);
  for ([[maybe_unused]] auto iteration : state) {
    std::memcpy(destination.data(), source.data(), num_bytes);
    benchmark::DoNotOptimize(destination.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(num_bytes));
}

void place_batch_owned_aligned(benchmark::State& state) {
  place(state, HostTensor::zeros(DType::Float32, {num_rows, num_columns}));
}

// Memory of someone else's, 16 bytes past a page, where malloc puts large arrays.
void place_batch_foreign(benchmark::State& state) {
  const std::vector<char> memory(num_bytes + 64, 1);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const char* misaligned = memory.data() + (16 - address % 64 + 64) % 64;
  place(state, HostTensor::borrow(misaligned, DType::Float32, {num_rows, num_columns}));
}

BENCHMARK(memcpy_64_mib)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(place_batch_owned_aligned)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(place_batch_foreign)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace lockstep::bench
