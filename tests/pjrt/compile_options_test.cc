#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::HasSubstr;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

// device_ordinal -1: a varint of ten bytes.
const std::string unset_ordinal =
    bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01});

TEST(CompileOptions, DefaultsAreOneReplicaOfOnePartition) {
  EXPECT_EQ(CompileOptions{}.serialize(),
            bytes({0x1a, 15}) + unset_ordinal + bytes({0x20, 1, 0x28, 1}));
}

TEST(CompileOptions, EveryFieldHasItsNumber) {
  const CompileOptions options{.num_replicas = 2,
                               .num_partitions = 2,
                               .use_spmd_partitioning = true,
                               .use_shardy_partitioner = true,
                               .run_backend_only = true,
                               .device_ids = {0, 1, 2, 300}};
  // Partition 0 has device 0 in replica 0 and 2 in replica 1; partition 1 has 1 and 300.
  const std::string assignment = bytes({0x08, 2, 0x10, 2}) + bytes({0x1a, 4, 0x08, 0, 0x08, 2}) +
                                 bytes({0x1a, 5, 0x08, 1, 0x08, 0xac, 0x02});
  const std::string build = unset_ordinal + bytes({0x20, 2, 0x28, 2, 0x30, 1}) +
                            bytes({0x4a, static_cast<int>(assignment.size())}) + assignment +
                            bytes({0x58, 1, 0x98, 0x01, 1});
  EXPECT_EQ(options.serialize(), bytes({0x1a, static_cast<int>(build.size())}) + build);
}

TEST(CompileOptions, DebugOptionsAreAMapByName) {
  const CompileOptions options{.debug_options = {{"yes", true}, {"no", false}}};
  EXPECT_EQ(options.serialize(), CompileOptions{}.serialize() +
                                     bytes({0x3a, 9, 0x0a, 3, 'y', 'e', 's', 0x12, 2, 0x10, 1}) +
                                     bytes({0x3a, 8, 0x0a, 2, 'n', 'o', 0x12, 2, 0x10, 0}));
}

TEST(CompileOptions, CountsThatContradictAreTheCallersMistake) {
  EXPECT_THAT(error_text<ValueError>([] { (void)CompileOptions{.num_partitions = 0}.serialize(); }),
              HasSubstr("1 and 0"));
  EXPECT_THAT(error_text<ValueError>([] {
                (void)CompileOptions{.num_partitions = 4, .device_ids = {0, 1}}.serialize();
              }),
              ::testing::AllOf(HasSubstr("2 device_ids"), HasSubstr("4 devices")));
}

}  // namespace
}  // namespace lockstep::pjrt
