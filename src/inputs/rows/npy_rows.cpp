// Rows of NPY arrays.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>

#include "core/error.h"
#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "inputs/rows/row_reader.h"
#include "model/scores/feature_transform.h"
#include "model/scores/score_source.h"

namespace semicrf {
namespace {

constexpr std::int64_t kCheckedRows = 1 << 12;  // per task of a thread: several for each in a slab of a scan

// A stretch of rows that were checked, which grows at its end.
class CheckedRows {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    const bool joins = begin >= rows_.begin && begin <= rows_.end;
    rows_ = joins ? PositionRange{rows_.begin, std::max(end, rows_.end)} : PositionRange{begin, end};
  }
  // The first of rows [begin, end) that may not have been checked; `end`: all were.
  std::int64_t unchecked(std::int64_t begin, std::int64_t end) const {
    return begin >= rows_.begin && begin <= rows_.end ? std::min(end, rows_.end) : begin;
  }

 private:
  PositionRange rows_;
};

class NpyScoreRows : public RowReader {
 public:
  NpyScoreRows(NpyArray array, Precision precision, int threads)
      : array_(std::move(array)),
        threads_(threads),
        in_place_(array_.data_f32() != nullptr || array_.data_f64() != nullptr),
        wide_(precision == Precision::kDouble || array_.header().type == NpyType::kFloat64) {}

  std::int64_t rows() const override { return array_.rows(); }
  std::size_t columns() const override { return array_.columns(); }
  std::size_t bytes_per_row() const override {
    return in_place_ ? 0 : columns() * (wide_ ? sizeof(double) : sizeof(float));
  }
  std::size_t value_bytes() const override {
    const bool wide = in_place_ ? array_.data_f64() != nullptr : wide_;
    return columns() * (wide ? sizeof(double) : sizeof(float));
  }
  ScoreArray in_place() const override { return {array_.data_f32(), array_.data_f64()}; }
  void assume_checked(std::int64_t begin, std::int64_t end) override { checked_.add(begin, end); }
  bool can_miss() const override { return false; }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    buffer.missing.clear();
    array_.require_unchanged();
    const std::size_t skip = begin * columns();
    if (array_.data_f32() != nullptr) return {checked(array_.data_f32() + skip, begin, end), nullptr};
    if (array_.data_f64() != nullptr) return {nullptr, checked(array_.data_f64() + skip, begin, end)};
    if (wide_) return {nullptr, copied(buffer.f64, begin, end)};
    return {copied(buffer.f32, begin, end), nullptr};
  }

 private:
  // The first refused value is named, whatever the threads; rows in place are checked once.
  template <class Value>
  const Value* checked(const Value* values, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = in_place_ ? checked_.unchecked(begin, end) : begin;
    parallel_ranges(threads_, first, end, kCheckedRows, [&](std::int64_t from, std::int64_t to) {
      const std::span<const Value> span(values + (from - begin) * columns(), (to - from) * columns());
      check_values(span, array_.columns(), from, ValueRule::kScores, array_.name());
    });
    assume_checked(begin, end);
    return values;
  }
  template <class Value>
  const Value* copied(std::vector<Value>& buffer, std::int64_t begin, std::int64_t end) {
    resize_large(buffer, (end - begin) * columns());
    array_.read_rows(begin, end, buffer.data());
    return checked(buffer.data(), begin, end);
  }

  NpyArray array_;
  int threads_;
  CheckedRows checked_;  // checks the rows in place
  bool in_place_;
  bool wide_;
};

// Whether finite values of the track are its features as they are.
bool is_unchanged(const Track& track) {
  return track.transform == Transform::kNone && track.center == 0 && track.scale == 1;
}

// Rows that have all values and need no transform are used where they lie; others are copied.
class NpyTrackRows : public RowReader {
 public:
  NpyTrackRows(NpyArray array, std::vector<Track> tracks, Precision precision, int threads)
      : array_(std::move(array)),
        tracks_(std::move(tracks)),
        threads_(threads),
        wide_(precision == Precision::kDouble) {
    for (const Track& track : tracks_) can_miss_ = can_miss_ || track.missing == MissingPolicy::kSkip;
    if (!std::ranges::all_of(tracks_, is_unchanged)) return;
    if (wide_) {
      in_place_.f64 = array_.data_f64();
    } else {
      in_place_.f32 = array_.data_f32();
    }
    usable_ = !in_place_.empty();
  }

  std::int64_t rows() const override { return array_.rows(); }
  std::size_t columns() const override { return tracks_.size(); }
  std::size_t bytes_per_row() const override { return columns() * (wide_ ? sizeof(double) : sizeof(float)); }
  ScoreArray in_place() const override { return usable_ ? in_place_ : ScoreArray{}; }
  void assume_checked(std::int64_t begin, std::int64_t end) override { sound_.add(begin, end); }
  bool can_miss() const override { return can_miss_; }
  void count_into(std::shared_ptr<MissingCounter> counter) override { counter_ = std::move(counter); }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    array_.require_unchanged();
    if (usable_) {
      const std::size_t skip = begin * columns();
      usable_ = wide_ ? are_sound(in_place_.f64, begin, end) : are_sound(in_place_.f32, begin, end);
      if (usable_) {
        if (counter_) counter_->take(begin, end);
        buffer.missing.assign(can_miss_ ? end - begin : 0, 0);
        return wide_ ? ScoreArray{nullptr, in_place_.f64 + skip} : ScoreArray{in_place_.f32 + skip, nullptr};
      }
    }
    if (wide_) return {nullptr, transformed(buffer.f64, buffer.missing, begin, end)};
    return {transformed(buffer.f32, buffer.missing, begin, end), nullptr};
  }

 private:
  // Whether all values of rows in place are finite.
  template <class Value>
  bool are_sound(const Value* values, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = sound_.unchecked(begin, end);
    std::atomic<bool> sound{true};
    parallel_ranges(threads_, first, end, kCheckedRows, [&](std::int64_t from, std::int64_t to) {
      if (sound && !are_finite(values + from * columns(), (to - from) * columns())) sound = false;
    });
    if (sound) sound_.add(begin, end);
    return sound;
  }
  // 0 times a number is a number where that one is finite alone.
  template <class Value>
  static bool are_finite(const Value* values, std::size_t count) {
    bool finite = true;
    for (std::size_t i = 0; i < count; ++i) finite &= values[i] * 0 == 0;
    return finite;
  }

  // Several threads make parts of the rows; the first refused value is named whatever their number.
  template <class Value>
  const Value* transformed(std::vector<Value>& values, std::vector<std::uint8_t>& missing, std::int64_t begin,
                           std::int64_t end) const {
    const std::size_t n = end - begin;
    resize_large(values, n * columns());
    missing.assign(can_miss_ ? n : 0, 0);
    const std::vector<BinRange> counted = counter_ ? counter_->take(begin, end) : std::vector<BinRange>{};
    std::mutex mutex;  // guards the counter
    parallel_ranges(threads_, begin, end, kCheckedRows, [&](std::int64_t from, std::int64_t to) {
      const BinRange part{from, to};
      const std::size_t skip = part.begin - begin;
      const std::span<Value> rows(values.data() + skip * columns(), part.size() * columns());
      array_.read_rows(part.begin, part.end, rows.data());
      check_values(std::span<const Value>(rows), array_.columns(), part.begin, ValueRule::kTrack,
                   array_.name());
      std::vector<std::size_t> absent;  // entries that become NaN again
      if (has_nan(std::span<const Value>(rows))) {
        if (counter_) count_missing_of(std::span<const Value>(rows), part, counted, mutex);
        absent = replace_missing(rows, part.begin, missing.empty() ? nullptr : missing.data() + skip);
      }
      if (const auto bad = transform_rows(tracks_, rows.data(), part.size()))
        refuse(*bad, part.begin, transform_problem(tracks_[*bad % columns()], raw_value(*bad, part.begin)));
      for (const std::size_t entry : absent) rows[entry] = std::numeric_limits<Value>::quiet_NaN();
    });
    return values.data();
  }

  template <class Value>
  static bool has_nan(std::span<const Value> values) {
    bool found = false;
    for (const Value value : values) found |= value != value;
    return found;
  }

  template <class Value>
  void count_missing_of(std::span<const Value> rows, const BinRange& part,
                        const std::vector<BinRange>& counted, std::mutex& mutex) const {
    std::vector<std::int64_t> missing(columns());
    for (const BinRange& bins : counted) {
      const std::int64_t from = std::max(bins.begin, part.begin), to = std::min(bins.end, part.end);
      for (std::int64_t bin = from; bin < to; ++bin)
        for (std::size_t f = 0; f < columns(); ++f)
          missing[f] += std::isnan(rows[(bin - part.begin) * columns() + f]) ? 1 : 0;
    }
    const std::lock_guard lock(mutex);
    for (std::size_t f = 0; f < columns(); ++f)
      if (missing[f] > 0) counter_->add(f, missing[f], 0);
  }

  // The entries whose tracks keep their absence. `missing`: of the first row; null where no bin can be
  // missing.
  template <class Value>
  std::vector<std::size_t> replace_missing(std::span<Value> rows, std::int64_t begin,
                                           std::uint8_t* missing) const {
    std::vector<std::size_t> absent;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!std::isnan(rows[i])) continue;
      rows[i] = value_of_missing<Value>(i, begin, missing);
      if (keeps_absence(tracks_[i % columns()])) absent.push_back(i);
    }
    return absent;
  }

  template <class Value>
  Value value_of_missing(std::size_t entry, std::int64_t begin, std::uint8_t* missing) const {
    const Track& track = tracks_[entry % columns()];
    if (track.missing == MissingPolicy::kError)
      refuse(entry, begin,
             "track \"" + track.name + "\" has no value (NaN) and its \"missing\" is \"error\"");
    if (track.missing == MissingPolicy::kSkip) missing[entry / columns()] = 1;
    return 0;
  }

  double raw_value(std::size_t entry, std::int64_t begin) const {
    std::vector<double> row(columns());
    const std::int64_t position = begin + static_cast<std::int64_t>(entry / columns());
    array_.read_rows(position, position + 1, row.data());
    return row[entry % columns()];
  }

  [[noreturn]] void refuse(std::size_t entry, std::int64_t begin, const std::string& what) const {
    const std::int64_t row = begin + static_cast<std::int64_t>(entry / columns());
    throw InputError({array_.name(), fmt::format("row {} column {}", row, entry % columns()), what, ""});
  }

  NpyArray array_;
  std::vector<Track> tracks_;
  int threads_;
  ScoreArray in_place_;                      // empty: the values are not the features
  std::atomic<bool> usable_{false};          // in place, as far as is known
  CheckedRows sound_;                        // checks the rows in place
  std::shared_ptr<MissingCounter> counter_;  // or null
  bool wide_;
  bool can_miss_ = false;
};

// Everything in memory, in the type it was read in.
class CachedRows : public RowReader {
 public:
  explicit CachedRows(std::unique_ptr<RowReader> rows) : rows_(std::move(rows)) {}

  std::int64_t rows() const override { return rows_->rows(); }
  std::size_t columns() const override { return rows_->columns(); }
  std::size_t bytes_per_row() const override { return 0; }
  std::size_t value_bytes() const override { return rows_->value_bytes(); }
  bool can_miss() const override { return rows_->can_miss(); }
  void count_into(std::shared_ptr<MissingCounter> counter) override { rows_->count_into(std::move(counter)); }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    if (!loaded_) {
      all_ = rows_->read(0, rows_->rows(), memory_);
      loaded_ = true;
    }
    if (can_miss()) buffer.missing.assign(memory_.missing.begin() + begin, memory_.missing.begin() + end);
    const std::size_t skip = begin * columns();
    ScoreArray part = all_;
    if (part.f32 != nullptr) part.f32 += skip;
    if (part.f64 != nullptr) part.f64 += skip;
    return part;
  }

 private:
  std::unique_ptr<RowReader> rows_;
  RowBuffer memory_;
  ScoreArray all_;
  bool loaded_ = false;
};

}  // namespace

std::unique_ptr<RowReader> make_score_rows(NpyArray array, Precision precision, int threads) {
  return std::make_unique<NpyScoreRows>(std::move(array), precision, threads);
}

std::unique_ptr<RowReader> make_track_rows(NpyArray array, std::vector<Track> tracks, Precision precision,
                                           int threads) {
  return std::make_unique<NpyTrackRows>(std::move(array), std::move(tracks), precision, threads);
}

std::unique_ptr<RowReader> make_cached_rows(std::unique_ptr<RowReader> rows) {
  return std::make_unique<CachedRows>(std::move(rows));
}

}  // namespace semicrf
