#include "data/byte_order.h"

#include <cstring>

namespace lockstep::data {
namespace {

std::uint16_t reversed(std::uint16_t word) {
  return __builtin_bswap16(word);
}
std::uint32_t reversed(std::uint32_t word) {
  return __builtin_bswap32(word);
}
std::uint64_t reversed(std::uint64_t word) {
  return __builtin_bswap64(word);
}

template <class Word>
void reverse_words(std::span<std::byte> bytes) {
  for (std::size_t place = 0; place + sizeof(Word) <= bytes.size(); place += sizeof(Word)) {
    Word word;
    std::memcpy(&word, &bytes[place], sizeof(Word));
    word = reversed(word);
    std::memcpy(&bytes[place], &word, sizeof(Word));
  }
}

}  // namespace

void reverse_each(std::span<std::byte> bytes, std::size_t width) {
  if (width == 2) reverse_words<std::uint16_t>(bytes);
  if (width == 4) reverse_words<std::uint32_t>(bytes);
  if (width == 8) reverse_words<std::uint64_t>(bytes);
}

}  // namespace lockstep::data
