#include "lockstep/array/array.h"

#include <cmath>
#include <complex>
#include <limits>

#include "array_test_support.h"
#include "lockstep/trace/jit.h"
#include "lockstep/trace/ops.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Array on_cpu(const HostTensor& tensor) {
  return device_put(Array(tensor), SingleDeviceSharding{cpu(0)});
}

TEST(Array, IsNullOnHostOrOnDevices) {
  const Array null;
  const Array host = ramp_tensor({2, 3});
  const Array device = on_cpu(ramp_tensor({2, 3}));
  EXPECT_TRUE(null.is_null() && !null.is_host() && !null.is_device() && !null.is_traced());
  EXPECT_TRUE(host.is_host() && !host.is_null() && !host.is_device());
  EXPECT_TRUE(device.is_device() && !device.is_null() && !device.is_host());
  for (const Array& array : {host, device}) {
    EXPECT_EQ(array.shape(), (Shape{2, 3}));
    EXPECT_EQ(array.dtype(), DType::Float32);
    EXPECT_EQ(array.ndim(), 2);
    EXPECT_EQ(array.size(), 6);
    EXPECT_FALSE(array.weak_type());
    EXPECT_EQ(array.to_vector<float>(), ramp(6));
    EXPECT_FALSE(array.is_deleted());
    EXPECT_NO_THROW(array.block_until_ready());
  }
}

TEST(Array, ANullArraySaysSo) {
  const Array null;
  EXPECT_THAT(error_text<ValueError>([&] { (void)null.shape(); }), HasSubstr("the array is null"));
  EXPECT_THAT(error_text<ValueError>([&] { null.block_until_ready(); }), HasSubstr("null"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)null.to_host(); }), HasSubstr("null"));
  EXPECT_THAT(error_text<ValueError>([&] { (void)null.sharding(); }), HasSubstr("null"));
}

TEST(Array, LiteralsAreWeakScalarsOfTheDefaultWidth) {
  const auto expect_literal = [](const Array& array, DType dtype, bool weak) {
    EXPECT_EQ(array.shape(), Shape{});
    EXPECT_EQ(array.dtype(), dtype);
    EXPECT_EQ(array.weak_type(), weak);
  };
  expect_literal(Array(3), DType::Int32, true);
  expect_literal(Array(3U), DType::Int32, true);
  expect_literal(Array(2.5), DType::Float32, true);
  expect_literal(Array(2.5F), DType::Float32, true);
  expect_literal(Array(true), DType::Bool, false);
  const std::int64_t large = std::int64_t{1} << 40;
  expect_literal(Array(large), DType::Int64, true);  // never narrowed
  EXPECT_EQ(Array(large).item<std::int64_t>(), large);
}

TEST(Array, LiteralsConvertFromWhatWasWritten) {
  EXPECT_EQ(Array(0.1).to_host(DType::Float64).values<double>()[0], 0.1);
  EXPECT_EQ(Array(HostTensor::scalar(0.1F)).to_host(DType::Float64).values<double>()[0],
            static_cast<double>(0.1F));
}

TEST(Array, ItemConvertsToTheNearestInRange) {
  EXPECT_EQ(Array(HostTensor::scalar(std::int32_t{300})).item<std::int8_t>(), 127);
  EXPECT_EQ(Array(HostTensor::scalar(std::int32_t{-1})).item<std::uint8_t>(), 0);
  EXPECT_EQ(Array(HostTensor::scalar(1e30)).item<std::int64_t>(),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Array(HostTensor::scalar(std::nan(""))).item<int>(), 0);
  EXPECT_EQ(Array(HostTensor::scalar(-1.9F)).item<int>(), -1);
  EXPECT_EQ(
      Array(HostTensor::scalar(std::numeric_limits<std::uint64_t>::max())).item<std::int64_t>(),
      std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(
      Array(HostTensor::scalar(std::numeric_limits<std::uint64_t>::max())).item<std::uint64_t>(),
      std::numeric_limits<std::uint64_t>::max());
}

TEST(Array, ItemReadsEveryKind) {
  EXPECT_EQ(Array(HostTensor::scalar(true)).item<int>(), 1);
  EXPECT_TRUE(Array(HostTensor::scalar(0.5F)).item<bool>());
  EXPECT_FALSE(Array(HostTensor::scalar(-0.0F)).item<bool>());
  EXPECT_EQ(Array(HostTensor::scalar(BFloat16(1.5F))).item<double>(), 1.5);
  EXPECT_EQ(Array(HostTensor::scalar(1.5)).item<Float16>(), Float16(1.5F));
  using Complex = std::complex<float>;
  EXPECT_EQ(Array(HostTensor::scalar(Complex(1, 2))).item<Complex>(), Complex(1, 2));
  EXPECT_EQ(Array(HostTensor::scalar(Complex(1, 2))).item<float>(), 1);
  EXPECT_EQ(on_cpu(HostTensor::from(std::vector<float>{4}, {1, 1})).item<float>(), 4);
}

TEST(Array, ItemNeedsExactlyOneElement) {
  EXPECT_THAT(error_text<ValueError>([] {
                (void)Array(ramp_tensor({2, 1})).item<float>();
              }),
              AllOf(HasSubstr("[Array::item]"), HasSubstr("(2, 1)"), HasSubstr("2 elements")));
  EXPECT_THAT(error_text<ValueError>([] { (void)Array(ramp_tensor({0})).item<float>(); }),
              HasSubstr("0 elements"));
}

TEST(Array, ToVectorNeedsTheArraysType) {
  const Array array = on_cpu(ramp_tensor({3}));
  EXPECT_THAT(error_text<ValueError>([&] { (void)array.to_vector<double>(); }),
              AllOf(HasSubstr("float32"), HasSubstr("float64"), HasSubstr("cast")));
  const Array flags = on_cpu(HostTensor::from(std::vector<bool>{true, false}, {2}));
  EXPECT_THAT(flags.to_vector<bool>(), ElementsAre(true, false));
}

TEST(Array, ToHostConverts) {
  const HostTensor host = on_cpu(ramp_tensor({3})).to_host(DType::Int64);
  EXPECT_THAT(host.values<std::int64_t>(), ElementsAre(0, 1, 2));
}

TEST(Array, AddressableShardsNameDeviceAndPart) {
  const Array array =
      device_put(Array(ramp_tensor({4, 2})), NamedSharding{Mesh(cpus({2, 0}), "data"), {{"data"}}});
  const std::vector<Shard> shards = array.addressable_shards();
  ASSERT_EQ(shards.size(), 2U);
  EXPECT_EQ(shards[0].device, cpu(2));
  EXPECT_EQ(shards[1].device, cpu(0));
  EXPECT_EQ(shards[0].index, (ShardIndex{{0, 2}, {0, 2}}));
  EXPECT_EQ(shards[1].index, (ShardIndex{{2, 4}, {0, 2}}));
  EXPECT_EQ(shards[1].buffer->device(), cpu(0));
  EXPECT_THAT(shards[1].buffer->dimensions(), ElementsAre(2, 2));
  EXPECT_EQ(array.buffers().size(), 2U);
}

TEST(Array, AHostArrayHasNoSharding) {
  const Array host = ramp_tensor({2});
  for (const auto& use : std::vector<std::function<void()>>{
           [&] { (void)host.sharding(); }, [&] { (void)host.addressable_shards(); },
           [&] { (void)host.buffers(); }}) {
    EXPECT_THAT(error_text<ValueError>(use),
                AllOf(HasSubstr("a host array of float32[2]"), HasSubstr("not on devices"),
                      HasSubstr("device_put"), HasSubstr("place_state")));
  }
}

TEST(Array, FromBuffersNeedsOneForEachDevice) {
  const Array array = on_cpu(ramp_tensor({4}));
  const std::vector<std::shared_ptr<pjrt::Buffer>> buffers(array.buffers().begin(),
                                                           array.buffers().end());
  EXPECT_THAT(
      error_text<ValueError>([&] {
        (void)Array::from_buffers({{8}, DType::Float32}, NamedSharding{mesh_of(2), {{"data"}}},
                                  buffers);
      }),
      AllOf(HasSubstr("1 buffers"), HasSubstr("2 addressable devices"), HasSubstr("Mesh(data=2)")));
}

TEST(Array, ATracedArrayHasNoValue) {
  const auto read = jit([](const Array& x) {
    EXPECT_TRUE(x.is_traced());
    (void)x.to_host();
    return x;
  });
  EXPECT_THAT(error_text<ValueError>([&] { (void)read(on_cpu(ramp_tensor({2}))); }),
              AllOf(HasSubstr("traced array float32[2]"), HasSubstr("no value inside a trace")));
  const auto place =
      jit([](const Array& x) { return device_put(x, SingleDeviceSharding{cpu(0)}); });
  EXPECT_THAT(error_text<ValueError>([&] { (void)place(on_cpu(ramp_tensor({2}))); }),
              AllOf(HasSubstr("[device_put]"), HasSubstr("cannot be placed")));
}

}  // namespace
}  // namespace lockstep
