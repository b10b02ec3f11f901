// Reads arrays of a Zarr store in a folder: version 2 (.zarray) and 3 (zarr.json), numbers of either byte
// order, chunks in C order that are not compressed or by gzip, zlib, zstd or blosc. A chunk is unpacked when
// a row of it is wanted, and the last ones are kept.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"

namespace semicrf {

// Which of the two a folder is, by the metadata in it.
enum class ZarrNode { kNone, kGroup, kArray };
ZarrNode zarr_node(const std::string& folder);

// An attribute of a group or an array that is text. InputError: damaged metadata.
std::optional<std::string> zarr_attribute(const std::string& folder, const char* key);

// What the metadata of an array says, checked.
struct ZarrLayout {
  enum class Kind { kFloat, kInteger, kUnsigned, kText };
  enum class Packing { kNone, kGzip, kZlib, kZstd, kBlosc };

  Kind kind = Kind::kFloat;
  std::size_t item_bytes = 4;  // text: 4 for each character
  bool big_endian = false;
  std::vector<std::int64_t> shape;  // one or two dimensions
  std::vector<std::int64_t> chunk;  // as many dimensions
  Packing packing = Packing::kNone;
  double fill = 0;     // values of chunks that are not there
  std::string prefix;  // begins the names of chunks: "", or "c" and the separator
  char separator = '.';

  std::size_t chunk_bytes() const;
};

// Called by several threads at once.
class ZarrArray {
 public:
  // ReadError, InputError: no array, damaged metadata, or what this reader does not know (sharding, filters,
  // other compressions, chunks of more than 256 MiB).
  explicit ZarrArray(const std::string& folder);
  ~ZarrArray();

  const std::string& path() const { return folder_; }
  const ZarrLayout& layout() const { return layout_; }
  std::int64_t rows() const { return layout_.shape[0]; }
  std::int64_t columns() const { return layout_.shape.size() == 1 ? 1 : layout_.shape[1]; }

  // Rows [begin, end) of an array of floating-point numbers, row-major.
  void read_rows(std::int64_t begin, std::int64_t end, float* out) const;
  // Entries [begin, end) of a list of integers.
  void read_integers(std::int64_t begin, std::int64_t end, std::int64_t* out) const;
  // All entries of a list of texts, as UTF-8.
  std::vector<std::string> read_texts() const;

  [[noreturn]] void fail(const std::string& what, const std::string& advice = "") const;

 private:
  using Bytes = std::shared_ptr<const std::uint8_t[]>;
  // The unpacked chunk, null where it is not there.
  Bytes chunk(std::int64_t row, std::int64_t column) const;
  Bytes read_chunk(const std::string& name) const;

  std::string folder_;
  ZarrLayout layout_;
  std::size_t most_kept_;
  mutable std::mutex mutex_;
  // The last one used is the last.
  mutable std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, Bytes>> kept_;
};

}  // namespace semicrf
