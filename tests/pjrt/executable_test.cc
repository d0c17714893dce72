#include "lockstep/pjrt/executable.h"

#include <numeric>

#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ExecutableTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, ExecutableTest, ::testing::ValuesIn(both_plugins), plugin_name);

CompileOptions partitioned(std::int64_t count) {
  return {.num_partitions = count, .use_spmd_partitioning = true, .use_shardy_partitioner = true};
}

TEST_P(ExecutableTest, RunsOnTheDeviceItWasCompiledFor) {
  for (std::size_t index = 0; index < 4; ++index) {
    const Device target = device(index);
    const auto add = client().compile(add_program(3, false), {.device_ids = {target.id()}});
    EXPECT_THAT(add->devices(), ElementsAre(target));
    EXPECT_EQ(add->num_outputs(), 1U);
    const auto sum = run(*add, {put_floats({1, 2, 3}, target), put_floats({10, 20, 30}, target)});
    EXPECT_EQ(sum[0]->device(), target);
    EXPECT_THAT(get<float>(*sum[0], 3), ElementsAre(11, 22, 33));
  }
}

TEST_P(ExecutableTest, DonationReusesTheMemoryAndDeletesTheArgument) {
  const auto add = client().compile(add_program(1024, true), {});
  const auto x = put_floats(std::vector<float>(1024, 1), device(0));
  const auto y = put_floats(std::vector<float>(1024, 2), device(0));
  const std::uintptr_t memory = memory_address(*x);
  const auto sum = run(*add, {x, y});
  EXPECT_TRUE(x->is_deleted());
  EXPECT_FALSE(y->is_deleted());
  EXPECT_EQ(memory_address(*sum[0]), memory);
  EXPECT_THAT(get<float>(*sum[0], 1024), Each(3));
}

TEST_P(ExecutableTest, DonatedMemoryIsNotGivenToLaterCopies) {
  // Large enough to come from the pool of host memory that copies are made into.
  constexpr std::size_t count = 64 * 1024;
  const auto add = client().compile(add_program(count, true), {});
  const std::vector<float> ones(count, 1);
  std::vector<std::shared_ptr<Buffer>> sum =
      run(*add, {put_floats(ones, device(0)), put_floats(ones, device(0))});
  std::vector<std::shared_ptr<Buffer>> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(put_floats(std::vector<float>(count, -7), device(0)));
  }
  EXPECT_THAT(get<float>(*sum[0], count), Each(2));
}

TEST_P(ExecutableTest, MemoryUsedWithoutACopyIsNeverWrittenToByDonation) {
  const auto add = client().compile(add_program(1024, true), {});
  const std::shared_ptr<float> memory(static_cast<float*>(std::aligned_alloc(64, 4096)), std::free);
  std::fill_n(memory.get(), 1024, 5.0F);
  const std::int64_t dimensions[] = {1024};
  const auto x = client().buffer_from_host_zero_copy(
      {.data = memory.get(), .element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions},
      device(0), memory);
  const auto sum = run(*add, {x, put_floats(std::vector<float>(1024, 1), device(0))});
  EXPECT_THAT(get<float>(*sum[0], 1024), Each(6));
  EXPECT_THAT(std::vector<float>(memory.get(), memory.get() + 1024), Each(5));
}

TEST_P(ExecutableTest, NonDonatableArgumentsSurvive) {
  const auto add = client().compile(add_program(4, true), {});
  const auto x = put_floats({1, 2, 3, 4}, device(0));
  const auto y = put_floats({1, 1, 1, 1}, device(0));
  const auto sum = run(*add, {x, y}, {0});
  EXPECT_FALSE(x->is_deleted());
  EXPECT_THAT(get<float>(*x, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(get<float>(*sum[0], 4), ElementsAre(2, 3, 4, 5));
}

TEST_P(ExecutableTest, AnArgumentDonatedBeforeIsAnError) {
  const auto add = client().compile(add_program(4, true), {});
  const auto x = put_floats({1, 2, 3, 4}, device(0));
  const auto y = put_floats({1, 1, 1, 1}, device(0));
  const auto first = run(*add, {x, y});
  EXPECT_THAT(error_text<RuntimeError>([&] {
                run(*add, {x, y});
              }),
              HasSubstr("PJRT_LoadedExecutable_Execute"));
  EXPECT_THAT(get<float>(*first[0], 4), ElementsAre(2, 3, 4, 5));
}

// Each device's rows are summed, then the sums are.
void expect_all_reduce(Client& client, std::int64_t count) {
  const auto program = client.compile(all_reduce_program(count), partitioned(count));
  ASSERT_EQ(program->devices().size(), static_cast<std::size_t>(count));
  std::vector<std::shared_ptr<Buffer>> kept;
  std::vector<PJRT_Buffer*> arguments;
  float expected = 100;
  for (std::int64_t d = 0; d < count; ++d) {
    const Device& device = program->devices()[static_cast<std::size_t>(d)];
    const auto value = static_cast<float>(d + 1);
    kept.push_back(put_floats(std::vector<float>(4, 100), device));
    kept.push_back(put(client, PJRT_Buffer_Type_F32, std::vector<float>(8, value), {2, 4}, device));
    arguments.push_back(kept[kept.size() - 2]->handle());
    arguments.push_back(kept.back()->handle());
    expected += 2 * value;
  }
  std::vector<PJRT_Buffer*> outputs(static_cast<std::size_t>(count));
  std::vector<Event> events(static_cast<std::size_t>(count));
  program->execute({.arguments = arguments, .outputs = outputs, .device_events = events});
  for (const Event& event : events) {
    EXPECT_FALSE(event.is_null());
    event.await();
    EXPECT_TRUE(event.is_ready());
  }
  for (std::size_t d = 0; d < outputs.size(); ++d) {
    const Buffer output(client, outputs[d]);
    EXPECT_EQ(output.device(), program->devices()[d]);
    EXPECT_THAT(get<float>(output, 4), Each(expected));
  }
}

TEST_P(ExecutableTest, ShardyPartitionsOverTwoDevices) {
  expect_all_reduce(client(), 2);
}
TEST_P(ExecutableTest, ShardyPartitionsOverFourDevices) {
  expect_all_reduce(client(), 4);
}

TEST_P(ExecutableTest, DevicesComeInTheOrderOfTheAssignment) {
  CompileOptions options = partitioned(2);
  options.device_ids = {3, 1};
  const auto program = client().compile(all_reduce_program(2), options);
  EXPECT_THAT(program->devices(), ElementsAre(device(3), device(1)));
}

TEST_P(ExecutableTest, SerializedProgramRunsAfterLoading) {
  const auto add = client().compile(add_program(3, false), {});
  const std::string bytes = add->serialize();
  ASSERT_FALSE(bytes.empty());
  const auto loaded = client().deserialize(bytes, {});
  EXPECT_EQ(loaded->num_outputs(), 1U);
  EXPECT_THAT(loaded->devices(), ElementsAre(device(0)));
  const auto sum =
      run(*loaded, {put_floats({1, 2, 3}, device(0)), put_floats({1, 1, 1}, device(0))});
  EXPECT_THAT(get<float>(*sum[0], 3), ElementsAre(2, 3, 4));
}

TEST_P(ExecutableTest, SerializedPartitionedProgramKeepsItsDevices) {
  CompileOptions options = partitioned(2);
  options.device_ids = {2, 3};
  const std::string bytes = client().compile(all_reduce_program(2), options)->serialize();
  const auto loaded = client().deserialize(bytes, options);
  EXPECT_THAT(loaded->devices(), ElementsAre(device(2), device(3)));
}

TEST_P(ExecutableTest, BytesThatAreNoProgramAreAnError) {
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)client().deserialize("not a program", {}); }),
              HasSubstr("PJRT_Executable_DeserializeAndLoad"));
}

TEST_P(ExecutableTest, CompileErrorsCarryTheCompilersText) {
  const std::string text = error_text<RuntimeError>(
      [&] { (void)client().compile("module { func.func @main() { no_such.op } }", {}); });
  EXPECT_THAT(text, HasSubstr("[PJRT_Client_Compile]"));
  EXPECT_THAT(text, HasSubstr("no_such"));
}

TEST_P(ExecutableTest, MoreDevicesThanThereAreIsAnError) {
  EXPECT_THAT(error_text<RuntimeError>(
                  [&] { (void)client().compile(all_reduce_program(8), partitioned(8)); }),
              HasSubstr("[PJRT_Client_Compile]"));
}

TEST_P(ExecutableTest, ListsOfTheWrongLengthAreTheCallersMistake) {
  const auto add = client().compile(add_program(3, false), {});
  const auto x = put_floats({1, 2, 3}, device(0));
  PJRT_Buffer* arguments[] = {x->handle(), x->handle()};
  std::vector<PJRT_Buffer*> outputs(2);
  const std::string text =
      error_text<ValueError>([&] { add->execute({.arguments = arguments, .outputs = outputs}); });
  EXPECT_THAT(text, HasSubstr("room for 2 outputs"));
  EXPECT_THAT(text, HasSubstr("1 outputs on 1 devices"));
}

TEST_P(ExecutableTest, WrongNumberOfArgumentsIsAnError) {
  const auto add = client().compile(add_program(3, false), {});
  EXPECT_THAT(error_text<RuntimeError>([&] {
                run(*add, {put_floats({1, 2, 3}, device(0))});
              }),
              HasSubstr("PJRT_LoadedExecutable_Execute"));
}

TEST_P(ExecutableTest, FingerprintsTellProgramsApart) {
  const auto three = client().compile(add_program(3, false), {});
  const auto again = client().compile(add_program(3, false), {});
  const auto four = client().compile(add_program(4, false), {});
  EXPECT_FALSE(three->fingerprint().empty());
  EXPECT_EQ(three->fingerprint(), again->fingerprint());
  EXPECT_NE(three->fingerprint(), four->fingerprint());
}

TEST_P(ExecutableTest, MemoryStatsCountArgumentsAndAliases) {
  const auto stats = client().compile(add_program(1024, true), {})->memory_stats();
  ASSERT_TRUE(stats.has_value());
  EXPECT_EQ(stats->arguments, 2 * 4096);
  EXPECT_EQ(stats->outputs, 4096);
  EXPECT_EQ(stats->aliased, 4096);
}

TEST_P(ExecutableTest, OptimizedProgramNamesItsFormat) {
  const auto [program, format] = client().compile(add_program(3, false), {})->optimized_program();
  EXPECT_THAT(program, HasSubstr("add"));
  EXPECT_EQ(format, "hlo_with_config");
}

TEST_P(ExecutableTest, LongChainsOfDonatedStepsLeaveNothingBehind) {
  const auto add = client().compile(add_program(4, true), {});
  const auto one = put_floats({1, 1, 1, 1}, device(0));
  std::shared_ptr<Buffer> state = put_floats({0, 0, 0, 0}, device(0));
  for (int step = 0; step < 500; ++step) state = run(*add, {state, one})[0];
  EXPECT_EQ(num_live_buffers(), 2);
  EXPECT_THAT(get<float>(*state, 4), Each(500));
}

}  // namespace
}  // namespace lockstep::pjrt
