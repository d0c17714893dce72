#include "data/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <vector>

#include "lockstep/base/error.h"

namespace lockstep::data {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} * 1024;
// A deflate block codes at most 258 bytes in two bits, so 1032 bytes a byte.
constexpr std::uint64_t most_deflate_ratio = 1032;

}  // namespace

// The state of zlib and the packed bytes that it has not used yet.
class ByteSource::Inflater {
 public:
  explicit Inflater(ByteSource& source) : source_(source), packed_(block_bytes) {
    constexpr int gzip_window = 15 + 16;  // largest window, gzip wrapping
    if (inflateInit2(&stream_, gzip_window) != Z_OK) {
      throw_runtime_error(source_.where_, "zlib cannot be started: out of memory");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::size_t read(std::span<std::byte> destination) {
    std::size_t filled = 0;
    while (filled < destination.size() && !is_at_end_) {
      if (stream_.avail_in == 0) refill();
      constexpr std::size_t most = std::numeric_limits<uInt>::max();
      const auto room = static_cast<uInt>(std::min(destination.size() - filled, most));
      stream_.next_out = reinterpret_cast<Bytef*>(destination.data() + filled);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        begin_next_member();
      } else if (status == Z_BUF_ERROR && stream_.avail_in == 0 && file_ended_) {
        throw_value_error(source_.where_,
                          fmt::format("the gzip data of {} end too early, after {} bytes unpacked; "
                                      "the file was cut: fetch it again",
                                      source_.description(), source_.position_ + filled));
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw_value_error(
            source_.where_,
            fmt::format("the gzip data of {} are broken after {} bytes unpacked ({}); "
                        "fetch the file again",
                        source_.description(), source_.position_ + filled,
                        stream_.msg != nullptr ? stream_.msg : "no reason given"));
      }
    }
    return filled;
  }

 private:
  void refill() {
    if (file_ended_) return;
    const std::size_t count = source_.read_file(packed_);
    file_ended_ = count < packed_.size();
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(count);
  }

  // gzip files may be several one after the other; what else follows a member is padding.
  void begin_next_member() {
    std::array<std::byte, 2> magic{};
    for (std::size_t index = 0; index < magic.size(); ++index) {
      if (stream_.avail_in == index) {
        // Keep what is left and read on behind it.
        std::copy_n(reinterpret_cast<const std::byte*>(stream_.next_in), index, packed_.begin());
        const std::size_t count = source_.read_file(std::span(packed_).subspan(index));
        file_ended_ = index + count < packed_.size();
        stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
        stream_.avail_in = static_cast<uInt>(index + count);
      }
      if (stream_.avail_in <= index) break;
      magic[index] = std::byte{stream_.next_in[index]};
    }
    is_at_end_ = magic != std::array{std::byte{0x1f}, std::byte{0x8b}};
    if (!is_at_end_) inflateReset(&stream_);
  }

  ByteSource& source_;
  z_stream stream_{};
  std::vector<std::byte> packed_;
  bool file_ended_ = false;
  bool is_at_end_ = false;
};

ByteSource::ByteSource(std::string_view where, const std::filesystem::path& path)
    : where_(where), path_(path) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    const int error_number = errno;
    const std::string text =
        fmt::format("cannot open '{}': {}", path.string(), system_error_text(error_number));
    if (error_number == ENOENT || error_number == ENOTDIR) throw_value_error(where, text);
    throw_runtime_error(where, text);
  }
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
      throw_runtime_error(
          where, fmt::format("cannot examine '{}': {}", path.string(), system_error_text(errno)));
    }
    if (!S_ISREG(status.st_mode)) {
      throw_value_error(where,
                        fmt::format("'{}' is {}; expected a file", path.string(),
                                    S_ISDIR(status.st_mode) ? "a folder" : "no regular file"));
    }
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    std::array<std::byte, 2> magic{};
    const bool is_gzip_data = read_file(magic) == magic.size() && magic[0] == std::byte{0x1f} &&
                              magic[1] == std::byte{0x8b};
    if (::lseek(descriptor_, 0, SEEK_SET) != 0) {
      throw_runtime_error(
          where, fmt::format("cannot read '{}': {}", path.string(), system_error_text(errno)));
    }
    if (is_gzip_data) inflater_ = std::make_unique<Inflater>(*this);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ByteSource::~ByteSource() {
  ::close(descriptor_);
}

std::uint64_t ByteSource::most_bytes() const {
  return is_gzip() ? file_bytes_ * most_deflate_ratio : file_bytes_;
}

std::string ByteSource::description() const {
  return is_gzip() ? fmt::format("'{}' (gzip data, {} bytes packed)", path_.string(), file_bytes_)
                   : fmt::format("'{}' ({} bytes)", path_.string(), file_bytes_);
}

std::size_t ByteSource::read_file(std::span<std::byte> destination) {
  std::size_t filled = 0;
  while (filled < destination.size()) {
    const ssize_t count =
        ::read(descriptor_, destination.data() + filled, destination.size() - filled);
    if (count == 0) break;
    if (count < 0) {
      if (errno == EINTR) continue;
      throw_runtime_error(
          where_, fmt::format("cannot read '{}': {}", path_.string(), system_error_text(errno)));
    }
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

std::size_t ByteSource::read(std::span<std::byte> destination) {
  const std::size_t count = is_gzip() ? inflater_->read(destination) : read_file(destination);
  position_ += count;
  return count;
}

}  // namespace lockstep::data
