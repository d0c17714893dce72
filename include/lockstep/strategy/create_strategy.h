#pragma once
/// create_strategy: from what a user asks for to a strategy.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/strategy/strategy.h"

namespace lockstep {

/// What was asked for: a count, a list of indices, or a word ("auto"). A boolean or a fraction is
/// kept as its text, and refused by create_strategy.
class DeviceRequest {
 public:
  DeviceRequest(std::integral auto count)  // NOLINT
    requires(!std::same_as<decltype(count), bool>)
      : value_(static_cast<std::int64_t>(count)) {}
  DeviceRequest(bool flag) : value_(std::string(flag ? "true" : "false")) {}        // NOLINT
  DeviceRequest(double fraction);                                                   // NOLINT
  DeviceRequest(std::vector<std::int64_t> indices) : value_(std::move(indices)) {}  // NOLINT
  DeviceRequest(std::initializer_list<std::int64_t> indices)
      : value_(std::vector<std::int64_t>(indices)) {}
  DeviceRequest(std::string word) : value_(std::move(word)) {}    // NOLINT
  DeviceRequest(const char* word) : value_(std::string(word)) {}  // NOLINT

  /// As the command line spells it: "3" a count, "3," or "[3]" or "0,2" indices, "auto".
  /// ValueError quoting the text where it is none of these.
  [[nodiscard]] static DeviceRequest parse(const std::string& text);

  [[nodiscard]] const std::variant<std::int64_t, std::vector<std::int64_t>, std::string>& value()
      const {
    return value_;
  }

 private:
  std::variant<std::int64_t, std::vector<std::int64_t>, std::string> value_;
};

/// A SingleDeviceStrategy for one selected device, a DataParallelStrategy for more.
/// `accelerator`: auto, cpu, gpu or tpu. `devices`: a count (the first n), indices, or "auto"
/// (all). ValueError and RuntimeError as listed in docs/strategies.md.
[[nodiscard]] std::shared_ptr<Strategy> create_strategy(const std::string& accelerator = "auto",
                                                        const DeviceRequest& devices = 1);

}  // namespace lockstep
