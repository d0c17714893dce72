#pragma once
/// Executables: compiled programs, loaded on devices.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/pjrt/buffer.h"
#include "lockstep/pjrt/event.h"

struct PJRT_LoadedExecutable;

namespace lockstep::pjrt {

/// The options of a compilation that this library uses (a subset of XLA's CompileOptionsProto).
struct CompileOptions {
  std::int64_t num_replicas = 1;
  std::int64_t num_partitions = 1;
  bool use_spmd_partitioning = false;
  bool use_shardy_partitioner = false;
  bool run_backend_only = false;
  /// Global device ids, one for each partition of each replica (replica-major); empty: the default.
  std::vector<std::int64_t> device_ids = {};
  /// XLA's debug options to set for this program, by name ("xla_cpu_enable_fast_min_max").
  std::vector<std::pair<std::string, bool>> debug_options = {};

  /// As a serialised CompileOptionsProto.
  [[nodiscard]] std::string serialize() const;
};

/// Memory a loaded program needs on each device, in bytes.
struct CompiledMemoryStats {
  std::int64_t generated_code = 0;
  std::int64_t arguments = 0;
  std::int64_t outputs = 0;
  std::int64_t aliased = 0;
  std::int64_t temporaries = 0;
};

/// Owns a PJRT_LoadedExecutable.
class LoadedExecutable {
 public:
  LoadedExecutable(Client& client, PJRT_LoadedExecutable* executable);
  LoadedExecutable(const LoadedExecutable&) = delete;
  LoadedExecutable& operator=(const LoadedExecutable&) = delete;
  ~LoadedExecutable();

  [[nodiscard]] PJRT_LoadedExecutable* handle() const { return executable_; }
  [[nodiscard]] Client& client() const { return *client_; }
  /// The addressable devices it runs on, in the order of execute's lists.
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] std::size_t num_outputs() const { return num_outputs_; }
  [[nodiscard]] const std::string& fingerprint() const { return fingerprint_; }
  [[nodiscard]] std::optional<CompiledMemoryStats> memory_stats() const;
  /// The executable as bytes, for a compile cache; RuntimeError where the plugin cannot.
  [[nodiscard]] std::string serialize() const;
  /// The optimised program as the plugin gives it (e.g. an HloModuleProtoWithConfig), with its
  /// format.
  [[nodiscard]] std::pair<std::string, std::string> optimized_program() const;

  /// What one call of execute is given. All lists are device-major: entry d * count + i is
  /// argument (or output) i on device d of devices().
  struct ExecuteArguments {
    std::span<PJRT_Buffer* const> arguments;  ///< devices().size() * number of arguments
    std::span<PJRT_Buffer*> outputs;          ///< devices().size() * num_outputs(); filled
    /// Arguments that must not be donated although the program would; indices, sorted.
    std::span<const std::int64_t> non_donatable = {};
    /// Filled with one event per device, if not empty: when that device's run is over.
    std::span<Event> device_events = {};
  };
  /// Starts the program on all its devices and returns. RuntimeError with the runtime's text.
  /// The hot path: allocates nothing beyond what the runtime does.
  /// Tiny programs on one CPU device run before this returns; all others run on the runtime's
  /// threads. On CPU devices await a program with collectives before its 33rd run after: the
  /// runtime admits 32 runs per device, and a further one deadlocks it (its rendezvous then ends
  /// the process).
  void execute(const ExecuteArguments& arguments) const;

 private:
  void destroy();

  Client* client_;
  PJRT_LoadedExecutable* executable_;
  std::vector<Device> devices_;
  std::size_t num_outputs_ = 0;
  std::string fingerprint_;
};

}  // namespace lockstep::pjrt
