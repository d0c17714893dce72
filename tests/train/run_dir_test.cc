#include "lockstep/train/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "lockstep/base/error.h"
#include "support/error_text.h"
#include "support/read_file.h"
#include "support/temporary_directory.h"
#include "train/train_test_support.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

bool has_nothing(const fs::path& folder) {
  return fs::directory_iterator(folder) == fs::directory_iterator();
}

TEST(RunDirectory, VersionsCountUp) {
  const TemporaryDirectory root;
  for (const char* version : {"version_0", "version_1"}) {
    const RunDirectory run = RunDirectory::create({.root_dir = root.path(), .name = "mine"});
    EXPECT_EQ(run.path(), root.path() / "mine" / version);
    EXPECT_TRUE(has_nothing(run.path()));
  }
  fs::create_directory(root.path() / "mine" / "version_7");
  EXPECT_EQ(RunDirectory::create({.root_dir = root.path(), .name = "mine"}).path().filename(),
            "version_8");
}

TEST(RunDirectory, C066_TwoJobsAtOnceGetDifferentFolders) {
  const TemporaryDirectory root;
  constexpr int jobs = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < jobs; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        RunDirectory::create({.root_dir = root.path(), .name = "same"})
            .write_file("mine", std::to_string(i));
        status = 0;
      } catch (const std::exception&) {
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::set<std::string> owners;
  for (const auto& entry : fs::directory_iterator(root.path() / "same")) {
    std::ifstream file(entry.path() / "mine");
    std::string owner;
    file >> owner;
    owners.insert(owner);
  }
  EXPECT_EQ(owners.size(), static_cast<std::size_t>(jobs));
}

TEST(RunDirectory, C085_BadPlacesAreNamedAndNothingIsLeft) {
  const TemporaryDirectory root;
  std::ofstream(root / "file") << "in the way";
  EXPECT_THAT(error_text<RuntimeError>(
                  [&] { static_cast<void>(RunDirectory::create({.root_dir = root / "file"})); }),
              AllOf(HasSubstr(root / "file"), HasSubstr("Not a directory")));
  EXPECT_THAT(error_text<RuntimeError>(
                  [&] { static_cast<void>(RunDirectory::create({.root_dir = "/proc/no/such"})); }),
              HasSubstr("/proc/no"));
  for (const std::string name : {"", ".", "..", "a/b"}) {
    EXPECT_THAT(error_text<ValueError>([&] {
                  static_cast<void>(RunDirectory::create({.root_dir = root / "new", .name = name}));
                }),
                HasSubstr("'" + name + "'"));
  }
  EXPECT_FALSE(fs::exists(root.path() / "new"));
  // Braces are no template.
  EXPECT_EQ(RunDirectory::create({.root_dir = root / "{step}", .name = "{}"}).path(),
            root.path() / "{step}" / "{}" / "version_0");
  EXPECT_THAT(
      error_text<ValueError>([&] { static_cast<void>(RunDirectory::open(root / "nowhere")); }),
      HasSubstr("nowhere"));
}

TEST(RunDirectory, C085_AnUnwritableRootCostsNoCompilation) {
  const TemporaryDirectory root;
  std::ofstream(root / "file") << "in the way";
  TrainerOptions options = quiet_options(1, 3);
  options.root_dir = root / "file";
  bool was_traced = false;
  const StepFunction step = [&](const Tree& state, const Tree& batch) {
    was_traced = true;
    return count_step(state, batch);
  };
  data::FunctionSource source = ones_source(2);
  EXPECT_THAT(error_text<RuntimeError>(
                  [&] { static_cast<void>(Trainer(options).fit(step, counting_state(), source)); }),
              AllOf(HasSubstr(root / "file"), HasSubstr("Not a directory")));
  EXPECT_FALSE(was_traced);
}

TEST(RunDirectory, AFitWritesConfigurationAndMetrics) {
  const TemporaryDirectory root;
  TrainerOptions options = quiet_options(2, 3);
  options.root_dir = root.path();
  options.name = "fit";
  options.log_every_n_steps = 1;
  data::FunctionSource source = ones_source(2);
  const FitResult result = Trainer(options).fit(count_step, counting_state(), source);
  EXPECT_EQ(result.run_dir, root.path() / "fit" / "version_0");
  EXPECT_EQ(read_file(result.run_dir / "metrics.csv"), "step,loss\n1,1\n2,2\n3,3\n");
  const nlohmann::json json = nlohmann::json::parse(read_file(result.run_dir / "config.json"));
  EXPECT_EQ(json["max_steps"], 3);
  EXPECT_EQ(json["strategy"], options.strategy->to_string());
}

TEST(RunDirectory, ARunThatNeverStepsLeavesNoFolder) {
  const TemporaryDirectory root;
  TrainerOptions options = quiet_options(1, 3);
  options.root_dir = root.path();
  const StepFunction broken = [](const Tree& state, const Tree&) {
    return StepOutput{state, Tree{{"m", zeros({3})}}};
  };
  data::FunctionSource source = ones_source(2);
  EXPECT_THROW(static_cast<void>(Trainer(options).fit(broken, counting_state(), source)),
               ValueError);
  EXPECT_TRUE(!fs::exists(root.path() / "run") || has_nothing(root.path() / "run"));
}

}  // namespace
}  // namespace lockstep::testing
