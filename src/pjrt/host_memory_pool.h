#pragma once
// Aligned host memory that is used again.
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace lockstep::pjrt {

// Gives out 64-byte aligned blocks and keeps large ones for the next request of their size: memory
// fresh from the system costs a page fault for each page, three times as much as the copy into it.
// Blocks may outlive the pool. Safe from any thread.
class HostMemoryPool : public std::enable_shared_from_this<HostMemoryPool> {
 public:
  // Keeps at most `max_kept_bytes` that are not in use; the longest unused go first.
  explicit HostMemoryPool(std::size_t max_kept_bytes) : max_kept_bytes_(max_kept_bytes) {}
  HostMemoryPool(const HostMemoryPool&) = delete;
  HostMemoryPool& operator=(const HostMemoryPool&) = delete;
  ~HostMemoryPool();

  [[nodiscard]] std::shared_ptr<std::byte> acquire(std::size_t size);
  [[nodiscard]] std::size_t kept_bytes() const;

 private:
  struct Block {
    std::byte* data;
    std::size_t size;
  };
  void release(Block block);

  const std::size_t max_kept_bytes_;
  mutable std::mutex mutex_;
  std::vector<Block> kept_;  // the longest unused first
  std::size_t kept_bytes_ = 0;
};

}  // namespace lockstep::pjrt
