// Rows of numbers of one whole sequence: label scores, or features (transformed tracks).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/score_window.h"
#include "engine/engine.h"
#include "inputs/rows/missing_values.h"
#include "inputs/rows/random_stream.h"
#include "io/arrays/npy_reader.h"
#include "io/bigwig/bigwig_reader.h"
#include "model/parameters.h"
#include "model/scores/densities.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Not thread-safe.
class RowReader {
 public:
  virtual ~RowReader() = default;
  virtual std::int64_t rows() const = 0;
  virtual std::size_t columns() const = 0;
  // Bytes per row of `buffer` after a read; 0 when rows are used where they lie.
  virtual std::size_t bytes_per_row() const = 0;
  // Bytes of a row's values, wherever rows are used.
  virtual std::size_t value_bytes() const { return bytes_per_row(); }
  // All rows where they lie in memory, not checked; empty where they do not. Values that are missing are NaN,
  // which read() replaces.
  virtual ScoreArray in_place() const { return {}; }
  // Rows [begin, end) of in_place() were found sound by somebody else.
  virtual void assume_checked(std::int64_t /*begin*/, std::int64_t /*end*/) {}
  // Whether some bins may be missing.
  virtual bool can_miss() const = 0;
  // From now on counts the values that tracks lack. Label scores of arrays lack none.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): readers that count keep it
  virtual void count_into(std::shared_ptr<MissingCounter> /*counter*/) {}
  // Rows [begin, end), (end-begin, columns) row-major, checked; valid until the buffer is used again.
  virtual ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) = 0;
};

// Label scores of an NPY array: finite or -inf, used in place where the array's layout allows it.
std::unique_ptr<RowReader> make_score_rows(NpyArray array, Precision precision, int threads = 1);

// Features of an NPY array of raw track values, column f being tracks[f]. NaN follows the track's policy;
// with kMean and kMarginal, here and below, it is the feature too (see make_derived_rows).
std::unique_ptr<RowReader> make_track_rows(NpyArray array, std::vector<Track> tracks, Precision precision,
                                           int threads = 1);

// The bins of one chromosome of bigWig files.
struct BigWigColumn {
  BigWigFile* file = nullptr;        // one column's file is no other's
  std::optional<std::size_t> chrom;  // index in its chromosome list; absent: it has no value here
  Track track;
};
struct BigWigRows {
  std::vector<BigWigColumn> columns;
  std::string chromosome;
  std::int64_t length = 0;  // bases
  std::int64_t bin_size = 1;
};
std::unique_ptr<RowReader> make_bigwig_rows(BigWigRows rows, Precision precision, int threads);

// Random rows: entry i (row-major) is half i % 2 of pair i / 2 of normals() of the stream (key,
// kEmissionPurpose), rounded to float: a label score, or the feature of a track whose raw value is given.
struct RandomRows {
  std::uint64_t key = 0;
  std::int64_t rows = 0;
  std::size_t columns = 0;
  std::vector<Track> tracks;  // (columns), empty: label scores
};
// Raw values of rows [begin, end), (end-begin, columns).
void fill_random_rows(const RandomRows& rows, std::int64_t begin, std::int64_t end, float* out);
// Label scores or features.
std::unique_ptr<RowReader> make_random_rows(RandomRows rows, Precision precision);

// Columns behind those of the input tracks: squares of some of them, then indicators (1 where the column has
// this value, else 0), log densities (0 where a value is missing) and absences (1 where the column has no
// value, else 0). NaN in a column of the inputs becomes 0.
struct DensityColumn {
  std::size_t of = 0, beside = 0;  // columns of the inputs; the second is that of `of` where there are none
  DensityFunction function;
};
struct DerivedColumns {
  std::vector<std::size_t> squared, indicated, absent;  // columns of the inputs
  std::vector<double> values;                           // that the indicators look for
  std::vector<DensityColumn> densities;
  bool can_lack = false;  // whether some column may have NaN

  std::size_t columns() const { return squared.size() + indicated.size() + densities.size() + absent.size(); }
  bool empty() const { return columns() == 0 && !can_lack; }
};
// One row of inputs with these columns behind.
template <class Value>
void derive_row(const DerivedColumns& derived, std::size_t inputs, const Value* from, Value* row) {
  std::copy_n(from, inputs, row);
  if (derived.can_lack)
    std::replace_if(
        row, row + inputs, [](Value value) { return std::isnan(value); }, Value{0});
  Value* out = row + inputs;
  for (const std::size_t f : derived.squared) *out++ = row[f] * row[f];
  for (std::size_t i = 0; i < derived.indicated.size(); ++i)
    *out++ = from[derived.indicated[i]] == static_cast<Value>(derived.values[i]) ? Value{1} : Value{0};
  for (const DensityColumn& density : derived.densities)
    *out++ = static_cast<Value>(density.function(from[density.of], from[density.beside]));
  for (const std::size_t f : derived.absent) *out++ = std::isnan(from[f]) ? Value{1} : Value{0};
}
// The rows with these columns; none, and no NaN: `rows` themselves.
std::unique_ptr<RowReader> make_derived_rows(std::unique_ptr<RowReader> rows, DerivedColumns derived,
                                             int threads);

// Reads everything once and keeps it: for rows that are dear to read and small enough to hold.
std::unique_ptr<RowReader> make_cached_rows(std::unique_ptr<RowReader> rows);

}  // namespace semicrf
