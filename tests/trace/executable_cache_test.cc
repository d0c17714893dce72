// The compile cache on disk: hits, keys, damage, folders that cannot be written, many writers.
#include "lockstep/trace/executable_cache.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "lockstep/trace/compiled_program.h"
#include "lockstep/trace/ops.h"
#include "support/read_file.h"
#include "support/temporary_directory.h"
#include "trace/trace_test_support.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder of its own for each test, and the statistics since its start.
class ExecutableCache : public ::testing::Test {
 protected:
  void SetUp() override {
    set_compile_cache_dir(folder_.path().string());
    before_ = compile_cache_stats();
  }
  void TearDown() override { set_compile_cache_dir(std::nullopt); }

  // x -> x * factor over `length` elements.
  static CompiledProgram scale(double factor, std::int64_t length = 3, std::size_t device = 0) {
    return CompiledProgram::compile(
        [factor](std::span<const Array> x) { return std::vector<Array>{x[0] * factor}; },
        std::vector{AbstractValue{.shape = {length}}},
        {.name = "scale", .input_shardings = {SingleDeviceSharding{devices("cpu").at(device)}}});
  }
  static void expect_scales(const CompiledProgram& program, double factor) {
    const Array x = device_put(floats({1, 2, 3}), program.input_shardings()[0]);
    expect_near(program(std::vector{x})[0], {factor, 2 * factor, 3 * factor});
  }

  [[nodiscard]] std::int64_t hits() const { return compile_cache_stats().hits - before_.hits; }
  [[nodiscard]] std::int64_t misses() const {
    return compile_cache_stats().misses - before_.misses;
  }
  [[nodiscard]] std::int64_t errors() const {
    return compile_cache_stats().errors - before_.errors;
  }
  [[nodiscard]] std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) found.push_back(entry.path());
    return found;
  }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  // The entry of scale(2), replaced by `damaged`: it must be refused, reported and written anew.
  void expect_refused(const std::function<std::string(std::string)>& damaged) {
    (void)scale(2);
    ASSERT_EQ(entries().size(), 1u);
    const fs::path entry = entries()[0];
    const std::string whole = testing::read_file(entry);
    write(entry, damaged(whole));
    ::testing::internal::CaptureStderr();
    expect_scales(scale(2), 2);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("warning"), HasSubstr("[compile cache]"), HasSubstr(entry.string()),
                      HasSubstr("anew")));
    EXPECT_EQ(errors(), 1);
    EXPECT_EQ(hits(), 0);
    expect_scales(scale(2), 2);
    EXPECT_EQ(hits(), 1);
    EXPECT_EQ(errors(), 1);
    EXPECT_EQ(entries().size(), 1u) << "a temporary file is left";
  }

  testing::TemporaryDirectory folder_;
  CompileCacheStats before_;
};

TEST_F(ExecutableCache, LoadsWhatWasCompiledBefore) {
  expect_scales(scale(2), 2);
  EXPECT_EQ(misses(), 1);
  EXPECT_EQ(hits(), 0);
  EXPECT_EQ(entries().size(), 1u);
  const double compiled = compile_cache_stats().compile_seconds;
  EXPECT_GT(compiled, before_.compile_seconds);
  expect_scales(scale(2), 2);
  EXPECT_EQ(hits(), 1);
  EXPECT_EQ(misses(), 1);
  EXPECT_EQ(compile_cache_stats().compile_seconds, compiled);
  EXPECT_GT(compile_cache_stats().load_seconds, before_.load_seconds);
}

TEST_F(ExecutableCache, HasAnEntryForEachProgramAndPlace) {
  expect_scales(scale(2), 2);
  expect_scales(scale(3), 3);        // another constant
  (void)scale(2, 4);                 // another shape
  expect_scales(scale(2, 3, 1), 2);  // another device: another device assignment in the options
  EXPECT_EQ(misses(), 4);
  EXPECT_EQ(hits(), 0);
  EXPECT_EQ(entries().size(), 4u);
  expect_scales(scale(2, 3, 1), 2);
  EXPECT_EQ(hits(), 1);
}

TEST_F(ExecutableCache, KeysByOptions) {
  pjrt::Client& client = devices("cpu")[0].client();
  const std::string text = scale(2).module_text();
  pjrt::CompileOptions options{.device_ids = {0}};
  (void)compile_cached(client, text, options);
  options.debug_options = {{"xla_cpu_enable_fast_min_max", true}};
  (void)compile_cached(client, text, options);
  EXPECT_EQ(hits(), 0);
  EXPECT_EQ(misses(), 3);
  (void)compile_cached(client, text, options);
  EXPECT_EQ(hits(), 1);
}

TEST_F(ExecutableCache, LoadsProgramsOfAMesh) {
  const std::vector<Device>& all = devices("cpu");
  const Sharding split = NamedSharding{Mesh({all.begin(), all.begin() + 2}, "data"), {{"data"}}};
  const auto total = [&] {
    return CompiledProgram::compile(
        [](std::span<const Array> x) { return std::vector<Array>{sum(x[0])}; },
        std::vector{AbstractValue{.shape = {4}}}, {.input_shardings = {split}});
  };
  const Array x = device_put(floats({1, 2, 3, 4}), split);
  expect_near(total()(std::vector{x})[0], {10});
  expect_near(total()(std::vector{x})[0], {10});
  EXPECT_EQ(hits(), 1);
}

TEST_F(ExecutableCache, RefusesACutEntry) {
  expect_refused([](const std::string& whole) { return whole.substr(0, whole.size() / 2); });
}
TEST_F(ExecutableCache, RefusesAnEmptyEntry) {
  expect_refused([](const std::string&) { return std::string(); });
}
TEST_F(ExecutableCache, RefusesAChangedByte) {
  expect_refused([](std::string whole) {
    whole[whole.size() - 100] = static_cast<char>(whole[whole.size() - 100] ^ 1);
    return whole;
  });
}
TEST_F(ExecutableCache, RefusesAForeignFile) {
  expect_refused([](const std::string& whole) { return std::string(whole.size(), 'x'); });
}

// The entry of another program under this program's name: whole, and still not taken.
TEST_F(ExecutableCache, RefusesTheEntryOfAnotherProgram) {
  (void)scale(3);
  const std::string other = testing::read_file(entries()[0]);
  fs::remove(entries()[0]);
  expect_refused([&](const std::string&) { return other; });
}

TEST_F(ExecutableCache, MakesItsFolder) {
  const fs::path deep = folder_.path() / "a" / "b";
  set_compile_cache_dir(deep.string());
  (void)scale(2);
  EXPECT_TRUE(fs::exists(deep));
  EXPECT_EQ(compile_cache_dir(), deep.string());
}

// A file where the folder should be cannot be written by anyone, root included.
TEST_F(ExecutableCache, WarnsWhereItCannotWriteAndRunsOn) {
  const fs::path file = folder_.path() / "file";
  write(file, "in the way");
  set_compile_cache_dir((file / "cache").string());
  ::testing::internal::CaptureStderr();
  expect_scales(scale(2), 2);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("warning"), HasSubstr("[compile cache] cannot write"),
                    HasSubstr(file.string()), HasSubstr("Not a directory"),
                    HasSubstr("writable directory")));
  EXPECT_EQ(hits(), 0);
  EXPECT_EQ(testing::read_file(file), "in the way");
}

TEST_F(ExecutableCache, IsOffWithoutAFolder) {
  set_compile_cache_dir(std::nullopt);
  EXPECT_EQ(compile_cache_dir(), std::nullopt);
  expect_scales(scale(2), 2);
  expect_scales(scale(2), 2);
  EXPECT_EQ(hits() + misses(), 0);
  EXPECT_TRUE(entries().empty());
  expect_value_error([] { set_compile_cache_dir(""); }, {"[compile cache]", "empty", "path"});
}

TEST_F(ExecutableCache, TakesManyWritersAtOnce) {
  std::vector<std::thread> threads;
  std::vector<CompiledProgram> programs(8, scale(5));
  fs::remove(entries()[0]);
  for (CompiledProgram& program : programs) {
    threads.emplace_back([&program] { program = scale(5); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const CompiledProgram& program : programs) expect_scales(program, 5);
  EXPECT_EQ(hits() + misses(), 9);
  EXPECT_EQ(errors(), 0);
  EXPECT_EQ(entries().size(), 1u) << "temporary files are left";
  expect_scales(scale(5), 5);
}

}  // namespace
}  // namespace lockstep
