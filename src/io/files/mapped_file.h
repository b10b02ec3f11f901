// A whole file mapped read-only into memory. No copy is made: pages are read when they are touched and count
// as file cache, not as memory of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/files/signal_cleanup.h"

namespace semicrf {

class MappedFile {
 public:
  // Standard input ("-") and pipes of a shell are kept in a file first (kept_input.h). ReadError when `path`
  // cannot be opened, is a folder, or is not a regular file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> bytes() const {
    return {data_, size_};
  }  // page-aligned; empty for an empty file

  // Lets go of the pages of `bytes`, which are a part of bytes(), and those close to them: they count no more
  // as memory of the process, and are read again from the file when they are touched.
  void let_go(std::span<const std::uint8_t> bytes) const;

  // ReadError when the file on disk has become shorter or longer than it was when it was mapped. Touching a
  // page that was cut off ends the process with an error, so long readers ask this between windows.
  void require_unchanged() const;

 private:
  void close() noexcept;

  std::string path_;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
  MappedRegion region_;
};

}  // namespace semicrf
