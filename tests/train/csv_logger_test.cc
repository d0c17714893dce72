#include "lockstep/train/csv_logger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <clocale>
#include <cmath>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>

#include "lockstep/base/error.h"
#include "support/error_text.h"
#include "support/read_file.h"
#include "support/temporary_directory.h"

namespace lockstep::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Csv : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "metrics.csv"; }
  [[nodiscard]] CsvLogger logger(std::optional<std::int64_t> resume_step = {}) const {
    return CsvLogger({.path = path(), .resume_step = resume_step, .flush_seconds = 0});
  }
  TemporaryDirectory folder_;
};

TEST_F(Csv, OneRowAStepOneColumnAMetric) {
  {
    CsvLogger csv = logger();
    csv.log_metrics(1, {{"loss", 2.5}, {"accuracy", 0.25}});
    csv.log_metrics(2, {{"loss", 2.25}, {"accuracy", 0.5}});
    csv.log_metrics(2, {{"val/loss", 3}});
    csv.log_metrics(
        3, {{"loss", std::nan("")}, {"accuracy", std::numeric_limits<double>::infinity()}});
    csv.finalize(RunStatus::Success);
  }
  EXPECT_EQ(read_file(path()),
            "step,accuracy,loss,val/loss\n1,0.25,2.5,\n2,0.5,2.25,3\n3,inf,nan,\n");
}

TEST_F(Csv, C063_ResumeKeepsOneHeaderAndAddsColumns) {
  {
    CsvLogger csv = logger();
    for (int step = 1; step <= 5; ++step) csv.log_metrics(step, {{"loss", 1.0 / step}});
  }
  std::ofstream(path(), std::ios::app) << "6,0.1666";  // a kill in the middle of a line
  {
    CsvLogger csv = logger(5);
    for (int step = 6; step <= 10; ++step) {
      Metrics metrics{{"loss", step}};
      if (step % 2 == 0) metrics["acc"] = 0.5;
      csv.log_metrics(step, metrics);
    }
  }
  EXPECT_EQ(read_file(path()),
            "step,loss,acc\n1,1,\n2,0.5,\n3,0.3333333333333333,\n4,0.25,\n5,0.2,\n"
            "6,6,0.5\n7,7,\n8,8,0.5\n9,9,\n10,10,0.5\n");
}

TEST_F(Csv, C063_ResumeDropsRowsThatAreRunAgain) {
  {
    CsvLogger csv = logger();
    for (int step = 1; step <= 5; ++step) csv.log_metrics(step, {{"loss", step}});
  }
  {
    CsvLogger csv = logger(3);
    csv.log_metrics(4, {{"loss", 40}});
  }
  EXPECT_EQ(read_file(path()), "step,loss\n1,1\n2,2\n3,3\n4,40\n");
}

TEST_F(Csv, C063_TwoHundredThousandRowsAreAppendedOnly) {
  struct stat before {};
  {
    CsvLogger csv({.path = path(), .resume_step = {}, .flush_seconds = 0});
    csv.log_metrics(0, {{"loss", 0}});
    csv.flush();
    ASSERT_EQ(::stat(path().c_str(), &before), 0);
    for (int step = 1; step < 200000; ++step) csv.log_metrics(step, {{"loss", 0.5}});
  }
  struct stat after {};
  ASSERT_EQ(::stat(path().c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "the file was written anew";
  const std::string text = read_file(path());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 200001);
}

TEST_F(Csv, AFileThatIsThereIsNotOverwritten) {
  std::ofstream(path()) << "step,loss\n1,2\n";
  EXPECT_THAT(
      error_text<ValueError>([&] { static_cast<void>(logger()); }),
      AllOf(HasSubstr(path().string()), HasSubstr("already holds"), HasSubstr("resume_step")));
  std::ofstream(path()) << "something else\n";
  EXPECT_THAT(error_text<ValueError>([&] { static_cast<void>(logger(3)); }),
              HasSubstr(path().string()));
  EXPECT_EQ(read_file(path()), "something else\n");
}

TEST_F(Csv, UnwritablePlacesAreNamedWithTheReason) {
  EXPECT_THAT(error_text<RuntimeError>(
                  [&] { CsvLogger({.path = folder_.path() / "missing" / "metrics.csv"}); }),
              AllOf(HasSubstr("missing"), HasSubstr("No such file or directory")));
}

TEST_F(Csv, NamesAreCheckedAndQuoted) {
  {
    CsvLogger csv = logger();
    EXPECT_THAT(error_text<ValueError>([&] {
                  csv.log_metrics(1, {{"step", 1}});
                }),
                HasSubstr("step"));
    EXPECT_THAT(error_text<ValueError>([&] {
                  csv.log_metrics(1, {{"a\nb", 1}});
                }),
                HasSubstr("control"));
    csv.log_metrics(1, {{"a,\"b\"", 1}});
  }
  EXPECT_EQ(read_file(path()), "step,\"a,\"\"b\"\"\"\n1,1\n");
}

TEST_F(Csv, OtherRanksMakeNoFile) {
  CsvLogger csv({.path = path(), .is_global_zero = false});
  csv.log_metrics(1, {{"loss", 1}});
  csv.finalize(RunStatus::Success);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// Numbers with a decimal comma and groups of three, as a German locale has.
struct GermanNumbers final : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\3"; }
};

TEST_F(Csv, C083_ALocaleDoesNotChangeTheFile) {
  const std::locale former =
      std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  std::ostringstream shown;
  shown << 1234567;
  EXPECT_EQ(shown.str(), "1.234.567") << "the locale is at work";
  {
    CsvLogger csv = logger();
    csv.log_metrics(1234567, {{"a", 0.5}, {"b", 1234567}, {"c", 1e-8}, {"d", 0.1F}});
  }
  std::locale::global(former);
  EXPECT_EQ(read_file(path()), "step,a,b,c,d\n1234567,0.5,1234567,1e-08,0.10000000149011612\n");
}

}  // namespace
}  // namespace lockstep::testing
