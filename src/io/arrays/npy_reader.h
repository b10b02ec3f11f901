// Reads NumPy .npy arrays of floating-point numbers: header versions 1 to 3, float16/32/64, either byte
// order, C or Fortran order, shape (T, C), or (T) read as (T, 1). The file is memory-mapped and never copied
// as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"

namespace semicrf {

enum class NpyType { kFloat16, kFloat32, kFloat64 };

struct NpyHeader {
  NpyType type = NpyType::kFloat32;
  bool big_endian = false;
  bool fortran_order = false;
  std::int64_t rows = 0;        // T >= 1
  std::int64_t columns = 0;     // C >= 1
  std::size_t data_offset = 0;  // bytes from the start of the array's file to its data

  std::size_t item_bytes() const;  // 2, 4 or 8
};

// The array holds something else than numbers: strings, objects, records, dates.
struct NotNumbers : InputError {
  using InputError::InputError;
};

// Parses and checks the header of the array whose whole file is `bytes`: the size must be exactly header +
// data. `name` is what errors call the file. InputError: not NPY, a malformed header, another dtype (named;
// NotNumbers where it is that), a shape that is not (T, C) or (T) with T, C >= 1, a size that does not fit.
NpyHeader parse_npy_header(std::span<const std::uint8_t> bytes, const std::string& name);

// Which special values an array may hold.
enum class ValueRule {
  kScores,  // log scores: finite or -inf
  kTrack,   // measurements: finite or NaN (no value)
  kFinite,
};

// InputError naming row and column (0-based) of the first value that `rule` refuses. `values` is row-major
// with `columns` columns, its first row being row `first_row` of `file`.
void check_values(std::span<const float> values, std::int64_t columns, std::int64_t first_row, ValueRule rule,
                  const std::string& file);
void check_values(std::span<const double> values, std::int64_t columns, std::int64_t first_row,
                  ValueRule rule, const std::string& file);

// Cheap to copy (the file is shared); const members may be called from several threads.
class NpyArray {
 public:
  // ReadError: cannot be opened. InputError: see parse_npy_header.
  static NpyArray open(const std::string& path);
  // The array whose file is `bytes` (the member of an archive); `owner` keeps them alive.
  // `mapped`: the file in which they lie, where they do.
  static NpyArray from_bytes(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                             const std::string& name,
                             std::shared_ptr<const class MappedFile> mapped = nullptr);
  // An array whose values, laid out as `layout` says, begin at `values`; `owner` keeps them alive.
  static NpyArray of_values(const NpyHeader& layout, const void* values, std::shared_ptr<const void> owner,
                            const std::string& name);

  const NpyHeader& header() const { return header_; }
  std::int64_t rows() const { return header_.rows; }
  std::int64_t columns() const { return header_.columns; }
  const std::string& name() const { return name_; }  // the file, for messages

  // Rows [begin, end), 0 <= begin <= end <= rows(), to row-major `out` of (end - begin) * columns() values.
  // Values are not checked (check_values), but a double too large for a float is an InputError naming row and
  // column.
  void read_rows(std::int64_t begin, std::int64_t end, float* out) const;
  void read_rows(std::int64_t begin, std::int64_t end, double* out) const;

  // As read_rows, for callers that go through long arrays: rows that lie in a file do not stay in memory.
  void pass_rows(std::int64_t begin, std::int64_t end, float* out) const;

  // The whole array in place, row-major, when it is stored as aligned little-endian float32 (float64); else
  // null.
  const float* data_f32() const;
  const double* data_f64() const;

  // ReadError when the file has changed size since it was opened. An array inside an archive in memory never
  // has.
  void require_unchanged() const;

 private:
  NpyArray() = default;
  template <class Value>
  const Value* data_of(NpyType type) const;

  NpyHeader header_;
  std::string name_;
  std::span<const std::uint8_t> data_;  // the values only
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;    // null when the bytes are not a file of their own
  std::shared_ptr<const MappedFile> mapped_;  // null when they lie in memory
};

}  // namespace semicrf
