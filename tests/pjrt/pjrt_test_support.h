#pragma once
// What the tests of pjrt/ share: both CPU plugins, small programs, host data in and out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/pjrt/client.h"
#include "pjrt/api_call.h"
#include "support/error_text.h"

namespace lockstep::pjrt {

using lockstep::testing::error_text;

inline std::string main_plugin_path() {
  return LOCKSTEP_TEST_PJRT_DIR "/cpu/pjrt_plugin.so";
}
inline std::string older_plugin_path() {
  return LOCKSTEP_TEST_PJRT_DIR "/cpu-0.81/pjrt_plugin.so";
}
inline std::string stub_path(const std::string& name) {
  return std::string(LOCKSTEP_TEST_STUB_DIR "/") + name + ".so";
}

// One client of four devices for each plugin; every test must leave no buffer behind.
class BothPlugins : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static bool is_older() { return std::string(GetParam()) == "older"; }
  [[nodiscard]] static std::string path() {
    return is_older() ? older_plugin_path() : main_plugin_path();
  }
  [[nodiscard]] static Client& client() {
    static std::map<std::string, std::unique_ptr<Client>> clients;
    std::unique_ptr<Client>& client = clients[path()];
    if (client == nullptr) {
      client = Client::create(Plugin::load(path()),
                              {.create_options = {{"cpu_device_count", std::int64_t{4}}}});
    }
    return *client;
  }
  [[nodiscard]] static Device device(std::size_t index) { return client().devices().at(index); }

  void TearDown() override { EXPECT_EQ(num_live_buffers(), 0); }
};

inline std::string plugin_name(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

inline constexpr const char* both_plugins[] = {"main", "older"};

template <class T>
std::shared_ptr<Buffer> put(Client& client, int element_type, const std::vector<T>& values,
                            const std::vector<std::int64_t>& dimensions, const Device& device) {
  return client.buffer_from_host(
      {.data = values.data(), .element_type = element_type, .dimensions = dimensions}, device);
}

inline std::shared_ptr<Buffer> put_floats(const std::vector<float>& values, const Device& device) {
  return put(device.client(), PJRT_Buffer_Type_F32, values,
             {static_cast<std::int64_t>(values.size())}, device);
}

template <class T>
std::vector<T> get(const Buffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  buffer.copy_to_host(reinterpret_cast<std::byte*>(values.data()), count * sizeof(T)).await();
  return values;
}

// Runs on one device and takes the outputs over.
inline std::vector<std::shared_ptr<Buffer>> run(
    const LoadedExecutable& executable, const std::vector<std::shared_ptr<Buffer>>& arguments,
    std::vector<std::int64_t> non_donatable = {}) {
  std::vector<PJRT_Buffer*> handles;
  for (const auto& argument : arguments) handles.push_back(argument->handle());
  std::vector<PJRT_Buffer*> outputs(executable.num_outputs() * executable.devices().size());
  executable.execute({.arguments = handles, .outputs = outputs, .non_donatable = non_donatable});
  std::vector<std::shared_ptr<Buffer>> results;
  for (PJRT_Buffer* output : outputs) {
    results.push_back(std::make_shared<Buffer>(executable.client(), output));
  }
  return results;
}

inline std::uintptr_t memory_address(const Buffer& buffer) {
  auto call = LOCKSTEP_PJRT_CALL(buffer.client().api(), PJRT_Buffer_UnsafePointer);
  call->buffer = buffer.handle();
  call.run();
  return call->buffer_pointer;
}

// (x, y) -> x + y over SIZE floats, x's memory reused for the result where DONATES.
std::string add_program(std::int64_t size, bool donates);

// Over `devices` devices: (w[4] replicated, x[2 * devices, 4] sharded) -> w + the sum of x's rows,
// replicated: one all-reduce.
std::string all_reduce_program(std::int64_t devices);

}  // namespace lockstep::pjrt
