#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "cli/tiny_fashion_mnist.h"
#include "cli/tool.h"
#include "support/temporary_directory.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// A tiny data set, a place for runs, and the words of a quick run.
class Train : public ::testing::Test {
 protected:
  void SetUp() override { write_tiny_fashion_mnist(folder_.path() / "data"); }

  [[nodiscard]] std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"train",           "fashion-mnist", "--data",
                                 folder_ / "data",  "--root-dir",    folder_ / "runs",
                                 "--accelerator",   "cpu",           "--compile-cache",
                                 folder_ / "cache", "--batch-size",  "64"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] bool has_runs() const { return std::filesystem::exists(folder_.path() / "runs"); }

  TemporaryDirectory folder_;
};

TEST_F(Train, DataParallelRunLearnsAndReportsAsJson) {
  const ProcessResult result =
      run_tool(words({"--cpu-devices", "2", "--devices", "auto", "--max-steps", "60", "--json"}));
  ASSERT_EQ(result.exit_status, 0) << result.error;
  const auto json = only_json_line(result);
  EXPECT_EQ(json["job"], "fashion-mnist");
  EXPECT_THAT(json["strategy"].get<std::string>(), HasSubstr("DataParallelStrategy"));
  EXPECT_EQ(json["devices"], nlohmann::json({"cpu:0", "cpu:1"}));
  EXPECT_EQ(json["steps"], 60);
  EXPECT_EQ(json["state_step"], 60);
  EXPECT_GE(json["test_accuracy"], 0.95);
  EXPECT_LT(json["train_loss"], 0.3);
  EXPECT_GT(json["steps_per_second"], 0);
  EXPECT_EQ(json["interrupted"], false);
  const std::filesystem::path run_dir = json["run_dir"].get<std::string>();
  EXPECT_TRUE(std::filesystem::exists(run_dir / "metrics.csv"));
  EXPECT_TRUE(std::filesystem::exists(run_dir / "config.json"));
}

TEST_F(Train, TheSameSeedGivesTheSameBits) {
  const auto loss = [&](const std::string& devices) {
    const ProcessResult result = run_tool(words({"--cpu-devices", "2", "--devices", devices,
                                                 "--max-steps", "20", "--seed", "7", "--json"}));
    EXPECT_EQ(result.exit_status, 0) << result.error;
    return only_json_line(result)["train_loss"].get<double>();
  };
  EXPECT_EQ(loss("2"), loss("2"));
  EXPECT_NEAR(loss("2"), loss("1"), 1e-4 * loss("1"));
}

TEST_F(Train, ASecondStartLoadsWhatTheFirstCompiled) {
  const auto seconds = [&] {
    const ProcessResult result = run_tool(words({"--max-steps", "3", "--json"}));
    EXPECT_EQ(result.exit_status, 0) << result.error;
    return only_json_line(result)["compile_seconds"].get<double>();
  };
  seconds();
  const auto entries = [&] {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(folder_.path() / "cache")) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  };
  const std::size_t after_first = entries();
  EXPECT_GT(after_first, 0U);
  seconds();
  EXPECT_EQ(entries(), after_first);
}

TEST_F(Train, C007_SpellingsOfDevices) {
  struct Case {
    std::string text;
    std::vector<std::string> devices;
  };
  for (const Case& good : std::vector<Case>{{"3", {"cpu:0", "cpu:1", "cpu:2"}},
                                            {"3,", {"cpu:3"}},
                                            {"[3]", {"cpu:3"}},
                                            {"0,2", {"cpu:0", "cpu:2"}},
                                            {"auto", {"cpu:0", "cpu:1", "cpu:2", "cpu:3"}},
                                            {" 2 ", {"cpu:0", "cpu:1"}}}) {
    const ProcessResult result =
        run_tool(words({"--batch-size", "48", "--cpu-devices", "4", "--devices", good.text,
                        "--max-steps", "1", "--json"}));
    ASSERT_EQ(result.exit_status, 0) << good.text << result.error;
    EXPECT_EQ(only_json_line(result)["devices"], nlohmann::json(good.devices)) << good.text;
  }
  for (const std::string bad : {"three", "1.5", ""}) {
    const ProcessResult result =
        run_tool(words({"--cpu-devices", "4", "--devices", bad, "--max-steps", "1"}));
    EXPECT_EQ(result.exit_status, 2) << bad;
    EXPECT_THAT(result.error, AllOf(HasSubstr("--devices"), HasSubstr("'" + bad + "'")));
  }
  const ProcessResult many =
      run_tool(words({"--cpu-devices", "4", "--devices", "5", "--max-steps", "1"}));
  EXPECT_EQ(many.exit_status, 1);
  EXPECT_THAT(many.error, ContainsRegex("5.*4"));
  const ProcessResult index =
      run_tool(words({"--cpu-devices", "4", "--devices", "4,", "--max-steps", "1"}));
  EXPECT_EQ(index.exit_status, 1);
  EXPECT_THAT(index.error, HasSubstr("4"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs" / "fashion-mnist" / "version_6"));
}

TEST_F(Train, BadInputEndsInOneMessageAndLeavesNothing) {
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> named;
  };
  std::ofstream(folder_ / "file") << "in the way";
  for (const Case& bad : std::vector<Case>{
           {{"--data", folder_ / "nowhere"}, {folder_ / "nowhere", "dataset-fashion-mnist"}},
           {{"--cpu-devices", "2", "--devices", "2", "--batch-size", "33"}, {"33", "2"}},
           {{"--cpu-devices", "2", "--devices", "3"}, {"3", "2"}},
           {{"--root-dir", folder_ / "file"}, {folder_ / "file", "Not a directory"}},
           {{"--batch-size", "1000"}, {"1000", "512"}},
           {{"--accelerator", "gpu"}, {"gpu", "pip install"}},
           {{"--name", "a/b"}, {"a/b"}}}) {
    auto all = words({"--max-steps", "2"});
    all.insert(all.end(), bad.words.begin(), bad.words.end());
    const ProcessResult result = run_tool(all, {.environment = {{"LOCKSTEP_LOG_LEVEL", "error"}}});
    EXPECT_EQ(result.exit_status, 1) << result.error;
    EXPECT_EQ(result.output, "");
    for (const std::string& part : bad.named) EXPECT_THAT(result.error, HasSubstr(part));
    EXPECT_FALSE(has_runs()) << bad.words.front();
  }
}

TEST_F(Train, TheLastOfARepeatedOptionCounts) {
  const ProcessResult result = run_tool(words({"--max-steps", "3", "--max-steps", "2", "--json"}));
  ASSERT_EQ(result.exit_status, 0) << result.error;
  EXPECT_EQ(only_json_line(result)["steps"], 2);
}

TEST_F(Train, C044_NoStepsIsARunOfNoneAndFewerAreWrongUsage) {
  const ProcessResult none = run_tool(words({"--max-steps", "0", "--json"}));
  ASSERT_EQ(none.exit_status, 0) << none.error;
  const nlohmann::json json = only_json_line(none);
  EXPECT_EQ(json["steps"], 0);
  EXPECT_EQ(json["state_step"], 0);
  EXPECT_TRUE(json["train_loss"].is_null());
  EXPECT_THAT(none.error, HasSubstr("nothing to train"));
  const ProcessResult negative = run_tool(words({"--max-steps=-1"}));
  EXPECT_EQ(negative.exit_status, 2);
  EXPECT_THAT(negative.error, AllOf(HasSubstr("--max-steps"), HasSubstr("-1")));
}

TEST_F(Train, C073_BadSizesAreWrongUsage) {
  for (const std::string size : {"0", "-1", "1099511627776"}) {
    const ProcessResult result = run_tool(words({"--max-steps", "2", "--batch-size=" + size}));
    EXPECT_EQ(result.exit_status, 2) << size;
    EXPECT_THAT(result.error, AllOf(HasSubstr("--batch-size"), HasSubstr(size)));
  }
  EXPECT_FALSE(has_runs());
}

TEST_F(Train, CutAndForeignFilesAreNamed) {
  const std::filesystem::path images = folder_.path() / "data" / "train-images-idx3-ubyte";
  std::filesystem::resize_file(images, 1000);
  ProcessResult result = run_tool(words({"--max-steps", "2"}));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.error, HasSubstr(images.string()));
  std::ofstream(images, std::ios::binary) << "no IDX file at all";
  result = run_tool(words({"--max-steps", "2"}));
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.error, AllOf(HasSubstr(images.string()), HasSubstr("magic")));
  EXPECT_FALSE(has_runs());
}

TEST_F(Train, C067_APipeGetsPlainLinesOnStandardError) {
  const ProcessResult result = run_tool(words({"--max-steps", "40"}));
  ASSERT_EQ(result.exit_status, 0) << result.error;
  EXPECT_THAT(result.error, Not(HasSubstr("\r")));
  EXPECT_THAT(result.error, Not(HasSubstr("\x1b")));
  EXPECT_LT(result.error.size(), 20000U);
  EXPECT_THAT(result.error, HasSubstr("cpu:0"));
  EXPECT_THAT(result.output, HasSubstr("test_accuracy "));
}

TEST_F(Train, NoProgressIsQuiet) {
  const ProcessResult result = run_tool(words({"--max-steps", "5", "--no-progress", "--json"}));
  ASSERT_EQ(result.exit_status, 0) << result.error;
  EXPECT_EQ(result.error, "");
}

TEST_F(Train, AnInterruptStopsAfterTheRunningStepAndTheProcessDiesOfIt) {
  const ProcessResult result = run_tool(
      words({"--max-steps", "100000000", "--json"}),
      {.environment = {}, .timeout_seconds = 100, .signal = SIGINT, .signal_after_text = "step"});
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.signal, SIGINT);
  const auto json = only_json_line(result);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_EQ(json["steps"], json["state_step"]);
}

TEST_F(Train, TheCnnTrains) {
  const ProcessResult result =
      run_tool(words({"--model", "cnn", "--batch-size", "32", "--max-steps", "12", "--json"}));
  ASSERT_EQ(result.exit_status, 0) << result.error;
  EXPECT_LT(only_json_line(result)["train_loss"], 2.3);
}

}  // namespace
}  // namespace lockstep::testing
