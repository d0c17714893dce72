#pragma once
/// Buffers: an array in one device's memory.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lockstep/pjrt/device.h"
#include "lockstep/pjrt/event.h"

struct PJRT_Buffer;

namespace lockstep::pjrt {

/// Owns a PJRT_Buffer. Not copyable; shared through std::shared_ptr by arrays.
class Buffer {
 public:
  Buffer(Client& client, PJRT_Buffer* buffer);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] PJRT_Buffer* handle() const { return buffer_; }
  [[nodiscard]] Client& client() const { return *client_; }
  [[nodiscard]] Device device() const;
  [[nodiscard]] int element_type() const;  ///< a PJRT_Buffer_Type
  [[nodiscard]] std::span<const std::int64_t> dimensions() const;
  [[nodiscard]] std::size_t on_device_size_in_bytes() const;

  /// Whether its memory is gone: donated or deleted. Marked by the one that donates (see
  /// LoadedExecutable::execute) or asked of the runtime.
  [[nodiscard]] bool is_deleted() const;
  /// Remembers that an executable took the memory over by donation.
  void mark_donated() { donated_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_donated() const { return donated_.load(std::memory_order_relaxed); }

  /// When the contents are there.
  [[nodiscard]] Event ready_event() const;
  /// Copies the contents row-major to `destination`; ready when the returned event is.
  [[nodiscard]] Event copy_to_host(std::byte* destination, std::size_t size) const;
  /// A copy on another device (of the same or another client).
  [[nodiscard]] std::shared_ptr<Buffer> copy_to_device(const Device& device) const;

 private:
  Client* client_;
  PJRT_Buffer* buffer_;
  std::atomic<bool> donated_ = false;
};

/// How many buffers this process holds: what leak tests count.
[[nodiscard]] std::int64_t num_live_buffers();

}  // namespace lockstep::pjrt
