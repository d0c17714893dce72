#include "pjrt/host_copy.h"
#include "pjrt/host_memory_pool.h"
#include "pjrt_test_support.h"

namespace lockstep::pjrt {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST(HostMemoryPool, BlocksAreAlignedAndUsedAgain) {
  const auto pool = std::make_shared<HostMemoryPool>(4 * mebibyte);
  const std::byte* first = nullptr;
  {
    const auto block = pool->acquire(mebibyte);
    first = block.get();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
    EXPECT_NE(pool->acquire(mebibyte).get(), first);
  }
  EXPECT_EQ(pool->kept_bytes(), 2 * mebibyte);
  EXPECT_EQ(pool->acquire(mebibyte).get(), first);  // the one returned last
}

TEST(HostMemoryPool, KeepsNoMoreThanItMay) {
  const auto pool = std::make_shared<HostMemoryPool>(4 * mebibyte);
  {
    std::vector<std::shared_ptr<std::byte>> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(pool->acquire(mebibyte));
    blocks.push_back(pool->acquire(8 * mebibyte));
  }
  EXPECT_LE(pool->kept_bytes(), 4 * mebibyte);
}

TEST(HostMemoryPool, SmallBlocksAreAlignedToo) {
  const auto pool = std::make_shared<HostMemoryPool>(4 * mebibyte);
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 1000}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool->acquire(size).get()) % 64, 0U);
  }
  EXPECT_EQ(pool->kept_bytes(), 0U);
}

TEST(HostMemoryPool, BlocksMayOutliveIt) {
  auto pool = std::make_shared<HostMemoryPool>(4 * mebibyte);
  const auto block = pool->acquire(mebibyte);
  pool.reset();
  block.get()[mebibyte - 1] = std::byte{1};
}

TEST(HostCopy, StridesOfExtentOneDoNotMatter) {
  const std::int64_t dimensions[] = {1, 3, 1};
  const std::int64_t strides[] = {-999, 4, 777};
  EXPECT_TRUE(is_row_major(
      {.element_type = PJRT_Buffer_Type_F32, .dimensions = dimensions, .byte_strides = strides}));
}

// Every element width, with rows that lie apart: the inner block is copied whole.
TEST(HostCopy, RowsThatLieApartArePacked) {
  for (const int type : {PJRT_Buffer_Type_U8, PJRT_Buffer_Type_F16, PJRT_Buffer_Type_F32,
                         PJRT_Buffer_Type_F64, PJRT_Buffer_Type_C128}) {
    const std::size_t width = host_element_size(type);
    std::vector<std::byte> source(3 * 5 * width);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i);
    // The first two of the five columns, and then every other column of one row after the other.
    for (const std::int64_t step : {1, 2}) {
      const std::int64_t dimensions[] = {3, 2};
      const std::int64_t strides[] = {static_cast<std::int64_t>(5 * width),
                                      step * static_cast<std::int64_t>(width)};
      const HostBuffer host{.data = source.data(),
                            .element_type = type,
                            .dimensions = dimensions,
                            .byte_strides = strides};
      EXPECT_FALSE(is_row_major(host));
      std::vector<std::byte> packed(host_size_in_bytes(host));
      copy_row_major(host, packed.data());
      std::vector<std::byte> expected;
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 2; ++column) {
          const auto start =
              source.begin() + static_cast<std::ptrdiff_t>(
                                   (row * 5 + column * static_cast<std::size_t>(step)) * width);
          expected.insert(expected.end(), start, start + static_cast<std::ptrdiff_t>(width));
        }
      }
      EXPECT_EQ(packed, expected) << "width " << width << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace lockstep::pjrt
