// A list of byte blobs that moves to disk when it grows.
//
// Blobs stay in memory up to a limit, later ones go to one unnamed file that vanishes with the process,
// however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace semicrf {

// Not thread-safe. WriteError when the file cannot be made or written (full disk), ReadError when it cannot
// be read.
class TempSpool {
 public:
  // At most `memory_limit` bytes of blobs are kept in memory. `folder` is where the file is made if there is
  // need for one; empty: the system's folder for temporary files (TMPDIR).
  TempSpool(std::size_t memory_limit, std::string folder);
  TempSpool(const TempSpool&) = delete;
  TempSpool& operator=(const TempSpool&) = delete;
  ~TempSpool();

  std::size_t size() const { return blobs_.size(); }
  // Index of the new blob: 0, 1, 2, ...
  std::size_t append(std::span<const std::byte> blob);
  // Puts another content in the place of blob `index`. Space in the file is reused only when the new one is
  // not longer.
  void replace(std::size_t index, std::span<const std::byte> blob);
  std::size_t blob_size(std::size_t index) const { return blobs_.at(index).size; }
  // Copies blob `index` into `out`, which has blob_size(index) bytes.
  void read(std::size_t index, std::span<std::byte> out) const;

  std::size_t bytes_in_memory() const { return in_memory_; }
  std::uint64_t bytes_on_disk() const { return file_end_; }

 private:
  struct Blob {
    std::vector<std::byte> memory;  // empty when on disk
    std::uint64_t offset = 0;       // in the file
    std::size_t size = 0;
    std::size_t capacity = 0;  // bytes the blob owns in the file, 0: in memory
  };
  void store(Blob& blob, std::span<const std::byte> content);
  void open_file();
  void write_at(std::uint64_t offset, std::span<const std::byte> content);

  std::vector<Blob> blobs_;
  std::size_t memory_limit_;
  std::size_t in_memory_ = 0;
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t file_end_ = 0;
};

}  // namespace semicrf
