#include "io/files/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"
#include "io/files/kept_input.h"

namespace semicrf {
namespace {

// Unmaps memory. One thread takes 10 to 30 ms per GiB of pages that were read; of large files several threads
// let go of the pages first.
void unmap(void* data, std::size_t size) noexcept {
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  constexpr unsigned kMostThreads = 8;
  const std::size_t pieces = size / kPiece;
  try {
    const unsigned threads = std::min(kMostThreads, std::thread::hardware_concurrency());
    if (pieces > 1)
      parallel_for(static_cast<int>(threads), pieces, [&](std::size_t i, int) {
        ::madvise(static_cast<std::uint8_t*>(data) + i * kPiece, kPiece, MADV_DONTNEED);
      });
  } catch (...) {
    // Without threads it only takes longer.
  }
  ::munmap(data, size);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer before it could be refused.
  descriptor_ = ::open(kept_input(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw read_error(path, "cannot be opened", errno);
  struct stat status;
  try {
    if (::fstat(descriptor_, &status) != 0) throw read_error(path, "its size cannot be read", errno);
    if (S_ISDIR(status.st_mode)) throw ReadError({path, "", "is a folder", "give the name of a file"});
    if (!S_ISREG(status.st_mode))
      throw ReadError({path, "", "is not a regular file", "write the data to a file first"});
    size_ = status.st_size;
    if (size_ == 0) return;
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (data == MAP_FAILED) throw read_error(path, "cannot be mapped into memory", errno);
    data_ = static_cast<const std::uint8_t*>(data);
    region_ = MappedRegion(data, size_, path);
  } catch (...) {
    close();
    throw;
  }
}

MappedFile::~MappedFile() { close(); }

void MappedFile::close() noexcept {
  region_.release();
  if (data_ != nullptr) unmap(const_cast<std::uint8_t*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
  data_ = nullptr;
  size_ = 0;
  descriptor_ = -1;
}

void MappedFile::let_go(std::span<const std::uint8_t> bytes) const {
  // Where a page is touched, the system maps those around it, too, in blocks of this size.
  constexpr std::size_t kAround = std::size_t{64} << 10;
  if (bytes.empty()) return;
  const std::size_t begin = bytes.data() - data_;
  const std::size_t first = begin / kAround * kAround;
  const std::size_t last = std::min(size_, (begin + bytes.size() + kAround - 1) / kAround * kAround);
  ::madvise(const_cast<std::uint8_t*>(data_) + first, last - first, MADV_DONTNEED);
}

void MappedFile::require_unchanged() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) throw read_error(path_, "its size cannot be read", errno);
  const std::size_t size = status.st_size;
  if (size == size_) return;
  throw ReadError({path_, "", fmt::format("changed from {} to {} bytes while it was being read", size_, size),
                   "run again when nothing writes to it"});
}

}  // namespace semicrf
