#include "pjrt/host_memory_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace lockstep::pjrt {
namespace {

constexpr std::size_t alignment = 64;
// Below this the C library's own reuse is as good.
constexpr std::size_t smallest_kept = std::size_t{64} * 1024;

std::size_t round_up(std::size_t size, std::size_t multiple) {
  return std::max<std::size_t>((size + multiple - 1) / multiple * multiple, multiple);
}

std::byte* allocate(std::size_t size) {
  void* data = std::aligned_alloc(alignment, size);
  if (data == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(data);
}

}  // namespace

HostMemoryPool::~HostMemoryPool() {
  for (const Block& block : kept_) std::free(block.data);
}

std::shared_ptr<std::byte> HostMemoryPool::acquire(std::size_t size) {
  if (size < smallest_kept) {
    return {allocate(round_up(size, alignment)), [](std::byte* data) { std::free(data); }};
  }
  Block block{nullptr, round_up(size, smallest_kept)};
  {
    const std::lock_guard lock(mutex_);
    // The latest returned first: its pages are the likeliest to be in the caches.
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(),
                                    [&](const Block& kept) { return kept.size == block.size; });
    if (found != kept_.rend()) {
      block = *found;
      kept_.erase(std::next(found).base());
      kept_bytes_ -= block.size;
    }
  }
  if (block.data == nullptr) block.data = allocate(block.size);
  return {block.data, [pool = weak_from_this(), size = block.size](std::byte* data) {
            if (const std::shared_ptr<HostMemoryPool> alive = pool.lock()) {
              alive->release({data, size});
            } else {
              std::free(data);
            }
          }};
}

std::size_t HostMemoryPool::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

void HostMemoryPool::release(Block block) {
  std::vector<Block> dropped;
  {
    const std::lock_guard lock(mutex_);
    kept_.push_back(block);
    kept_bytes_ += block.size;
    auto end = kept_.begin();
    while (kept_bytes_ > max_kept_bytes_) kept_bytes_ -= (end++)->size;
    dropped.assign(kept_.begin(), end);
    kept_.erase(kept_.begin(), end);
  }
  for (const Block& old : dropped) std::free(old.data);
}

}  // namespace lockstep::pjrt
