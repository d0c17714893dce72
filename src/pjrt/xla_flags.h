#pragma once
// XLA_FLAGS, read before a runtime reads it: a runtime ends the process over a word it does not
// know.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::pjrt {

// The words of XLA_FLAGS, or of the file it names, with the variable's or file's name.
struct XlaFlags {
  std::string source;
  std::vector<std::string> words;
};

// Nothing where XLA_FLAGS is unset or blank. ValueError where it holds neither flags nor the name
// of a readable file.
[[nodiscard]] std::optional<XlaFlags> read_xla_flags();

// ValueError quoting the first word of XLA_FLAGS that is no flag of the plugin at `path`.
void check_xla_flags(const std::string& path);

// N of --xla_force_host_platform_device_count=N, the last one given; ValueError unless positive.
[[nodiscard]] std::optional<std::int64_t> xla_host_device_count();

// `text` as a positive count; ValueError naming `name` otherwise.
[[nodiscard]] std::int64_t parse_device_count(const std::string& name, const std::string& text);

}  // namespace lockstep::pjrt
