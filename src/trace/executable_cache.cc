#include "lockstep/trace/executable_cache.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <type_traits>
#include <utility>

#include "lockstep/base/error.h"
#include "lockstep/base/log.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Digest = std::array<unsigned char, 32>;

// An entry: magic, length and bytes of the key, length and bytes of the executable, SHA-256 of it
// all.
constexpr std::string_view magic = "lockstep executable 1\n";

struct CacheState {
  std::mutex mutex;
  std::optional<std::string> directory;
  CompileCacheStats stats;
};

CacheState& state() {
  static CacheState instance;
  return instance;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Digest sha256(std::string_view bytes) {
  Digest digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw_runtime_error("compile cache", "SHA-256 is not available from the crypto library");
  }
  return digest;
}

std::string hex(const Digest& digest) {
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

// What decides which machine code XLA emits for this CPU: its model and features.
std::string read_cpu_features() {
  std::ifstream file("/proc/cpuinfo");
  std::string features;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const std::string_view field : {"model name", "flags", "Features", "CPU part"}) {
      if (line.starts_with(field)) features += line + "\n";
    }
  }
  return features;
}

const std::string& cpu_features() {
  static const std::string features = read_cpu_features();
  return features;
}

std::string attribute_text(const pjrt::NamedValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::vector<std::int64_t>>) {
          std::string text;
          for (const std::int64_t item : held) text += std::to_string(item) + ".";
          return text;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

std::string cache_key(const pjrt::Client& client, const std::string& module_text,
                      const pjrt::CompileOptions& options) {
  const pjrt::Plugin& plugin = client.plugin();
  std::error_code ignored;
  std::string key = fmt::format("lockstep {}\nplugin API {}.{}, {} bytes\n", LOCKSTEP_VERSION,
                                plugin.major_version(), plugin.minor_version(),
                                fs::file_size(plugin.path(), ignored));
  for (const auto& [name, value] : plugin.attributes()) {
    key += name + " = " + attribute_text(value) + "\n";
  }
  key += "platform " + client.platform_name() + "\n" + client.platform_version() + "\n";
  key += cpu_features();
  const std::string serialized_options = options.serialize();
  key += fmt::format("options, {} bytes\n", serialized_options.size()) + serialized_options;
  return key + "\n" + module_text;
}

void append_block(std::string& out, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>((size >> shift) & 0xFFU);
  out += bytes;
}

std::optional<std::string_view> take_block(std::string_view& in) {
  if (in.size() < 8) return std::nullopt;
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(in[i])} << (8 * i);
  }
  in.remove_prefix(8);
  if (in.size() < size) return std::nullopt;
  const std::string_view block = in.substr(0, size);
  in.remove_prefix(size);
  return block;
}

// The executable in an entry, if the entry is whole and made for this very key.
std::optional<std::string_view> executable_in(std::string_view entry, const std::string& key) {
  constexpr std::size_t digest_size = std::tuple_size_v<Digest>;
  if (entry.size() < magic.size() + digest_size || !entry.starts_with(magic)) return std::nullopt;
  const std::string_view content = entry.substr(0, entry.size() - digest_size);
  const Digest digest = sha256(content);
  if (std::memcmp(digest.data(), entry.data() + content.size(), digest_size) != 0) {
    return std::nullopt;
  }
  std::string_view rest = content.substr(magic.size());
  const auto stored_key = take_block(rest);
  if (!stored_key || *stored_key != key) return std::nullopt;
  return take_block(rest);
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

// Writes under a name of its own, then renames: readers see a whole entry or none.
void write_entry(const fs::path& path, const std::string& key, std::string_view executable) {
  static std::atomic<std::uint64_t> counter{0};
  std::string entry(magic);
  append_block(entry, key);
  append_block(entry, executable);
  const Digest digest = sha256(entry);
  entry.append(digest.begin(), digest.end());

  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path temporary =
      path.parent_path() / fmt::format(".{}.{}.{}", path.stem().string(), getpid(), counter++);
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(entry.data(), static_cast<std::streamsize>(entry.size()));
    file.close();
    if (!file) error = std::error_code(errno, std::generic_category());
  }
  if (!error) fs::rename(temporary, path, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  log_warning(
      fmt::format("[compile cache] cannot write {}: {}; the program runs, but its next start "
                  "compiles again. Choose a writable directory or switch the cache off.",
                  path.string(), error.message()));
}

std::shared_ptr<pjrt::LoadedExecutable> compile_timed(pjrt::Client& client,
                                                      const std::string& module_text,
                                                      const pjrt::CompileOptions& options) {
  const auto start = Clock::now();
  auto executable = client.compile(module_text, options);
  const std::scoped_lock lock(state().mutex);
  state().stats.compile_seconds += seconds_since(start);
  return executable;
}

// Loads the entry, or nothing where it is missing, damaged, foreign or refused by the plugin.
std::shared_ptr<pjrt::LoadedExecutable> load_entry(pjrt::Client& client, const fs::path& path,
                                                   const std::string& key,
                                                   const pjrt::CompileOptions& options) {
  const auto start = Clock::now();
  const auto entry = read_file(path);
  if (!entry) {
    const std::scoped_lock lock(state().mutex);
    ++state().stats.misses;
    return nullptr;
  }
  std::shared_ptr<pjrt::LoadedExecutable> executable;
  try {
    if (const auto bytes = executable_in(*entry, key)) {
      executable = client.deserialize(*bytes, options);
    } else {
      log_warning("[compile cache] " + path.string() +
                  " is damaged or belongs to another program; it is ignored and written anew");
    }
  } catch (const RuntimeError& error) {
    log_warning("[compile cache] " + path.string() +
                " cannot be loaded and is written anew: " + error.what());
  }
  const std::scoped_lock lock(state().mutex);
  if (executable == nullptr) {
    ++state().stats.errors;
    ++state().stats.misses;
  } else {
    ++state().stats.hits;
    state().stats.load_seconds += seconds_since(start);
  }
  return executable;
}

}  // namespace

void set_compile_cache_dir(std::optional<std::string> directory) {
  if (directory && directory->empty()) {
    throw_value_error("compile cache",
                      "the directory's name is empty; give a path, or none to switch "
                      "the cache off");
  }
  const std::scoped_lock lock(state().mutex);
  state().directory = std::move(directory);
}

std::optional<std::string> compile_cache_dir() {
  const std::scoped_lock lock(state().mutex);
  return state().directory;
}

CompileCacheStats compile_cache_stats() {
  const std::scoped_lock lock(state().mutex);
  return state().stats;
}

std::shared_ptr<pjrt::LoadedExecutable> compile_cached(pjrt::Client& client,
                                                       const std::string& module_text,
                                                       const pjrt::CompileOptions& options) {
  const auto directory = compile_cache_dir();
  if (!directory) return compile_timed(client, module_text, options);

  const std::string key = cache_key(client, module_text, options);
  const fs::path path = fs::path(*directory) / (hex(sha256(key)) + ".executable");
  if (auto executable = load_entry(client, path, key, options)) return executable;
  auto executable = compile_timed(client, module_text, options);
  try {
    write_entry(path, key, executable->serialize());
  } catch (const RuntimeError& error) {
    log_debug(std::string("[compile cache] this plugin cannot serialise the program: ") +
              error.what());
  }
  return executable;
}

}  // namespace lockstep
