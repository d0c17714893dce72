#pragma once
/// Topologies: which devices a system has, whether or not they are here.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/pjrt/plugin.h"

struct PJRT_TopologyDescription;

namespace lockstep::pjrt {

class Client;

/// What a topology tells of one of its devices.
struct TopologyDevice {
  std::int64_t id = 0;
  std::int64_t process_index = 0;
  std::string kind;
  std::string description;      ///< the plugin's words, e.g. "CpuDevice(id=0)"
  NamedValues attributes = {};  ///< e.g. a TPU's coordinates; empty where the plugin gives none
};

/// The devices of a system, attached to this process (of) or only named (create), for instance a
/// TPU slice to compile for.
class Topology {
 public:
  /// The topology `client` runs on, which must outlive it. RuntimeError where the plugin gives
  /// none.
  [[nodiscard]] static Topology of(const Client& client);
  /// The topology the plugin knows under `name`, e.g. "v5p:2x2x1"; RuntimeError with its own text
  /// where it knows none.
  [[nodiscard]] static Topology create(std::shared_ptr<Plugin> plugin, const std::string& name,
                                       const NamedValues& options = {});
  Topology(Topology&& other) noexcept;
  Topology& operator=(Topology&& other) noexcept;
  ~Topology();

  [[nodiscard]] PJRT_TopologyDescription* handle() const { return topology_; }
  [[nodiscard]] std::string platform_name() const;
  /// Empty where the plugin does not tell.
  [[nodiscard]] std::string platform_version() const;
  /// By process index, then id.
  [[nodiscard]] const std::vector<TopologyDevice>& devices() const { return devices_; }
  /// Empty where the plugin gives none.
  [[nodiscard]] NamedValues attributes() const;

 private:
  Topology(std::shared_ptr<Plugin> plugin, const PJRT_Api* api, PJRT_TopologyDescription* topology);
  void describe_devices();

  std::shared_ptr<Plugin> plugin_;  // null where the client owns the topology
  const PJRT_Api* api_;
  PJRT_TopologyDescription* topology_;
  std::vector<TopologyDevice> devices_;
};

}  // namespace lockstep::pjrt
