// Rows of features from bigWig tracks: bin values, missing policies, transforms.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "inputs/rows/row_reader.h"
#include "model/scores/feature_transform.h"
#include "model/scores/score_source.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSlab = 1 << 16;  // bins per task: 12 bytes each while they are summed

class BigWigRowReader : public RowReader {
 public:
  BigWigRowReader(BigWigRows input, Precision precision, int threads)
      : input_(std::move(input)),
        rows_((input_.length + input_.bin_size - 1) / input_.bin_size),
        wide_(precision == Precision::kDouble),
        threads_(threads) {
    for (const BigWigColumn& column : input_.columns)
      can_miss_ = can_miss_ || column.track.missing == MissingPolicy::kSkip;
  }

  std::int64_t rows() const override { return rows_; }
  std::size_t columns() const override { return input_.columns.size(); }
  std::size_t bytes_per_row() const override { return columns() * (wide_ ? sizeof(double) : sizeof(float)); }
  bool can_miss() const override { return can_miss_; }
  void count_into(std::shared_ptr<MissingCounter> counter) override { counter_ = std::move(counter); }

  ScoreArray read(std::int64_t begin, std::int64_t end, RowBuffer& buffer) override {
    if (wide_) return {nullptr, fill(buffer.f64, buffer.missing, begin, end)};
    return {fill(buffer.f32, buffer.missing, begin, end), nullptr};
  }

 private:
  // One thread per track; with fewer tracks than threads a file decompresses its own blocks in parallel.
  template <class Value>
  const Value* fill(std::vector<Value>& values, std::vector<std::uint8_t>& missing, std::int64_t begin,
                    std::int64_t end) {
    const std::size_t n = end - begin;
    resize_large(values, n * columns());
    const int inner = std::max(1, threads_ / static_cast<int>(columns()));
    const std::vector<BinRange> counted = counter_ ? counter_->take(begin, end) : std::vector<BinRange>();
    std::vector<std::vector<std::uint8_t>> missing_of(columns());
    parallel_for(threads_, columns(), [&](std::size_t column, int) {
      if (input_.columns[column].track.missing == MissingPolicy::kSkip) missing_of[column].assign(n, 0);
      for (std::int64_t slab = begin; slab < end; slab += kSlab)
        fill_slab(column, slab, std::min(end, slab + kSlab), values.data() + (slab - begin) * columns(),
                  missing_of[column].empty() ? nullptr : missing_of[column].data() + (slab - begin), counted,
                  inner);
    });
    missing.assign(can_miss_ ? n : 0, 0);
    for (const std::vector<std::uint8_t>& flags : missing_of)
      for (std::size_t i = 0; i < flags.size(); ++i) missing[i] |= flags[i];
    return values.data();
  }

  // Column `column` of bins [begin, end) into rows starting at `rows`.
  template <class Value>
  void fill_slab(std::size_t column, std::int64_t begin, std::int64_t end, Value* rows, std::uint8_t* missing,
                 const std::vector<BinRange>& counted, int threads) {
    const BigWigColumn& input = input_.columns[column];
    const std::int64_t n = end - begin;
    std::vector<double> sum(n);
    std::vector<std::uint32_t> covered(n);
    if (input.chrom) input.file->bin_sums(*input.chrom, begin, input_.bin_size, {sum, covered}, threads);
    count_missing_of(column, begin, covered, counted);
    Value* out = rows + column;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t bases = bin_bases(begin + i);
      if (covered[i] < bases && input.track.missing == MissingPolicy::kError)
        refuse(input, begin + i,
               fmt::format("{} bases have no value and \"missing\" of track \"{}\" is \"error\"",
                           bases - covered[i], input.track.name));
      if (missing != nullptr && covered[i] == 0) missing[i] = 1;
      const double over = is_zero(input.track) ? static_cast<double>(bases) : std::max<double>(covered[i], 1);
      sum[i] /= over;
      out[i * columns()] = static_cast<Value>(sum[i]);
    }
    if (const auto bad = transform_values(input.track, out, n, columns()))
      refuse(input, begin + static_cast<std::int64_t>(*bad), transform_problem(input.track, sum[*bad]));
    if (!keeps_absence(input.track)) return;
    for (std::int64_t i = 0; i < n; ++i)
      if (covered[i] == 0) out[i * columns()] = std::numeric_limits<Value>::quiet_NaN();
  }

  // Whether bases without a value are values of 0, or else the others of the bin are averaged.
  static bool is_zero(const Track& track) {
    return track.missing != MissingPolicy::kSkip && !keeps_absence(track);
  }

  // `covered`: bases with a value of the bins from `begin` on.
  void count_missing_of(std::size_t column, std::int64_t begin, const std::vector<std::uint32_t>& covered,
                        const std::vector<BinRange>& counted) const {
    const std::int64_t end = begin + std::ssize(covered);
    std::int64_t bins = 0;
    std::int64_t bases = 0;
    for (const BinRange& range : counted) {
      for (std::int64_t bin = std::max(begin, range.begin); bin < std::min(end, range.end); ++bin) {
        const std::int64_t with_value = covered[bin - begin];
        bins += with_value == 0 ? 1 : 0;
        bases += bin_bases(bin) - with_value;
      }
    }
    if (bases > 0) counter_->add(column, bins, bases);
  }

  std::int64_t bin_bases(std::int64_t bin) const {
    return std::min(input_.bin_size, input_.length - bin * input_.bin_size);
  }

  [[noreturn]] void refuse(const BigWigColumn& input, std::int64_t bin, const std::string& what) const {
    const std::int64_t first = bin * input_.bin_size + 1;
    throw InputError({input.file->path(),
                      fmt::format("{}:{}-{}", input_.chromosome, first, first + bin_bases(bin) - 1), what,
                      ""});
  }

  BigWigRows input_;
  std::int64_t rows_;
  bool wide_;
  bool can_miss_ = false;
  int threads_;
  std::shared_ptr<MissingCounter> counter_;  // or null
};

}  // namespace

std::unique_ptr<RowReader> make_bigwig_rows(BigWigRows rows, Precision precision, int threads) {
  return std::make_unique<BigWigRowReader>(std::move(rows), precision, threads);
}

}  // namespace semicrf
