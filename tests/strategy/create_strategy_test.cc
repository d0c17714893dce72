#include "lockstep/strategy/create_strategy.h"

#include "pjrt/probe_process.h"
#include "strategy_test_support.h"

namespace lockstep {
namespace {

using pjrt::Environment;
using pjrt::run_probe;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<Strategy> create(const DeviceRequest& devices) {
  (void)testing::cpu_devices();
  return create_strategy("cpu", devices);
}

std::string value_error(const DeviceRequest& devices) {
  return error_text<ValueError>([&] { (void)create(devices); });
}

TEST(CreateStrategy, OneDeviceGivesTheSingleDeviceStrategy) {
  const auto strategy = create(1);
  EXPECT_NE(dynamic_cast<const SingleDeviceStrategy*>(strategy.get()), nullptr);
  EXPECT_THAT(strategy->devices(), ElementsAre(cpu(0)));
  EXPECT_NE(dynamic_cast<const SingleDeviceStrategy*>(create({5}).get()), nullptr);
}

TEST(CreateStrategy, MoreGiveTheDataParallelStrategy) {
  const auto strategy = create(3);
  const auto* const parallel = dynamic_cast<const DataParallelStrategy*>(strategy.get());
  ASSERT_NE(parallel, nullptr);
  EXPECT_EQ(parallel->mesh(), Mesh(cpus({0, 1, 2}), "data"));
}

TEST(CreateStrategy, ACountTakesTheFirst) {
  EXPECT_THAT(create(2)->devices(), ElementsAre(cpu(0), cpu(1)));
}

TEST(CreateStrategy, IndicesTakeThoseInTheirOrder) {
  EXPECT_THAT(create({5, 0, 3})->devices(), ElementsAre(cpu(5), cpu(0), cpu(3)));
  EXPECT_THAT(create({3})->devices(), ElementsAre(cpu(3)));
  EXPECT_THAT(create(std::vector<std::int64_t>{2, 1})->devices(), ElementsAre(cpu(2), cpu(1)));
}

TEST(CreateStrategy, AutoTakesAll) {
  EXPECT_EQ(create("auto")->devices(), testing::cpu_devices());
}

TEST(CreateStrategy, ACountBelowOneOrAboveWhatIsThereSaysBoth) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{9}}) {
    EXPECT_THAT(value_error(count),
                AllOf(HasSubstr("[create_strategy]"),
                      HasSubstr("requested " + std::to_string(count) + " cpu device"),
                      HasSubstr("available 8"), HasSubstr("1 to 8")));
  }
}

TEST(CreateStrategy, AnIndexOutOfRangeIsNamed) {
  for (const auto& [indices, bad] :
       {std::pair{std::vector<std::int64_t>{0, 8}, "8"}, {{-1, 0}, "-1"}, {{100}, "100"}}) {
    EXPECT_THAT(value_error(indices),
                AllOf(HasSubstr("[create_strategy]"),
                      HasSubstr(std::string("device index ") + bad + " is out of range 0..7")));
  }
}

TEST(CreateStrategy, C006_ARepeatedIndexIsNamed) {
  EXPECT_THAT(value_error({0, 0}),
              AllOf(HasSubstr("[create_strategy]"), HasSubstr("device index 0 is repeated")));
  EXPECT_THAT(value_error({1, 0, 1}), HasSubstr("device index 1 is repeated"));
}

TEST(CreateStrategy, AnEmptyListIsRefused) {
  EXPECT_THAT(value_error(std::vector<std::int64_t>{}),
              AllOf(HasSubstr("device indices is empty"), HasSubstr("at least one index")));
}

TEST(CreateStrategy, OtherWordsBooleansAndFractionsAreRefused) {
  const std::vector<std::pair<DeviceRequest, const char*>> refused{
      {"all", "'all'"},   {"", "''"},     {"2", "'2'"},   {true, "'true'"},
      {false, "'false'"}, {1.5, "'1.5'"}, {2.0, "'2.0'"}, {0.25F, "'0.25'"}};
  for (const auto& [request, shown] : refused) {
    EXPECT_THAT(value_error(request),
                AllOf(HasSubstr("[create_strategy]"), HasSubstr(std::string("devices is ") + shown),
                      HasSubstr("a positive count, a list of indices, or 'auto'")));
  }
}

TEST(CreateStrategy, AnUnknownAcceleratorListsTheKnown) {
  for (const char* accelerator : {"cuda", "CPU", ""}) {
    EXPECT_THAT(
        error_text<ValueError>([&] { (void)create_strategy(accelerator, 1); }),
        AllOf(HasSubstr(std::string("'") + accelerator + "'"), HasSubstr("auto, cpu, gpu or tpu")));
  }
}

// C007: what the command line's --devices means.
TEST(DeviceRequest, C007_CountsAndIndicesAreToldApart) {
  const auto devices = [](const char* text) {
    return create(DeviceRequest::parse(text))->devices();
  };
  EXPECT_EQ(devices("3"), cpus({0, 1, 2}));
  EXPECT_EQ(devices("3,"), cpus({3}));
  EXPECT_EQ(devices("[3]"), cpus({3}));
  EXPECT_EQ(devices("0,2"), cpus({0, 2}));
  EXPECT_EQ(devices("[2, 0]"), cpus({2, 0}));
  EXPECT_EQ(devices("auto"), testing::cpu_devices());
  EXPECT_EQ(devices(" 2 "), cpus({0, 1}));
  EXPECT_THAT(value_error(DeviceRequest::parse("9")),
              AllOf(HasSubstr("requested 9"), HasSubstr("available 8")));
  EXPECT_THAT(value_error(DeviceRequest::parse("8,")), HasSubstr("out of range 0..7"));
  EXPECT_THAT(value_error(DeviceRequest::parse("[]")), HasSubstr("is empty"));
}

TEST(DeviceRequest, C007_OtherTextIsQuoted) {
  for (const std::string text :
       {"three", "1.5", "", " ", "1,,2", ",", "[1", "1]", "0x1", "1 2", "-"}) {
    EXPECT_THAT(
        error_text<ValueError>([&] { (void)DeviceRequest::parse(text); }),
        AllOf(HasSubstr("[devices]"), HasSubstr("'" + text + "'"), HasSubstr("a positive count"),
              HasSubstr("a list of indices"), HasSubstr("auto")));
  }
}

// Which backends there are is settled once in a process.
std::string stub(const std::string& name) {
  return LOCKSTEP_TEST_STUB_DIR "/" + name + ".so";
}

TEST(CreateStrategyProcess, DefaultsToOneDeviceOfTheBestBackend) {
  EXPECT_EQ(run_probe({"auto", "1"}, {{"LOCKSTEP_CPU_DEVICES", "4"}}).output,
            "SingleDeviceStrategy(cpu:0) root cpu:0 process 0 zero 1\nbackends started: 1\n");
}

// What can be refused without looking at devices is.
TEST(CreateStrategyProcess, ABadRequestStartsNoBackend) {
  EXPECT_THAT(run_probe({"cpu", "1,1", "xpu", "1"}, {}).output,
              AllOf(HasSubstr("index 1 is repeated"), HasSubstr("'xpu'"),
                    HasSubstr("backends started: 0\n")));
}

TEST(CreateStrategyProcess, AutoIsOneOrAll) {
  EXPECT_THAT(run_probe({"cpu", "auto"}, {}).output, HasSubstr("SingleDeviceStrategy(cpu:0)"));
  EXPECT_THAT(
      run_probe({"cpu", "auto"}, {{"XLA_FLAGS", "--xla_force_host_platform_device_count=3"}})
          .output,
      HasSubstr("DataParallelStrategy(cpu:0, cpu:1, cpu:2; axis 'data')"));
}

TEST(CreateStrategyProcess, AutoPrefersTpuThenGpuThenCpu) {
  const Environment gpu{{"PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" + stub("stub_gpu_good")}};
  EXPECT_THAT(run_probe({"auto", "auto", "cpu", "1"}, gpu).output,
              AllOf(HasSubstr("DataParallelStrategy(gpu:0, gpu:1; axis 'data')"),
                    HasSubstr("SingleDeviceStrategy(cpu:0)")));
  Environment tpu = gpu;
  tpu.emplace_back("TPU_LIBRARY_PATH", stub("stub_tpu"));
  EXPECT_THAT(run_probe({"auto", "1,", "gpu", "[1,0]"}, tpu).output,
              AllOf(HasSubstr("SingleDeviceStrategy(tpu:1)"),
                    HasSubstr("DataParallelStrategy(gpu:1, gpu:0; axis 'data')")));
}

TEST(CreateStrategyProcess, CountsAndIndicesAreOfTheChosenBackend) {
  const Environment gpu{{"PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" + stub("stub_gpu_good")},
                        {"LOCKSTEP_CPU_DEVICES", "4"}};
  EXPECT_THAT(run_probe({"gpu", "3", "gpu", "2,"}, gpu).output,
              AllOf(HasSubstr("requested 3 gpu device(s), available 2"),
                    HasSubstr("device index 2 is out of range 0..1")));
}

TEST(CreateStrategyProcess, ABackendThatIsNotThereNamesTheCommandThatInstallsIt) {
  const std::string output = run_probe({"gpu", "1", "tpu", "1"}, {}).output;
  EXPECT_THAT(output,
              AllOf(HasSubstr("RuntimeError"), HasSubstr("`gpu` backend cannot be loaded"),
                    HasSubstr("pip install jax-cuda13-pjrt"),
                    HasSubstr("`tpu` backend cannot be loaded"), HasSubstr("pip install libtpu")));
}

TEST(CreateStrategyProcess, C009_ABrokenBackendIsAnErrorWithTheLoadersReason) {
  const std::string plugin = stub("stub_gpu_missing_dependency");
  const auto result = run_probe({"gpu", "1"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", plugin}});
  EXPECT_THAT(result.output, AllOf(HasSubstr("RuntimeError"), HasSubstr("`gpu`"), HasSubstr(plugin),
                                   HasSubstr("libstub_dependency.so"), HasSubstr("pip install"),
                                   Not(HasSubstr("SingleDeviceStrategy"))));
}

TEST(CreateStrategyProcess, C009_AutoFallsBackToCpuWithAWarning) {
  const std::string plugin = stub("stub_gpu_missing_dependency");
  const auto result = run_probe({"auto", "1"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", plugin}});
  EXPECT_THAT(result.output, HasSubstr("SingleDeviceStrategy(cpu:0)"));
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("warning"), HasSubstr(plugin), HasSubstr("libstub_dependency.so")));
}

TEST(CreateStrategyProcess, ABackendWithoutDevicesSaysSo) {
  const auto result =
      run_probe({"gpu", "auto"}, {{"LOCKSTEP_PJRT_PLUGIN_PATH", stub("stub_gpu_no_devices")}});
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("RuntimeError"), HasSubstr("no `gpu` devices are visible")));
}

}  // namespace
}  // namespace lockstep
