#pragma once
/// Plugins: shared libraries with the symbol GetPjrtApi.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct PJRT_Api;

namespace lockstep::pjrt {

/// A plugin's create option or attribute.
using NamedValue = std::variant<std::string, std::int64_t, std::vector<std::int64_t>, float, bool>;
using NamedValues = std::map<std::string, NamedValue>;

/// A loaded and initialised plugin. Never unloaded: runtimes keep threads that outlive their
/// clients.
class Plugin {
 public:
  /// Loads the library, checks its version, and initialises it once, whatever the number of calls
  /// for one path. RuntimeError with path and the loader's or plugin's own text where it is
  /// missing, no library, lacks GetPjrtApi, has another major version, or fails to initialise.
  /// ValueError quoting a word of XLA_FLAGS that the plugin does not know, for it would end the
  /// process.
  [[nodiscard]] static std::shared_ptr<Plugin> load(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const PJRT_Api* api() const { return api_; }
  [[nodiscard]] int major_version() const;
  [[nodiscard]] int minor_version() const;
  /// The plugin's attributes; empty where it has none or does not implement them.
  [[nodiscard]] const NamedValues& attributes() const { return attributes_; }
  /// The extension of this PJRT_Extension_Type, or null.
  [[nodiscard]] const void* extension(int type) const;

 private:
  Plugin(std::string path, const PJRT_Api* api);
  std::string path_;
  const PJRT_Api* api_;
  NamedValues attributes_;
};

}  // namespace lockstep::pjrt
