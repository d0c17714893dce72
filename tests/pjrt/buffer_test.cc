#include "lockstep/pjrt/buffer.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "pjrt/host_copy.h"
#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

class BufferTest : public BothPlugins {};
INSTANTIATE_TEST_SUITE_P(Cpu, BufferTest, ::testing::ValuesIn(both_plugins), plugin_name);

std::shared_ptr<float> aligned_floats(std::size_t count, float first) {
  auto* data = static_cast<float*>(std::aligned_alloc(64, (count * 4 + 63) / 64 * 64));
  for (std::size_t i = 0; i < count; ++i) data[i] = first + static_cast<float>(i);
  return {data, std::free};
}

TEST_P(BufferTest, EveryElementTypeComesBackBitForBit) {
  for (int type = PJRT_Buffer_Type_PRED; type <= PJRT_Buffer_Type_F4E2M1FN; ++type) {
    if (type == PJRT_Buffer_Type_TOKEN) continue;
    SCOPED_TRACE("PJRT_Buffer_Type " + std::to_string(type));
    const std::size_t size = 6 * host_element_size(type);
    std::vector<std::byte> source(size);
    // Values that every type can hold: small patterns for what has few bits.
    const unsigned mask = type == PJRT_Buffer_Type_PRED ? 1U : is_sub_byte(type) ? 1U : 0x3fU;
    for (std::size_t i = 0; i < size; ++i) {
      source[i] = static_cast<std::byte>((i * 37 + 11) & mask);
    }
    const auto buffer = put(client(), type, source, {2, 3}, device(1));
    EXPECT_EQ(buffer->element_type(), type);
    EXPECT_THAT(buffer->dimensions(), ElementsAre(2, 3));
    EXPECT_EQ(get<std::byte>(*buffer, size), source);
  }
}

TEST_P(BufferTest, ScalarsAndEmptyArraysPass) {
  const auto scalar = put(client(), PJRT_Buffer_Type_F32, std::vector<float>{42}, {}, device(0));
  EXPECT_TRUE(scalar->dimensions().empty());
  EXPECT_THAT(get<float>(*scalar, 1), ElementsAre(42));
  const auto empty = put(client(), PJRT_Buffer_Type_F32, std::vector<float>{}, {0, 3}, device(0));
  EXPECT_THAT(empty->dimensions(), ElementsAre(0, 3));
  empty->ready_event().await();
  get<float>(*empty, 0);
}

TEST_P(BufferTest, StridedSourcesBecomeRowMajor) {
  // 2 x 3 with the last index outermost, as Fortran keeps it.
  const std::vector<float> columns{1, 4, 2, 5, 3, 6};
  const std::int64_t dimensions[] = {2, 3};
  const std::int64_t strides[] = {4, 8};
  const auto buffer = client().buffer_from_host({.data = columns.data(),
                                                 .element_type = PJRT_Buffer_Type_F32,
                                                 .dimensions = dimensions,
                                                 .byte_strides = strides},
                                                device(0));
  EXPECT_THAT(get<float>(*buffer, 6), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(BufferTest, NegativeAndZeroStridesAreReadAsGiven) {
  const std::vector<std::int16_t> values{1, 2, 3};
  const std::int64_t dimensions[] = {2, 3};
  const std::int64_t strides[] = {0, -2};
  const auto buffer = client().buffer_from_host({.data = values.data() + 2,
                                                 .element_type = PJRT_Buffer_Type_S16,
                                                 .dimensions = dimensions,
                                                 .byte_strides = strides},
                                                device(0));
  EXPECT_THAT(get<std::int16_t>(*buffer, 6), ElementsAre(3, 2, 1, 3, 2, 1));
}

TEST_P(BufferTest, TheSourceIsFreeWhenTheCopyReturns) {
  for (const std::size_t count : {std::size_t{16}, std::size_t{100'000}}) {
    const std::shared_ptr<float> source = aligned_floats(count, 0);
    const std::int64_t dimensions[] = {static_cast<std::int64_t>(count)};
    const HostBuffer host{
        .data = source.get(), .element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions};
    const auto first = client().buffer_from_host(host, device(0));
    std::fill_n(source.get(), count, -1.0F);
    const auto second = client().buffer_from_host(host, device(0));
    std::fill_n(source.get(), count, -2.0F);
    EXPECT_EQ(get<float>(*first, count).back(), static_cast<float>(count - 1));
    EXPECT_EQ(get<float>(*second, count).back(), -1.0F);
  }
}

TEST_P(BufferTest, AlignedMemoryIsUsedWithoutACopyAndKept) {
  std::shared_ptr<float> memory = aligned_floats(1024, 0);
  const std::weak_ptr<float> watched = memory;
  const std::int64_t dimensions[] = {1024};
  auto buffer = client().buffer_from_host_zero_copy(
      {.data = memory.get(), .element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions},
      device(0), memory);
  EXPECT_EQ(memory_address(*buffer), reinterpret_cast<std::uintptr_t>(memory.get()));
  memory.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(get<float>(*buffer, 1024)[1023], 1023.0F);
  buffer.reset();
  // The runtime may let go from a thread of its own.
  for (int i = 0; i < 1000 && !watched.expired(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(watched.expired());
}

TEST_P(BufferTest, UnalignedMemoryIsCopiedInstead) {
  const std::shared_ptr<float> memory = aligned_floats(1024, 0);
  const std::int64_t dimensions[] = {1000};
  const auto buffer = client().buffer_from_host_zero_copy(
      {.data = memory.get() + 1, .element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions},
      device(0), memory);
  EXPECT_NE(memory_address(*buffer), reinterpret_cast<std::uintptr_t>(memory.get() + 1));
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(get<float>(*buffer, 1000)[0], 1.0F);
}

TEST_P(BufferTest, CopiesToAnotherDevice) {
  const auto source = put_floats({1, 2, 3}, device(0));
  const auto copy = source->copy_to_device(device(3));
  EXPECT_EQ(copy->device(), device(3));
  EXPECT_THAT(get<float>(*copy, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(get<float>(*source, 3), ElementsAre(1, 2, 3));
}

TEST_P(BufferTest, CopiesOnItsOwnDevice) {
  auto source = put_floats({1, 2, 3}, device(2));
  const auto copy = source->copy_to_device(device(2));
  EXPECT_NE(memory_address(*copy), memory_address(*source));
  source.reset();
  EXPECT_EQ(copy->device(), device(2));
  EXPECT_THAT(get<float>(*copy, 3), ElementsAre(1, 2, 3));
}

TEST_P(BufferTest, CopiesToAnotherClient) {
  const auto other = Client::create(Plugin::load(path()),
                                    {.create_options = {{"cpu_device_count", std::int64_t{2}}}});
  const auto source = put_floats({1, 2, 3}, device(3));
  const auto copy = source->copy_to_device(other->devices().at(1));
  EXPECT_EQ(copy->device(), other->devices().at(1));
  EXPECT_THAT(get<float>(*copy, 3), ElementsAre(1, 2, 3));
}

TEST_P(BufferTest, SizeOnTheDevice) {
  EXPECT_EQ(put_floats({1, 2, 3}, device(0))->on_device_size_in_bytes(), 12U);
}

TEST_P(BufferTest, LiveBuffersAreCounted) {
  EXPECT_EQ(num_live_buffers(), 0);
  {
    const auto one = put_floats({1}, device(0));
    const auto two = put_floats({2}, device(1));
    EXPECT_EQ(num_live_buffers(), 2);
  }
  EXPECT_EQ(num_live_buffers(), 0);
}

TEST_P(BufferTest, AMarkedBufferCountsAsDeleted) {
  const auto buffer = put_floats({1}, device(0));
  EXPECT_FALSE(buffer->is_deleted());
  buffer->mark_donated();
  EXPECT_TRUE(buffer->is_donated());
  EXPECT_TRUE(buffer->is_deleted());
}

TEST_P(BufferTest, RoomThatIsTooSmallIsAnError) {
  const auto buffer = put_floats({1, 2, 3}, device(0));
  std::byte room[4];
  EXPECT_THAT(error_text<RuntimeError>([&] { buffer->copy_to_host(room, sizeof(room)).await(); }),
              HasSubstr("PJRT_Buffer_ToHostBuffer"));
}

TEST_P(BufferTest, BadDescriptionsOfHostMemoryAreTheCallersMistake) {
  const float value = 1;
  const std::int64_t dimensions[] = {1};
  const std::int64_t negative[] = {-1};
  const std::int64_t strides[] = {4, 4};
  const auto text = [&](const HostBuffer& host) {
    return error_text<ValueError>([&] { (void)client().buffer_from_host(host, device(0)); });
  };
  EXPECT_THAT(
      text({.data = &value, .element_type = PJRT_Buffer_Type_TOKEN, .dimensions = dimensions}),
      HasSubstr("element type"));
  EXPECT_THAT(text({.data = &value, .element_type = PJRT_Buffer_Type_F32, .dimensions = negative}),
              HasSubstr("negative: -1"));
  EXPECT_THAT(text({.data = &value,
                    .element_type = PJRT_Buffer_Type_F32,
                    .dimensions = dimensions,
                    .byte_strides = strides}),
              HasSubstr("2 byte strides for 1 dimensions"));
}

TEST_P(BufferTest, ADeviceOfAnotherClientIsTheCallersMistake) {
  const auto other = Client::create(Plugin::load(path()));
  const float value = 1;
  const std::int64_t dimensions[] = {1};
  EXPECT_THAT(
      error_text<ValueError>([&] {
        (void)client().buffer_from_host(
            {.data = &value, .element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions},
            other->devices().at(0));
      }),
      HasSubstr("cpu:0 does not belong to this client"));
}

}  // namespace
}  // namespace lockstep::pjrt
