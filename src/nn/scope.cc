#include "lockstep/nn/scope.h"

#include <openssl/sha.h>

#include <array>

#include "lockstep/array/host_tensor.h"

namespace lockstep::nn {
namespace {

// The first four bytes of the SHA-1 of `text`, big-endian.
std::uint32_t first_word(const std::string& text) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | digest[i];
  return word;
}

// Big-endian without leading zero bytes.
std::string bytes_of(std::uint32_t number) {
  std::string bytes;
  for (; number != 0; number >>= 8) bytes.insert(bytes.begin(), static_cast<char>(number & 0xff));
  return bytes;
}

}  // namespace

Scope Scope::child(std::string_view name) const {
  Scope scope(root_);
  scope.path_ = path_;
  scope.path_ += name;
  return scope;
}

random::Key Scope::next_key() {
  ++keys_taken_;
  return random::fold_in(root_, HostTensor::scalar(first_word(path_ + bytes_of(keys_taken_))));
}

}  // namespace lockstep::nn
