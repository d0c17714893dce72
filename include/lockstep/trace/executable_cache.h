#pragma once
/// The compile cache on disk: a second start of the same program loads instead of compiling.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/pjrt/client.h"

namespace lockstep {

/// What happened so far.
struct CompileCacheStats {
  std::int64_t hits = 0;
  std::int64_t misses = 0;
  std::int64_t errors = 0;  ///< unreadable or foreign entries, ignored (and rewritten)
  double compile_seconds = 0.0;
  double load_seconds = 0.0;
};

/// Where executables are kept; none switches the cache off. Default off in the library; the tool
/// uses $XDG_CACHE_HOME/lockstep (or ~/.cache/lockstep).
void set_compile_cache_dir(std::optional<std::string> directory);
[[nodiscard]] std::optional<std::string> compile_cache_dir();
[[nodiscard]] CompileCacheStats compile_cache_stats();

/// Compiles, or loads from the cache. The key is the whole program text, the options, the plugin's
/// path-independent version, its platform version, and the CPU's features; an entry holds its key
/// and is used only if it is equal. Entries are written to a temporary name and renamed.
[[nodiscard]] std::shared_ptr<pjrt::LoadedExecutable> compile_cached(
    pjrt::Client& client, const std::string& module_text, const pjrt::CompileOptions& options);

}  // namespace lockstep
