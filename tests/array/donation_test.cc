// What a step that takes an array by donation may overwrite, and what it must leave alone.
#include "array_test_support.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Shape shape{8, 64};

std::vector<Sharding> shardings() {
  return {SingleDeviceSharding{cpu(0)}, NamedSharding{mesh_of(4), {}},
          NamedSharding{mesh_of(4), {{"data"}}}};
}

// x + 1, in x's memory where it may.
Array donate(const Array& x) {
  const auto add_one = jit([](const Array& value) { return value + 1.0F; },
                           {.donate_argnums = {0}, .out_sharding = x.sharding()});
  Array result = add_one(x);
  result.block_until_ready();
  return result;
}

TEST(Donation, LeavesTheHostTensorAndItsOtherPlacementsAlone) {
  const HostTensor source = ramp_tensor(shape);
  const HostTensor before = source.clone();
  const HostTensor after = ramp_tensor(shape, 1);
  for (const Sharding& sharding : shardings()) {
    SCOPED_TRACE(sharding.to_string());
    const Array kept = device_put(Array(source), sharding);
    const Array given = device_put(Array(source), sharding);
    expect_holds(donate(given), after);
    EXPECT_TRUE(given.is_deleted());
    EXPECT_FALSE(kept.is_deleted());
    expect_holds(kept, before);
    EXPECT_TRUE(source.identical(before));
  }
}

TEST(Donation, ReplicasDoNotShareMemoryThatIsWritten) {
  const HostTensor source = ramp_tensor(shape);
  Array state = device_put(Array(source), NamedSharding{mesh_of(4), {}});
  for (int step = 1; step <= 4; ++step) {
    state = donate(state);
    expect_holds(state, ramp_tensor(shape, static_cast<float>(step)));
  }
}

TEST(Donation, LeavesTheSourceOfAMoveAlone) {
  const HostTensor source = ramp_tensor(shape);
  for (const Sharding& from : shardings()) {
    for (const Sharding& to : shardings()) {
      if (from == to) continue;
      SCOPED_TRACE(from.to_string() + " to " + to.to_string());
      const Array first = device_put(Array(source), from);
      const Array moved = device_put(first, to);
      expect_holds(donate(moved), ramp_tensor(shape, 1));
      expect_holds(first, source);
      const Array again = device_put(first, to);
      expect_holds(donate(first), ramp_tensor(shape, 1));
      expect_holds(again, source);
    }
  }
}

TEST(Donation, LeavesBorrowedMemoryAlone) {
  const HostTensor memory = ramp_tensor(shape);
  const HostTensor before = memory.clone();
  for (const Sharding& sharding : shardings()) {
    const Array array =
        device_put(Array(HostTensor::borrow(memory.data(), DType::Float32, shape)), sharding);
    expect_holds(donate(array), ramp_tensor(shape, 1));
    EXPECT_TRUE(memory.identical(before));
  }
}

TEST(Donation, LeavesWhatWasReadAlone) {
  const Array array = device_put(Array(ramp_tensor(shape)), SingleDeviceSharding{cpu(0)});
  const Array fresh = donate(array);
  const HostTensor read = fresh.to_host();
  (void)donate(fresh);
  EXPECT_TRUE(read.identical(ramp_tensor(shape, 1)));
}

TEST(Donation, C013_ADonatedArrayIsNamedWhereverItIsUsed) {
  for (const Sharding& sharding : shardings()) {
    const Array array = device_put(Array(ramp_tensor(shape)), sharding);
    const Array result = donate(array);
    EXPECT_TRUE(array.is_deleted());
    EXPECT_EQ(array.shape(), shape);  // what is known of it stays
    EXPECT_THAT(
        error_text<ValueError>([&] { (void)array.to_host(); }),
        AllOf(HasSubstr("[Array::to_host]"), HasSubstr("float32[8,64]"), HasSubstr("donated")));
    EXPECT_THAT(error_text<ValueError>([&] { (void)array.item<float>(); }), HasSubstr("donated"));
    EXPECT_THAT(
        error_text<ValueError>([&] { (void)device_put(array, SingleDeviceSharding{cpu(7)}); }),
        AllOf(HasSubstr("[device_put]"), HasSubstr("float32[8,64]"), HasSubstr("donated")));
    EXPECT_THAT(error_text<ValueError>([&] { (void)donate(array); }), HasSubstr("donated"));
    EXPECT_NO_THROW(array.block_until_ready());
    expect_holds(result, ramp_tensor(shape, 1));
  }
}

}  // namespace
}  // namespace lockstep
