#include "io/files/temp_spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "io/files/file_errors.h"

namespace semicrf {
namespace {

std::string system_folder() {
  std::error_code error;
  const auto folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

// Writes all of `content` from `offset` on.
void write_all(int descriptor, std::uint64_t offset, std::span<const std::byte> content,
               const std::string& folder) {
  while (!content.empty()) {
    const ssize_t written = pwrite(descriptor, content.data(), content.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      throw write_error(folder, "a temporary file in this folder cannot be written", errno);
    }
    offset += written;
    content = content.subspan(written);
  }
}

// A file without a name in `folder`; -1 and errno on failure.
int open_unnamed(const std::string& folder) {
  constexpr mode_t kOwnerOnly = 0600;
#ifdef O_TMPFILE
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly);
  if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return unnamed;
#endif
  // File systems without unnamed files: make one and remove its name.
  std::string name = folder + "/.semicrf-spool-XXXXXX";
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

}  // namespace

TempSpool::TempSpool(std::size_t memory_limit, std::string folder)
    : memory_limit_(memory_limit), folder_(std::move(folder)) {}

TempSpool::~TempSpool() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::size_t TempSpool::append(std::span<const std::byte> blob) {
  Blob stored;
  store(stored, blob);
  blobs_.push_back(std::move(stored));
  return blobs_.size() - 1;
}

void TempSpool::replace(std::size_t index, std::span<const std::byte> blob) {
  Blob& stored = blobs_.at(index);
  in_memory_ -= stored.memory.size();
  stored.memory = {};
  store(stored, blob);
}

void TempSpool::store(Blob& blob, std::span<const std::byte> content) {
  if (blob.capacity == 0 && content.size() <= memory_limit_ - in_memory_) {
    blob.memory.assign(content.begin(), content.end());
    in_memory_ += content.size();
  } else {
    if (descriptor_ < 0) open_file();
    if (content.size() > blob.capacity) {
      write_at(file_end_, content);
      blob.offset = file_end_;
      blob.capacity = content.size();
      file_end_ += content.size();
    } else {
      write_at(blob.offset, content);
    }
  }
  blob.size = content.size();
}

UnnamedFile::UnnamedFile() : descriptor_(open_unnamed(system_folder())) {
  if (descriptor_ < 0) throw write_error(system_folder(), "a temporary file cannot be made here", errno);
}

UnnamedFile::~UnnamedFile() { close(descriptor_); }

void UnnamedFile::append(std::span<const std::byte> content) {
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  if (end < 0) throw write_error(system_folder(), "a temporary file in this folder cannot be written", errno);
  write_all(descriptor_, end, content, system_folder());
}

void TempSpool::open_file() {
  if (folder_.empty()) folder_ = system_folder();
  descriptor_ = open_unnamed(folder_);
  if (descriptor_ < 0) throw write_error(folder_, "a temporary file cannot be made here", errno);
}

void TempSpool::write_at(std::uint64_t offset, std::span<const std::byte> content) {
  write_all(descriptor_, offset, content, folder_);
}

void TempSpool::read(std::size_t index, std::span<std::byte> out) const {
  const Blob& blob = blobs_.at(index);
  if (out.size() != blob.size) throw std::logic_error("TempSpool::read: wrong size");
  if (blob.capacity == 0) {
    if (!out.empty()) std::memcpy(out.data(), blob.memory.data(), out.size());
    return;
  }
  std::uint64_t offset = blob.offset;
  while (!out.empty()) {
    const ssize_t got = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw read_error(folder_, "a temporary file in this folder cannot be read back", got < 0 ? errno : EIO);
    }
    offset += got;
    out = out.subspan(got);
  }
}

}  // namespace semicrf
