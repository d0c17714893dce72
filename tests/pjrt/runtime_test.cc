// The runtime is once per process: each test looks at one of its own (runtime_probe.cc).
#include "lockstep/pjrt/runtime.h"

#include <filesystem>
#include <fstream>

#include "pjrt_test_support.h"
#include "probe_process.h"
#include "support/temporary_directory.h"

namespace lockstep::pjrt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder of plugins that goes away with the test.
class TemporaryFolder {
 public:
  [[nodiscard]] const fs::path& path() const { return path_; }
  // A copy of the file at `source`.
  [[nodiscard]] std::string copy(const std::string& source, const fs::path& name) const {
    fs::create_directories((path_ / name).parent_path());
    fs::copy_file(source, path_ / name);
    return path_ / name;
  }
  // A link, for files too large to copy.
  [[nodiscard]] std::string link(const std::string& source, const fs::path& name) const {
    fs::create_directories((path_ / name).parent_path());
    fs::create_symlink(fs::canonical(source), path_ / name);
    return path_ / name;
  }

 private:
  lockstep::testing::TemporaryDirectory folder_;
  fs::path path_ = fs::canonical(folder_.path());
};

TEST(Runtime, TheSetUpsCpuPluginServesByDefault) {
  const ProbeResult result = run_probe({"auto"}, {});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("started before: 0\n"));
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu\n"));
  EXPECT_THAT(result.output, HasSubstr("default: cpu:0\n"));
  EXPECT_THAT(result.output, HasSubstr("started after: 1\n"));
  EXPECT_THAT(result.output, HasSubstr("process: 0 of 1\n"));
  EXPECT_THAT(result.output, HasSubstr("cpu/pjrt_plugin.so (the set-up's folder) tried\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("cpu-0.81")));
  EXPECT_EQ(result.errors, "");
}

TEST(Runtime, UnknownAcceleratorsListTheKnown) {
  EXPECT_THAT(
      run_probe({"xpu"}, {}).output,
      HasSubstr("ValueError [devices] accelerator 'xpu' is unknown; expected auto, cpu, gpu "
                "or tpu"));
}

TEST(CpuDeviceCount, ComesFromTheVariable) {
  EXPECT_THAT(run_probe({"cpu"}, {{"LOCKSTEP_CPU_DEVICES", "3"}}).output,
              HasSubstr("devices: cpu:0/cpu cpu:1/cpu cpu:2/cpu\n"));
}

TEST(CpuDeviceCount, C011_ComesFromXlaFlags) {
  EXPECT_THAT(
      run_probe({"cpu"}, {{"XLA_FLAGS", "--xla_force_host_platform_device_count=4"}}).output,
      HasSubstr("devices: cpu:0/cpu cpu:1/cpu cpu:2/cpu cpu:3/cpu\n"));
}

TEST(CpuDeviceCount, OwnVariableGoesBeforeXlaFlagsAndTheFunctionBeforeBoth) {
  const Environment both{{"XLA_FLAGS", "--xla_force_host_platform_device_count=4"},
                         {"LOCKSTEP_CPU_DEVICES", "3"}};
  EXPECT_THAT(run_probe({"cpu"}, both).output,
              HasSubstr("devices: cpu:0/cpu cpu:1/cpu cpu:2/cpu\n"));
  EXPECT_THAT(run_probe({"cpu", "set_cpu_device_count=2"}, both).output,
              HasSubstr("devices: cpu:0/cpu cpu:1/cpu\n"));
}

TEST(CpuDeviceCount, BadValuesAreQuoted) {
  for (const std::string bad : {"four", "0", "-1", "2.5", "3 "}) {
    EXPECT_THAT(run_probe({"cpu"}, {{"LOCKSTEP_CPU_DEVICES", bad}}).output,
                HasSubstr("ValueError [devices] LOCKSTEP_CPU_DEVICES is '" + bad + "'"));
  }
  EXPECT_THAT(
      run_probe({"cpu"}, {{"XLA_FLAGS", "--xla_force_host_platform_device_count=many"}}).output,
      HasSubstr(
          "ValueError [devices] --xla_force_host_platform_device_count in XLA_FLAGS is 'many'"));
  EXPECT_THAT(run_probe({"cpu", "set_cpu_device_count=0"}, {}).output,
              HasSubstr("ValueError [set_cpu_device_count] 0 CPU devices"));
}

TEST(CpuDeviceCount, C011_CannotChangeAfterTheStart) {
  const ProbeResult result = run_probe({"cpu", "set_after=4"}, {});
  EXPECT_THAT(result.output, HasSubstr("set: RuntimeError [set_cpu_device_count]"));
  EXPECT_THAT(result.output, HasSubstr("already started with 1 CPU devices"));
}

TEST(XlaFlags, C011_ATypographicDashIsQuoted) {
  const ProbeResult result =
      run_probe({"cpu"}, {{"XLA_FLAGS", "\u2013xla_force_host_platform_device_count=4"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output,
              HasSubstr("ValueError [XLA_FLAGS] '\u2013xla_force_host_platform_device_count=4'"));
}

TEST(XlaFlags, C011_ATypographicDashInALaterWordIsQuoted) {
  const ProbeResult result = run_probe(
      {"cpu"}, {{"XLA_FLAGS", "--xla_cpu_enable_fast_math=false \u2014xla_dump_to=/tmp/x"}});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("ValueError [XLA_FLAGS] '\u2014xla_dump_to=/tmp/x'"));
}

TEST(XlaFlags, C011_AnUnknownFlagIsQuotedAndTheErrorStays) {
  const ProbeResult result = run_probe({"cpu", "retry"}, {{"XLA_FLAGS", "--xla_no_such_flag=1"}});
  EXPECT_EQ(result.exit_code, 0);
  const std::string expected = "ValueError [XLA_FLAGS] '--xla_no_such_flag=1' in XLA_FLAGS";
  const std::size_t first = result.output.find(expected);
  ASSERT_NE(first, std::string::npos) << result.output;
  EXPECT_NE(result.output.find(expected, first + 1), std::string::npos) << result.output;
  EXPECT_THAT(result.output, HasSubstr("started after: 0\n"));
}

TEST(XlaFlags, OneDashIsNoFlag) {
  EXPECT_THAT(run_probe({"cpu"}, {{"XLA_FLAGS", "-xla_cpu_enable_fast_math=true"}}).output,
              HasSubstr("ValueError [XLA_FLAGS] '-xla_cpu_enable_fast_math=true'"));
}

TEST(XlaFlags, MayComeFromAFile) {
  const TemporaryFolder folder;
  const std::string good = folder.path() / "good";
  std::ofstream(good) << "--xla_force_host_platform_device_count=2\n";
  EXPECT_THAT(run_probe({"cpu"}, {{"XLA_FLAGS", good}}).output,
              HasSubstr("devices: cpu:0/cpu cpu:1/cpu\n"));
  const std::string bad = folder.path() / "bad";
  std::ofstream(bad) << "--xla_no_such_flag=2\n";
  EXPECT_THAT(run_probe({"cpu"}, {{"XLA_FLAGS", bad}}).output,
              HasSubstr("'--xla_no_such_flag=2' in " + bad));
}

TEST(Accelerator, WithoutAPluginNamesTheCommandThatInstallsOne) {
  const std::string output = run_probe({"gpu"}, {}).output;
  EXPECT_THAT(output, HasSubstr("RuntimeError [devices] the `gpu` backend cannot be loaded"));
  EXPECT_THAT(output, HasSubstr("`pip install jax-cuda13-pjrt`"));
  EXPECT_THAT(run_probe({"tpu"}, {}).output, HasSubstr("`pip install libtpu`"));
}

TEST(Accelerator, C009_GpuNeverFallsBack) {
  const std::string stub = stub_path("stub_gpu_missing_dependency");
  const ProbeResult result = run_probe({"gpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub}});
  EXPECT_THAT(result.output, HasSubstr("RuntimeError [devices] the `gpu` backend"));
  EXPECT_THAT(result.output, HasSubstr("'" + stub + "' (LOCKSTEP_PJRT_PLUGIN_PATH)"));
  EXPECT_THAT(result.output, HasSubstr("libstub_dependency.so"));
  EXPECT_THAT(result.output, Not(HasSubstr("devices: cpu")));
  EXPECT_THAT(result.output, HasSubstr("started after: 0\n"));
}

TEST(Accelerator, C009_AutoFallsBackWithAVisibleWarning) {
  const std::string stub = stub_path("stub_gpu_missing_dependency");
  const ProbeResult result = run_probe({"auto"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu\n"));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("warning: the plugin '" + stub + "'"),
                    HasSubstr("libstub_dependency.so"), HasSubstr("on `cpu` instead")));
}

TEST(Accelerator, C009_APluginThatEndsItsProcessDoesNotEndThisOne) {
  for (const auto& [name, words] : {std::pair{"stub_gpu_aborts", "no such device, giving up"},
                                    std::pair{"stub_gpu_exits", "bad flag, leaving"}}) {
    const std::string plugins = "cuda:" + stub_path(name) + ",cuda13:" + stub_path("stub_gpu_good");
    const ProbeResult result = run_probe({"gpu"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", plugins}});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.output, HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
    EXPECT_THAT(result.errors,
                AllOf(HasSubstr(stub_path(name)), HasSubstr(words), HasSubstr("stub_gpu_good.so")));
  }
}

TEST(Accelerator, C009_APluginWithoutDevicesGivesWayToTheNext) {
  const std::string plugins =
      "cuda:" + stub_path("stub_gpu_no_devices") + ",rocm:" + stub_path("stub_gpu_good");
  const ProbeResult result = run_probe({"gpu"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", plugins}});
  EXPECT_THAT(result.output, HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("stub_gpu_no_devices.so"), HasSubstr("it shows no devices")));
}

TEST(Accelerator, ABackendWithoutDevicesSaysSo) {
  const ProbeResult result =
      run_probe({"gpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub_path("stub_gpu_no_devices")}});
  EXPECT_THAT(result.output, HasSubstr("RuntimeError [devices] no `gpu` devices are visible"));
  EXPECT_THAT(result.output, HasSubstr("stub_gpu_no_devices.so"));
}

TEST(Accelerator, EveryPluginTriedIsListedWithItsError) {
  const std::string plugins = "cuda:" + stub_path("stub_gpu_wrong_major") +
                              ",rocm:" + stub_path("stub_gpu_create_fails") + ",malformed";
  const std::string output =
      run_probe({"gpu", "retry"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", plugins}}).output;
  EXPECT_THAT(output, HasSubstr("PJRT API 7."));
  EXPECT_THAT(output, HasSubstr("the stub finds no driver"));
  EXPECT_THAT(output, HasSubstr("'malformed' is not of the form name:path"));
  EXPECT_NE(output.find("RuntimeError [devices]"), output.rfind("RuntimeError [devices]"));
}

TEST(Accelerator, CpuLeavesOtherPluginsAlone) {
  const ProbeResult result =
      run_probe({"cpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub_path("stub_gpu_aborts")}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu\n"));
  EXPECT_THAT(result.output,
              HasSubstr("stub_gpu_aborts.so (LOCKSTEP_PJRT_PLUGIN_PATH) not tried\n"));
  EXPECT_EQ(result.errors, "");
}

TEST(Accelerator, AutoPrefersTpuToGpuToCpu) {
  const std::string gpu = "cuda:" + stub_path("stub_gpu_good");
  EXPECT_THAT(run_probe({"auto"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", gpu}}).output,
              HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
  EXPECT_THAT(run_probe({"auto"}, {{"PJRT_NAMES_AND_LIBRARY_PATHS", gpu},
                                   {"TPU_LIBRARY_PATH", stub_path("stub_tpu")}})
                  .output,
              HasSubstr("devices: tpu:0/tpu tpu:1/tpu\n"));
}

TEST(PluginPath, MayBeAFolder) {
  const ProbeResult result =
      run_probe({"cpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", LOCKSTEP_TEST_PJRT_DIR}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu\n"));
  EXPECT_THAT(result.output, HasSubstr("cpu/pjrt_plugin.so (LOCKSTEP_PJRT_PLUGIN_PATH) tried\n"));
  EXPECT_THAT(result.output,
              HasSubstr("cpu-0.81/pjrt_plugin.so (LOCKSTEP_PJRT_PLUGIN_PATH) not tried\n"));
}

TEST(PluginPath, MayNameTheOlderPlugin) {
  const ProbeResult result = run_probe(
      {"cpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", older_plugin_path()}, {"LOCKSTEP_CPU_DEVICES", "2"}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu cpu:1/cpu\n"));
  EXPECT_THAT(result.output,
              HasSubstr("cpu-0.81/pjrt_plugin.so (LOCKSTEP_PJRT_PLUGIN_PATH) tried\n"));
}

TEST(PluginPath, AFileWhoseNameDoesNotTellIsAskedForItsPlatform) {
  const TemporaryFolder folder;
  const std::string plugin = folder.link(main_plugin_path(), "plugin.so");
  const ProbeResult result =
      run_probe({"cpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", plugin}, {"LOCKSTEP_CPU_DEVICES", "3"}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu cpu:1/cpu cpu:2/cpu\n"));
  EXPECT_THAT(run_probe({"gpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub_path("stub_unnamed")}}).output,
              HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
}

TEST(PluginPath, WhatIsNotThereIsNamed) {
  const ProbeResult result =
      run_probe({"auto"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", "/no/such/plugin.so"}});
  EXPECT_THAT(result.output, HasSubstr("devices: cpu:0/cpu\n"));
  EXPECT_THAT(result.errors, AllOf(HasSubstr("warning: the plugin '/no/such/plugin.so'"),
                                   HasSubstr("No such file or directory")));
  const TemporaryFolder empty;
  EXPECT_THAT(run_probe({"gpu"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", empty.path()}}).output,
              HasSubstr("neither this folder nor one in it holds a library"));
}

TEST(PythonWheels, AreFoundInTheActiveEnvironment) {
  const TemporaryFolder environment;
  const std::string packages = "lib/python3.11/site-packages/";
  const std::string plugin = environment.copy(
      stub_path("stub_gpu_good"), packages + "jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  (void)environment.copy(stub_path("stub_gpu_aborts"),
                         packages + "jax_plugins/xla_cuda13/libhelper.so");
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const ProbeResult result = run_probe({"gpu"}, {{variable, environment.path()}});
    EXPECT_THAT(result.output, HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
    EXPECT_THAT(result.output, HasSubstr(plugin + " (Python wheel jax_plugins/xla_cuda13 in " +
                                         environment.path().string()));
    EXPECT_THAT(result.output, Not(HasSubstr("libhelper.so")));
  }
  const std::string path = environment.path() / packages;
  EXPECT_THAT(run_probe({"gpu"}, {{"PYTHONPATH", path}}).output,
              HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
}

TEST(PythonWheels, LibtpuServesTpuWhenAsked) {
  const TemporaryFolder environment;
  (void)environment.copy(stub_path("stub_tpu"), "lib/python3.12/site-packages/libtpu/libtpu.so");
  const Environment active{{"VIRTUAL_ENV", environment.path()}};
  EXPECT_THAT(run_probe({"tpu"}, active).output, HasSubstr("devices: tpu:0/tpu tpu:1/tpu\n"));
}

TEST(SetUpFolder, IsFoundBesideTheProgram) {
  for (const char* place : {"bin/pjrt/gpu/plugin.so", "lib/lockstep/pjrt/cuda/plugin.so",
                            "lib/x86_64-linux-gnu/lockstep/pjrt/rocm/plugin.so"}) {
    const TemporaryFolder prefix;
    const std::string plugin = prefix.copy(stub_path("stub_gpu_good"), place);
    const std::string program = prefix.copy(LOCKSTEP_TEST_RUNTIME_PROBE, "bin/probe");
    const ProbeResult result = run_probe({"gpu"}, {}, program);
    EXPECT_THAT(result.output, HasSubstr("devices: gpu:0/cuda gpu:1/cuda\n"));
    EXPECT_THAT(result.output, HasSubstr(plugin + " (the set-up's folder) tried\n"));
  }
}

}  // namespace
}  // namespace lockstep::pjrt
