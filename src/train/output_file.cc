#include "train/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "lockstep/base/error.h"

namespace lockstep {
namespace {

int open_flags(OutputFile::Open mode) {
  switch (mode) {
    case OutputFile::Open::CreateNew: return O_CREAT | O_EXCL;
    case OutputFile::Open::OpenOrCreate: return O_CREAT;
    case OutputFile::Open::Truncate: return O_CREAT | O_TRUNC;
  }
  return O_CREAT;
}

}  // namespace

OutputFile::OutputFile(std::string where, std::filesystem::path path, Open mode)
    : where_(std::move(where)), path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC | open_flags(mode), 0666);
  if (descriptor_ < 0) fail("open for writing", errno);
}

OutputFile::~OutputFile() {
  ::close(descriptor_);
}

void OutputFile::fail(std::string_view action, int error_number) const {
  throw_runtime_error(where_, fmt::format("cannot {} '{}': {}", action, path_.string(),
                                          system_error_text(error_number)));
}

std::int64_t OutputFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail("examine", errno);
  return status.st_size;
}

void OutputFile::write_at(std::int64_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write to", errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
}

void OutputFile::truncate(std::int64_t size) {
  if (::ftruncate(descriptor_, size) != 0) fail("truncate", errno);
}

void OutputFile::synchronize() {
  // Pipes and some network file systems have nothing to synchronise.
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    fail("synchronise", errno);
}

void OutputFile::rename_to(const std::filesystem::path& path) {
  if (std::rename(path_.c_str(), path.c_str()) != 0) {
    fail(fmt::format("give the name '{}' to", path.string()), errno);
  }
  path_ = path;
}

void write_file_atomically(std::string_view where, const std::filesystem::path& path,
                           std::string_view text) {
  std::filesystem::path temporary = path;
  temporary += ".tmp";
  try {
    OutputFile file(std::string(where), temporary, OutputFile::Open::Truncate);
    file.write_at(0, text);
    file.synchronize();
    file.rename_to(path);
  } catch (const RuntimeError&) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    throw;
  }
}

}  // namespace lockstep
