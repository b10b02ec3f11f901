#include "report/data/signal.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace semicrf {
namespace {

constexpr std::int64_t kSlab = 1 << 16;  // rows read at a time

// Rows [begin, end) of a part.
struct Slab {
  std::size_t part = 0;
  std::int64_t begin = 0, end = 0;
  ScoreArray rows;
  const std::vector<std::uint8_t>& missing;
  std::size_t columns = 0;

  float at(std::int64_t bin, std::size_t column) const {
    const auto row = static_cast<std::size_t>(bin - begin);
    if (!missing.empty() && missing[row] != 0) return std::numeric_limits<float>::quiet_NaN();
    const std::size_t i = row * columns + column;
    return rows.f32 != nullptr ? rows.f32[i] : static_cast<float>(rows.f64[i]);
  }
};

void add_segments(const std::vector<Segment>& segments, std::size_t& next, const Slab& slab, Signal& signal) {
  while (next < segments.size() && segments[next].end <= slab.begin) ++next;
  for (std::size_t s = next; s < segments.size() && segments[s].begin < slab.end; ++s) {
    SignalSum* const sums = signal.sums.data() + static_cast<std::size_t>(segments[s].label) * slab.columns;
    const std::int64_t end = std::min(segments[s].end, slab.end);
    for (std::int64_t bin = std::max(segments[s].begin, slab.begin); bin < end; ++bin)
      for (std::size_t column = 0; column < slab.columns; ++column) {
        const auto value = static_cast<double>(slab.at(bin, column));
        if (!std::isfinite(value)) continue;
        sums[column].bins += 1;
        sums[column].sum += value;
        sums[column].squares += value * value;
      }
  }
}

}  // namespace

double SignalSum::deviation() const {
  const double m = mean();
  return std::sqrt(std::max(0.0, squares / static_cast<double>(bins) - m * m));
}

Signal measure_signal(const ReportBasis& basis, std::vector<Locus>& loci, int threads) {
  Signal signal;
  signal.tracks = basis.tracks.size();
  signal.sums.resize(basis.num_labels() * signal.tracks);
  std::vector<std::vector<std::vector<float>>> at_loci(loci.size());  // by locus and track: bins
  for (auto& tracks : at_loci) tracks.resize(signal.tracks);
  std::vector<std::vector<std::size_t>> loci_of(basis.parts.size());
  for (std::size_t l = 0; l < loci.size(); ++l) loci_of[loci[l].part].push_back(l);
  RowBuffer buffer;
  for (std::size_t index = 0; index < basis.parts.size(); ++index) {
    const Part& part = basis.parts[index];
    if (part.segments.empty()) continue;
    ReadOptions read;
    read.threads = threads;
    const std::shared_ptr<SequenceScores> scores = basis.inputs->open_scores(index, read);
    std::size_t next = 0;
    for (std::int64_t begin = 0; begin < part.bins; begin += kSlab) {
      const std::int64_t end = std::min(part.bins, begin + kSlab);
      const ScoreArray rows = scores->rows->read(begin, end, buffer);
      const Slab slab{index, begin, end, rows, buffer.missing, signal.tracks};
      add_segments(part.segments, next, slab, signal);
      for (const std::size_t l : loci_of[index]) {
        const std::int64_t last = std::min(end, loci[l].bins.end);
        for (std::int64_t bin = std::max(begin, loci[l].bins.begin); bin < last; ++bin)
          for (std::size_t f = 0; f < signal.tracks; ++f) {
            const float value = slab.at(bin, f);
            at_loci[l][f].push_back(std::isfinite(value) ? value : std::numeric_limits<float>::quiet_NaN());
          }
      }
    }
  }
  for (std::size_t l = 0; l < loci.size(); ++l)
    for (const std::vector<float>& values : at_loci[l])
      loci[l].tracks.push_back(columns_of(loci[l], values, ColumnRule::kMean));
  return signal;
}

}  // namespace semicrf
