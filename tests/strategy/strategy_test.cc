// What every strategy has: its devices, its place among the processes, its root device.
#include "lockstep/strategy/strategy.h"

#include "pjrt/device_description.h"
#include "strategy_test_support.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The least that a strategy is.
class AnyStrategy final : public Strategy {
 public:
  explicit AnyStrategy(std::vector<Device> devices) : Strategy(std::move(devices)) {}
  [[nodiscard]] Sharding state_sharding() const override { return {}; }
  [[nodiscard]] Sharding batch_sharding(std::int64_t /*ndim*/) const override { return {}; }
  [[nodiscard]] Tree place_state(const Tree& state) const override { return state; }
  [[nodiscard]] Tree place_batch(const Tree& batch) const override { return batch; }
  [[nodiscard]] std::string to_string() const override { return "AnyStrategy"; }
};

TEST(Strategy, NeedsDevices) {
  EXPECT_THAT(error_text<ValueError>([] { AnyStrategy({}); }),
              AllOf(HasSubstr("[Strategy]"), HasSubstr("no devices"), HasSubstr("at least one")));
  EXPECT_THAT(error_text<ValueError>([] {
                AnyStrategy({cpu(0), Device()});
              }),
              AllOf(HasSubstr("device 1 of 2 is null"), HasSubstr("devices()")));
}

TEST(Strategy, KeepsItsDevicesInTheGivenOrder) {
  EXPECT_THAT(AnyStrategy(cpus({3, 1, 2})).devices(), ElementsAre(cpu(3), cpu(1), cpu(2)));
}

TEST(Strategy, AloneIsProcessZero) {
  const AnyStrategy strategy(cpus({1}));
  EXPECT_EQ(strategy.process_index(), 0);
  EXPECT_TRUE(strategy.is_global_zero());
}

TEST(Strategy, TheRootDeviceIsTheFirstOfItsOwn) {
  EXPECT_EQ(AnyStrategy(cpus({3, 1})).root_device(), cpu(3));
}

// No real device belongs to another process here.
TEST(Strategy, DevicesOfOthersAreNoRoot) {
  pjrt::DeviceDescription foreign{.client = &cpu(0).client(), .id = 99, .process_index = 1};
  foreign.platform = "cpu";
  const Device other(&foreign);
  EXPECT_EQ(AnyStrategy({other, cpu(2), cpu(1)}).root_device(), cpu(2));
  EXPECT_THAT(error_text<RuntimeError>([&] { (void)AnyStrategy({other}).root_device(); }),
              AllOf(HasSubstr("[Strategy::root_device]"), HasSubstr("none of the strategy's 1"),
                    HasSubstr("process 0"), HasSubstr("must own at least one")));
}

TEST(SingleDevice, PutsEverythingOnItsDevice) {
  const SingleDeviceStrategy strategy(cpu(5));
  EXPECT_THAT(strategy.devices(), ElementsAre(cpu(5)));
  EXPECT_EQ(strategy.root_device(), cpu(5));
  EXPECT_EQ(strategy.to_string(), "SingleDeviceStrategy(cpu:5)");
  EXPECT_EQ(strategy.state_sharding(), Sharding(SingleDeviceSharding{cpu(5)}));
  EXPECT_EQ(strategy.batch_sharding(0), strategy.state_sharding());
  EXPECT_EQ(strategy.batch_sharding(3), strategy.state_sharding());
  const HostTensor matrix = ramp_tensor({7, 3});
  const Tree tree{{"a", Array(matrix)},
                  {"b", Tree::list({Array(HostTensor::scalar(2.5)), Tree()})}};
  for (const Tree& placed : {strategy.place_state(tree), strategy.place_batch(tree)}) {
    EXPECT_EQ(structure_of(placed), structure_of(tree));
    expect_placed(placed["a"], matrix, {cpu(5)});
    expect_placed(placed["b"][0], HostTensor::scalar(2.5), {cpu(5)});
  }
}

TEST(SingleDevice, NeedsADevice) {
  EXPECT_THAT(error_text<ValueError>([] { SingleDeviceStrategy{Device()}; }),
              AllOf(HasSubstr("device 0 of 1 is null"), HasSubstr("devices()")));
}

TEST(SingleDevice, AnErrorNamesTheLeaf) {
  const SingleDeviceStrategy strategy(cpu(0));
  const Tree tree{{"params", Tree{{"w", Array()}}}};
  for (const auto& place : std::vector<std::function<void()>>{
           [&] { (void)strategy.place_state(tree); }, [&] { (void)strategy.place_batch(tree); }}) {
    EXPECT_THAT(error_text<ValueError>(place), AllOf(HasSubstr("null"), HasSubstr("'params/w'")));
  }
}

}  // namespace
}  // namespace lockstep
