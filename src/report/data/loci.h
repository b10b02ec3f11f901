// Which places of the genome a report shows, and what is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/data/basis.h"

namespace semicrf {

// Columns of a picture: so many bins each are drawn as one.
inline constexpr std::int64_t kLocusColumns = 480;

struct Locus {
  std::string why;  // "typical", or what the user named
  std::size_t part = 0;
  BinRange bins;
  std::int64_t group = 1;                       // bins of a column
  std::vector<std::vector<float>> tracks = {};  // by track: means of columns; NaN where there is no value
  std::vector<float> boundary = {};             // largest probability of a column; empty: not given
  std::vector<std::vector<float>> labels = {};  // by label: mean probability of columns; empty: not given

  std::size_t columns() const { return (bins.size() + group - 1) / group; }
};

// Segments to compare with, by part; empty: none.
using TrueSegments = std::vector<std::vector<Segment>>;

// Chosen by rules that depend on the files alone: where shares of labels are most like those of the whole,
// where boundaries are least certain, with most segments, with most bases that differ from the truth, with
// the longest segment, and with the longest one of the rarest label. Windows hold twelve segments of mean
// length; of equally good ones the first is taken; none overlaps another one. `boundary` may be empty.
// `inside`: they lie in one of these; empty: anywhere.
std::vector<Locus> choose_loci(const ReportBasis& basis, const BinValues& boundary, const TrueSegments& truth,
                               std::span<const Locus> inside = {});

inline constexpr std::int64_t kMostBinsOfColumn = 16;  // a picture with more shows no segments

// Those that the user names. InputError: beyond the parts or without a segment.
std::vector<Locus> named_loci(const ReportOptions& options, const ReportBasis& basis);

// A value for each column from those of the locus's bins; NaN is no value.
enum class ColumnRule { kMean, kLargest };
std::vector<float> columns_of(const Locus& locus, std::span<const float> values, ColumnRule rule);

// The values of the locus among those of all bins of its part (or none).
inline std::span<const float> within(const Locus& locus, const std::vector<float>& values) {
  if (values.empty()) return {};
  return std::span(values).subspan(locus.bins.begin, locus.bins.size());
}

// What the tracks have in the segments of each label, and at the loci.
struct SignalSum {
  std::int64_t bins = 0;  // with a value
  double sum = 0, squares = 0;

  double mean() const { return sum / static_cast<double>(bins); }
  double deviation() const;  // standard deviation
};

struct Signal {
  std::size_t tracks = 0;
  std::vector<SignalSum> sums;  // (C, tracks) row-major: of the bins of each label

  const SignalSum& of(std::size_t label, std::size_t track) const { return sums[label * tracks + track]; }
};

// Reads every bin of the parts that have segments once; fills Locus::tracks. Values that are not finite do
// not count. The sums run from left to right, whatever `threads` read the files.
Signal measure_signal(const ReportBasis& basis, std::vector<Locus>& loci, int threads);

}  // namespace semicrf
