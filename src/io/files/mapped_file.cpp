#include "io/files/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"
#include "io/files/output_names.h"
#include "io/files/temp_spool.h"

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
    size_ = static_cast<std::size_t>(status.st_size);
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

void MappedFile::require_unchanged() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) throw read_error(path_, "its size cannot be read", errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == size_) return;
  throw ReadError({path_, "", fmt::format("changed from {} to {} bytes while it was being read", size_, size),
                   "run again when nothing writes to it"});
}

namespace {

// What was kept, by descriptor: two names of a pipe are one.
struct Kept {
  std::mutex mutex;
  std::map<int, std::unique_ptr<UnnamedFile>> files;
};

Kept& kept() {
  static Kept all;
  return all;
}

// The open descriptor that is read in the place of `path`, or nothing where `path` is a file.
std::optional<int> pipe_of(const std::string& path) {
  if (path == kStandardInput) return STDIN_FILENO;
  if (!path.starts_with("/dev/") && !path.starts_with("/proc/")) return std::nullopt;
  const auto given = descriptor_of(path);
  struct stat status = {};
  const bool pipe = given && given->own && fstat(given->number, &status) == 0 &&
                    (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  return pipe ? std::optional(given->number) : std::nullopt;
}

std::unique_ptr<UnnamedFile> copy_of(int descriptor, const std::string& name) {
  auto file = std::make_unique<UnnamedFile>();
  std::vector<std::byte> buffer(std::size_t{256} << 10);
  while (true) {
    const ssize_t length = read(descriptor, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) throw read_error(name, "cannot be read", errno);
    if (length == 0) return file;
    file->append(std::span(buffer).first(length));
  }
}

}  // namespace

std::string kept_input(const std::string& path) {
  const auto descriptor = pipe_of(path);
  if (!descriptor) return path;
  const std::lock_guard lock(kept().mutex);
  std::unique_ptr<UnnamedFile>& file = kept().files[*descriptor];
  if (!file) file = copy_of(*descriptor, path == kStandardInput ? "standard input" : path);
  return file->path();
}

std::string path_of_kept(const std::string& path) {
  const auto descriptor = pipe_of(path);
  if (!descriptor) return "";
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().files.find(*descriptor);
  return found == kept().files.end() || !found->second ? "" : found->second->path();
}

}  // namespace semicrf
