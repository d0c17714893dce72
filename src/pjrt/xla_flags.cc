#include "pjrt/xla_flags.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "lockstep/base/environment.h"
#include "lockstep/base/error.h"

namespace lockstep::pjrt {
namespace {

constexpr const char* where = "XLA_FLAGS";
constexpr std::string_view whitespace = " \t\r\n";
constexpr std::string_view device_count_flag = "--xla_force_host_platform_device_count=";

// Splits at whitespace; quotes hold a value together and fall away.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  const auto finish = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if ((c == '"' || c == '\'') && word.ends_with('=')) {
      quote = c;
    } else if (whitespace.find(c) != std::string_view::npos) {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return words;
}

// The bytes of a file, mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status {};
    if (::fstat(file, &status) == 0 && status.st_size > 0) {
      size_ = static_cast<std::size_t>(status.st_size);
      data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    ::close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (is_mapped()) ::munmap(data_, size_);
  }
  [[nodiscard]] bool is_mapped() const { return data_ != MAP_FAILED; }
  [[nodiscard]] bool contains(std::string_view bytes) const {
    return ::memmem(data_, size_, bytes.data(), bytes.size()) != nullptr;
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

}  // namespace

std::optional<XlaFlags> read_xla_flags() {
  const std::string value = environment_variable("XLA_FLAGS").value_or("");
  const std::size_t start = value.find_first_not_of(whitespace);
  if (start == std::string::npos) return std::nullopt;
  if (value[start] == '-') return XlaFlags{"XLA_FLAGS", split_words(value)};
  // XLA takes what does not start with a dash as the name of a file that holds the flags.
  std::ifstream file(value);
  if (!file) {
    throw_value_error(where,
                      fmt::format("'{}' is no flag, for it does not start with '--', and no "
                                  "file of that name can be read; write flags with two plain "
                                  "dashes, such as --xla_cpu_enable_fast_math=true",
                                  value));
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return XlaFlags{value, split_words(text)};
}

void check_xla_flags(const std::string& path) {
  const std::optional<XlaFlags> flags = read_xla_flags();
  if (!flags || flags->words.empty()) return;
  const MappedFile plugin(path);
  for (const std::string& word : flags->words) {
    if (!word.starts_with("--") || word.size() == 2) {
      throw_value_error(where,
                        fmt::format("'{}' in {} is no flag: flags start with two plain dashes, "
                                    "such as --xla_cpu_enable_fast_math=true",
                                    word, flags->source));
    }
    // A runtime knows its flags by name, so each name is a C string in its file.
    std::string name = word.substr(2, word.find('=') - 2);
    name += '\0';
    if (plugin.is_mapped() && !plugin.contains(name)) {
      throw_value_error(where,
                        fmt::format("'{}' in {} is no flag that the plugin '{}' knows; correct "
                                    "or remove it",
                                    word, flags->source, path));
    }
  }
}

std::optional<std::int64_t> xla_host_device_count() {
  const std::optional<XlaFlags> flags = read_xla_flags();
  if (!flags) return std::nullopt;
  std::optional<std::int64_t> count;
  for (const std::string& word : flags->words) {
    if (!word.starts_with(device_count_flag)) continue;
    count = parse_device_count(
        fmt::format("{} in {}", device_count_flag.substr(0, device_count_flag.size() - 1),
                    flags->source),
        word.substr(device_count_flag.size()));
  }
  return count;
}

std::int64_t parse_device_count(const std::string& name, const std::string& text) {
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count < 1) {
    throw_value_error(
        "devices",
        fmt::format("{} is '{}'; expected a positive number of CPU devices", name, text));
  }
  return count;
}

}  // namespace lockstep::pjrt
