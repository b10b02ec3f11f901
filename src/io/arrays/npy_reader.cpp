#include "io/arrays/npy_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "io/arrays/half.h"
#include "io/files/byte_view.h"
#include "io/files/mapped_file.h"

namespace semicrf {
namespace {

[[noreturn]] void fail_value(const std::string& file, std::int64_t row, std::int64_t column,
                             const std::string& what, const std::string& advice) {
  throw InputError({file, fmt::format("row {}, column {}", row, column), what, advice});
}

// Whether a finite double turned into an infinite float.
template <typename Out, typename Stored>
bool overflowed(Out out, Stored stored) {
  if constexpr (std::is_same_v<Out, float> && std::is_same_v<Stored, double>) {
    return std::isinf(out) && !std::isinf(stored);
  } else {
    return false;
  }
}

// `rows` rows of the array at `data` from row `begin` to `out`. Returns whether any value overflowed.
template <typename Stored, bool kSwap, typename Out>
bool copy_rows(const std::uint8_t* data, const NpyHeader& header, std::int64_t begin, std::int64_t rows,
               Out* out) {
  const std::size_t columns = header.columns;
  const std::size_t count = rows;
  bool overflow = false;
  const auto convert = [&](const std::uint8_t* from, Out& to) {
    const auto stored = load_number<Stored, kSwap>(from);
    to = static_cast<Out>(stored);
    overflow |= overflowed(to, stored);
  };
  if (!header.fortran_order) {
    const std::uint8_t* from = data + begin * columns * sizeof(Stored);
    if constexpr (std::is_same_v<Stored, Out> && !kSwap) {
      if (count > 0) std::memcpy(out, from, count * columns * sizeof(Out));
    } else {
      for (std::size_t i = 0; i < count * columns; ++i) convert(from + i * sizeof(Stored), out[i]);
    }
    return overflow;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    const std::size_t first = c * header.rows + begin;
    const std::uint8_t* from = data + first * sizeof(Stored);
    for (std::size_t r = 0; r < count; ++r) convert(from + r * sizeof(Stored), out[r * columns + c]);
  }
  return overflow;
}

template <typename Stored, typename Out>
bool copy_rows_any_order(const std::uint8_t* data, const NpyHeader& header, std::int64_t begin,
                         std::int64_t rows, Out* out) {
  return header.big_endian ? copy_rows<Stored, true>(data, header, begin, rows, out)
                           : copy_rows<Stored, false>(data, header, begin, rows, out);
}

template <typename Out>
bool copy_rows_any_type(const std::uint8_t* data, const NpyHeader& header, std::int64_t begin,
                        std::int64_t rows, Out* out) {
  switch (header.type) {
    case NpyType::kFloat16:
      return copy_rows_any_order<Half>(data, header, begin, rows, out);
    case NpyType::kFloat32:
      return copy_rows_any_order<float>(data, header, begin, rows, out);
    case NpyType::kFloat64:
      return copy_rows_any_order<double>(data, header, begin, rows, out);
  }
  return false;
}

void check_range(std::int64_t begin, std::int64_t end, std::int64_t rows) {
  if (begin < 0 || end < begin || end > rows) throw std::logic_error("npy rows: bad range");
}

template <typename Real>
bool is_special(Real value) {
  if constexpr (sizeof(Real) == 4) {
    return (std::bit_cast<std::uint32_t>(value) & 0x7f800000u) == 0x7f800000u;
  } else {
    constexpr std::uint64_t kExponent = std::uint64_t{0x7ff} << 52;
    return (std::bit_cast<std::uint64_t>(value) & kExponent) == kExponent;
  }
}

template <typename Real>
bool is_refused(Real value, ValueRule rule) {
  if (std::isnan(value)) return rule != ValueRule::kTrack;
  return std::isinf(value) && (value > 0 || rule != ValueRule::kScores);
}

template <typename Real>
[[noreturn]] void refuse_value(Real value, ValueRule rule, std::int64_t row, std::int64_t column,
                               const std::string& file) {
  const char* what = std::isnan(value) ? "the value is NaN"
                     : value > 0       ? "the value is +Inf"
                                       : "the value is -Inf";
  const char* allowed = rule == ValueRule::kScores  ? "scores are finite or -Inf (which forbids)"
                        : rule == ValueRule::kTrack ? "use NaN for a missing value"
                                                    : "only finite values are allowed here";
  fail_value(file, row, column, what, allowed);
}

template <typename Real>
void check_any(std::span<const Real> values, std::int64_t columns, std::int64_t first_row, ValueRule rule,
               const std::string& file) {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const auto block = values.subspan(at, std::min(kBlock, values.size() - at));
    // A loop without branches first: special values are rare.
    unsigned special = 0;
    for (const Real value : block) special |= is_special(value) ? 1 : 0;
    if (special == 0) continue;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (!is_refused(block[i], rule)) continue;
      const auto index = static_cast<std::int64_t>(at + i);
      refuse_value(block[i], rule, first_row + index / columns, index % columns, file);
    }
  }
}

}  // namespace

void check_values(std::span<const float> values, std::int64_t columns, std::int64_t first_row, ValueRule rule,
                  const std::string& file) {
  check_any(values, columns, first_row, rule, file);
}

void check_values(std::span<const double> values, std::int64_t columns, std::int64_t first_row,
                  ValueRule rule, const std::string& file) {
  check_any(values, columns, first_row, rule, file);
}

NpyArray NpyArray::open(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  NpyArray array = from_bytes(file->bytes(), file, path, file);
  array.file_ = file;
  return array;
}

NpyArray NpyArray::from_bytes(std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                              const std::string& name, std::shared_ptr<const MappedFile> mapped) {
  NpyArray array;
  array.header_ = parse_npy_header(bytes, name);
  array.name_ = name;
  array.data_ = bytes.subspan(array.header_.data_offset);
  array.owner_ = std::move(owner);
  array.mapped_ = std::move(mapped);
  return array;
}

NpyArray NpyArray::of_values(const NpyHeader& layout, const void* values, std::shared_ptr<const void> owner,
                             const std::string& name) {
  NpyArray array;
  array.header_ = layout;
  array.header_.data_offset = 0;
  array.name_ = name;
  array.data_ = {static_cast<const std::uint8_t*>(values),
                 layout.rows * layout.columns * layout.item_bytes()};
  array.owner_ = std::move(owner);
  return array;
}

void NpyArray::read_rows(std::int64_t begin, std::int64_t end, float* out) const {
  check_range(begin, end, rows());
  if (!copy_rows_any_type(data_.data(), header_, begin, end - begin, out)) return;
  std::vector<double> row(columns());
  for (std::int64_t r = begin; r < end; ++r) {
    read_rows(r, r + 1, row.data());
    for (std::int64_t c = 0; c < std::ssize(row); ++c) {
      if (!overflowed(static_cast<float>(row[c]), row[c])) continue;
      fail_value(name_, r, c, fmt::format("{:.6g} is too large for single precision", row[c]),
                 "use double precision");
    }
  }
}

void NpyArray::read_rows(std::int64_t begin, std::int64_t end, double* out) const {
  check_range(begin, end, rows());
  copy_rows_any_type(data_.data(), header_, begin, end - begin, out);
}

void NpyArray::pass_rows(std::int64_t begin, std::int64_t end, float* out) const {
  read_rows(begin, end, out);
  if (!mapped_ || header_.fortran_order) return;
  const std::size_t row = columns() * header_.item_bytes();
  mapped_->let_go(data_.subspan(begin * row, (end - begin) * row));
}

template <class Value>
const Value* NpyArray::data_of(NpyType type) const {
  const bool same = header_.type == type && !header_.big_endian &&
                    (!header_.fortran_order || header_.columns == 1 || header_.rows == 1);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data_.data()) % alignof(Value) == 0;
  return same && aligned ? reinterpret_cast<const Value*>(data_.data()) : nullptr;
}

const float* NpyArray::data_f32() const { return data_of<float>(NpyType::kFloat32); }
const double* NpyArray::data_f64() const { return data_of<double>(NpyType::kFloat64); }

void NpyArray::require_unchanged() const {
  if (file_) file_->require_unchanged();
}

}  // namespace semicrf
