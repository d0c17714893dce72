#include <cstddef>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/executable.h"

// CompileOptionsProto in protobuf's wire format, written by hand: five numbers need no compiler of
// their own. Field numbers are those of xla/pjrt/proto/compile_options.proto and
// xla/xla_data.proto.
namespace lockstep::pjrt {
namespace {

class Message {
 public:
  void add_integer(int field, std::int64_t value) {
    add_varint(static_cast<std::uint64_t>(field) << 3);
    add_varint(static_cast<std::uint64_t>(value));
  }
  void add_flag(int field, bool value) {
    if (value) add_integer(field, 1);
  }
  void add_message(int field, const Message& message) { add_bytes(field, message.bytes_); }
  void add_bytes(int field, std::string_view bytes) {
    add_varint((static_cast<std::uint64_t>(field) << 3) | 2);
    add_varint(bytes.size());
    bytes_ += bytes;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void add_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

Message device_assignment(const CompileOptions& options) {
  Message assignment;
  assignment.add_integer(1, options.num_replicas);
  assignment.add_integer(2, options.num_partitions);
  for (std::int64_t partition = 0; partition < options.num_partitions; ++partition) {
    Message computation;
    for (std::int64_t replica = 0; replica < options.num_replicas; ++replica) {
      const std::int64_t index = replica * options.num_partitions + partition;
      computation.add_integer(1, options.device_ids[static_cast<std::size_t>(index)]);
    }
    assignment.add_message(3, computation);
  }
  return assignment;
}

}  // namespace

std::string CompileOptions::serialize() const {
  if (num_replicas < 1 || num_partitions < 1) {
    throw_value_error("CompileOptions",
                      "num_replicas and num_partitions are " + std::to_string(num_replicas) +
                          " and " + std::to_string(num_partitions) + "; both must be positive");
  }
  const std::int64_t num_devices = num_replicas * num_partitions;
  if (!device_ids.empty() && static_cast<std::int64_t>(device_ids.size()) != num_devices) {
    throw_value_error("CompileOptions", "there are " + std::to_string(device_ids.size()) +
                                            " device_ids for num_replicas * num_partitions = " +
                                            std::to_string(num_devices) +
                                            " devices; give one for each, or none");
  }
  Message build;
  build.add_integer(1, -1);  // device_ordinal: unset
  build.add_integer(4, num_replicas);
  build.add_integer(5, num_partitions);
  build.add_flag(6, use_spmd_partitioning);
  if (!device_ids.empty()) build.add_message(9, device_assignment(*this));
  build.add_flag(11, run_backend_only);
  build.add_flag(19, use_shardy_partitioner);
  Message options;
  options.add_message(3, build);
  for (const auto& [name, value] : debug_options) {
    Message held;
    held.add_integer(2, value ? 1 : 0);
    Message entry;
    entry.add_bytes(1, name);
    entry.add_message(2, held);
    options.add_message(7, entry);  // env_option_overrides
  }
  return options.take();
}

}  // namespace lockstep::pjrt
