// A list of byte blobs that moves to disk when it grows.
//
// Blobs stay in memory up to a limit, later ones go to one unnamed file that vanishes with the process,
// however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

// An empty file without a name in the system's folder for temporary files, which vanishes with the process.
class UnnamedFile {
 public:
  UnnamedFile();  // WriteError: it cannot be made
  ~UnnamedFile();
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  // By which this process can open it, for writing once and for reading.
  std::string path() const { return "/dev/fd/" + std::to_string(descriptor_); }
  void append(std::span<const std::byte> content);  // WriteError: full disk

 private:
  int descriptor_;
};

// A long text, written once from its begin to its end and read once, that moves to disk when it grows.
// Keeps a MiB in memory and the rest in an unnamed temporary file. Errors are those of TempSpool.
class SpooledText {
 public:
  void append(std::string_view text) {
    open_ += text;
    if (open_.size() < kBlock) return;
    if (!blocks_) blocks_ = std::make_unique<TempSpool>(kInMemory, "");
    blocks_->append(std::as_bytes(std::span(open_)));
    open_.clear();
  }
  bool empty() const { return !blocks_ && open_.empty(); }

  // Calls visit(std::string_view) for the parts of the text, one after the other.
  template <class Visit>
  void visit(Visit visit) const {
    std::string block;
    for (std::size_t i = 0; blocks_ && i < blocks_->size(); ++i) {
      block.resize(blocks_->blob_size(i));
      blocks_->read(i, std::as_writable_bytes(std::span(block)));
      visit(std::string_view(block));
    }
    visit(std::string_view(open_));
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{64} << 10, kInMemory = std::size_t{1} << 20;  // bytes
  std::unique_ptr<TempSpool> blocks_;
  std::string open_;  // behind the blocks
};

}  // namespace semicrf
