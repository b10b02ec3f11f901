#include "report/data/loci.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/counts.h"
#include "core/error.h"
#include "core/sizes.h"
#include "draw/scale.h"
#include "eval/metrics/stretches.h"
#include "io/text/region.h"
#include "log/log.h"
#include "report/data/certainty.h"

namespace semicrf {

namespace {

constexpr double kSegmentsShown = 12;  // segments of mean length in a window
constexpr std::int64_t kFewestBins = 30;
constexpr double kRoom = 1.25;  // width of a window around one segment, in its lengths

// What is known of a window.
struct Window {
  std::size_t part = 0;
  BinRange bins;
  std::vector<double> shares;  // shares of labels
  double starts = 0;           // segments that start in it
  double doubt = 0;            // per bin
  double differing = 0;        // share of bins whose label differs from the truth
};

Locus make_locus(const std::string& why, std::size_t part, const BinRange& bins) {
  return {.why = why, .part = part, .bins = bins, .group = ceil_div(bins.size(), kLocusColumns)};
}

class LocusChoice {
 public:
  LocusChoice(const ReportBasis& basis, const BinValues& boundary, const TrueSegments& truth,
              std::span<const Locus> inside)
      : basis_(basis), boundary_(boundary), truth_(truth), inside_(inside), overall_(basis.num_labels()) {
    std::int64_t segments = 0;
    for (const Part& part : basis.parts) {
      segments += std::ssize(part.segments);
      for (const Segment& segment : part.segments) {
        overall_[segment.label] += static_cast<double>(segment.end - segment.begin);
        covered_ += segment.end - segment.begin;
        scored_ = scored_ || part.scores[&segment - part.segments.data()] >= 0;
      }
    }
    for (double& share : overall_) share /= static_cast<double>(std::max<std::int64_t>(1, covered_));
    const double mean = ratio(covered_, std::max<std::int64_t>(1, segments));
    width_ = std::min<std::int64_t>(std::llround(kSegmentsShown * mean), covered_ / 6);
    width_ = std::max(width_, kFewestBins);
  }

  std::vector<Locus> choose() {
    list_windows();
    take("shares of labels most like the whole", 2, [&](const Window& window) {
      double distance = 0;
      for (std::size_t c = 0; c < overall_.size(); ++c) distance += std::fabs(window.shares[c] - overall_[c]);
      return -distance;
    });
    if (!boundary_.empty() || scored_)
      take(boundary_.empty() ? "labels least certain" : "boundaries least certain", 2,
           [](const Window& window) { return window.doubt; });
    take("most segments", 1, [](const Window& window) { return window.starts; });
    if (!truth_.empty())
      take("most bases that differ from the truth", 1, [](const Window& window) { return window.differing; });
    take_longest("the longest segment", [](const Segment&) { return true; });
    const std::size_t rarest = rarest_label();
    take_longest("the longest segment of the rarest label, " + basis_.label(rarest),
                 [&](const Segment& segment) { return static_cast<std::size_t>(segment.label) == rarest; });
    return std::move(chosen_);
  }

 private:
  std::size_t rarest_label() const {
    std::size_t rarest = 0;
    for (std::size_t c = 0; c < overall_.size(); ++c)
      if (overall_[c] > 0 && (overall_[rarest] == 0 || overall_[c] < overall_[rarest])) rarest = c;
    return rarest;
  }

  void list_windows() {
    for (std::size_t part = 0; part < basis_.parts.size(); ++part) {
      const std::vector<double> doubts = doubt_before(part);
      for (const BinRange& run : covered_ranges(basis_.parts[part].segments)) {
        if (run.size() * 4 < width_) continue;
        for (std::int64_t begin = run.begin;; begin += std::max<std::int64_t>(1, width_ / 2)) {
          const std::int64_t end = std::min(begin + width_, run.end);
          const BinRange bins{std::max(run.begin, end - width_), end};
          if (may_show(part, bins)) windows_.push_back(measured(part, bins, doubts));
          if (end == run.end) break;
        }
      }
    }
  }

  // Sum over the bins before each bin of the entropy of a boundary there, or of what the score of a segment
  // leaves to other labels.
  std::vector<double> doubt_before(std::size_t index) const {
    const Part& part = basis_.parts[index];
    std::vector<double> sums(part.bins + 1);
    if (!boundary_.empty()) {
      const std::vector<float>& values = boundary_[index];
      for (std::size_t i = 0; i < values.size(); ++i)
        sums[i + 1] = sums[i] + (std::isnan(values[i]) ? 0 : event_entropy(values[i]));
      return values.empty() ? std::vector<double>(sums.size()) : sums;
    }
    std::size_t bin = 0;
    for (std::size_t s = 0; s < part.segments.size(); ++s) {
      const std::size_t begin = part.segments[s].begin;
      const std::size_t end = part.segments[s].end;
      for (; bin < begin; ++bin) sums[bin + 1] = sums[bin];
      const double rest = part.scores[s] >= 0 ? 1 - static_cast<double>(part.scores[s]) : 0;
      for (; bin < end; ++bin) sums[bin + 1] = sums[bin] + rest;
    }
    for (; bin + 1 < sums.size(); ++bin) sums[bin + 1] = sums[bin];
    return sums;
  }

  Window measured(std::size_t part, const BinRange& bins, const std::vector<double>& doubts) const {
    Window window{part, bins, std::vector<double>(overall_.size()), 0, 0, 0};
    const auto size = static_cast<double>(bins.size());
    for (const Segment& segment : segments_meeting(basis_.parts[part].segments, bins.begin, bins.end)) {
      const std::int64_t common = std::min(segment.end, bins.end) - std::max(segment.begin, bins.begin);
      window.shares[segment.label] += static_cast<double>(common) / size;
      if (segment.begin > bins.begin) window.starts += 1;
      if (!truth_.empty()) window.differing += static_cast<double>(differing(part, segment, bins)) / size;
    }
    window.doubt = (doubts[bins.end] - doubts[bins.begin]) / size;
    return window;
  }

  // Bins of the segment within `bins` that have another true label.
  std::int64_t differing(std::size_t part, const Segment& segment, const BinRange& bins) const {
    const std::int64_t begin = std::max(segment.begin, bins.begin), end = std::min(segment.end, bins.end);
    std::int64_t sum = 0;
    for (const Segment& other : segments_meeting(truth_[part], begin, end))
      if (other.label != segment.label) sum += std::min(other.end, end) - std::max(other.begin, begin);
    return sum;
  }

  bool may_show(std::size_t part, const BinRange& bins) const {
    return inside_.empty() || std::ranges::any_of(inside_, [&](const Locus& locus) {
             return locus.part == part && locus.bins.begin <= bins.begin && bins.end <= locus.bins.end;
           });
  }

  bool is_free(std::size_t part, const BinRange& bins) const {
    return std::ranges::none_of(chosen_, [&](const Locus& locus) {
      return locus.part == part && locus.bins.begin < bins.end && bins.begin < locus.bins.end;
    });
  }

  // The `count` windows of the largest values.
  void take(const std::string& why, int count, const std::function<double(const Window&)>& value) {
    for (int n = 0; n < count; ++n) {
      const Window* best = nullptr;
      double largest = 0;
      for (const Window& window : windows_) {
        if (!is_free(window.part, window.bins)) continue;
        const double one = value(window);
        if (best == nullptr || one > largest) {
          best = &window;
          largest = one;
        }
      }
      if (best == nullptr || (largest == 0 && n > 0)) return;
      chosen_.push_back(make_locus(why, best->part, best->bins));
    }
  }

  void take_longest(const std::string& why, const std::function<bool(const Segment&)>& wanted) {
    BinRange best;
    std::size_t of_part = 0, longest = 0;
    for (std::size_t i = 0; i < basis_.parts.size(); ++i) {
      const Part& part = basis_.parts[i];
      for (const Segment& segment : part.segments) {
        const std::size_t size = segment.end - segment.begin;
        if (size <= longest || !wanted(segment)) continue;
        const auto room = std::max<std::int64_t>(
            width_, std::llround(kRoom * static_cast<double>(segment.end - segment.begin)));
        const std::int64_t begin = std::max<std::int64_t>(0, (segment.begin + segment.end - room) / 2);
        const BinRange around{begin, std::min(part.bins, begin + room)};
        if (!may_show(i, around) || !is_free(i, around)) continue;
        longest = size;
        best = around;
        of_part = i;
      }
    }
    if (longest > 0) chosen_.push_back(make_locus(why, of_part, best));
  }

  const ReportBasis& basis_;
  const BinValues& boundary_;
  const TrueSegments& truth_;
  std::span<const Locus> inside_;
  std::vector<double> overall_;  // shares of labels
  std::int64_t covered_ = 0;     // bins
  std::int64_t width_ = 0;       // width of a window, bins
  bool scored_ = false;
  std::vector<Window> windows_;
  std::vector<Locus> chosen_;
};

}  // namespace

std::vector<Locus> choose_loci(const ReportBasis& basis, const BinValues& boundary, const TrueSegments& truth,
                               std::span<const Locus> inside) {
  return LocusChoice(basis, boundary, truth, inside).choose();
}

std::vector<Locus> named_loci(const ReportOptions& options, const ReportBasis& basis) {
  std::vector<Chromosome> known;
  std::vector<std::vector<std::size_t>> parts_of;  // parts of each known chromosome
  NameIndex places;
  for (std::size_t i = 0; i < basis.parts.size(); ++i) {
    const Part& part = basis.parts[i];
    const auto [place, is_new] = places.add(part.chromosome);
    if (is_new) {
      known.push_back({part.chromosome, 0});
      parts_of.emplace_back();
    }
    known[place].length = std::max(known[place].length, part.origin + part.length);
    parts_of[place].push_back(i);
  }
  const ChromosomeIndex by_name(known);
  std::vector<Region> regions;
  for (const std::string& text : options.regions) regions.push_back(parse_region(text, by_name));
  if (!options.regions_file.empty()) {
    std::vector<Warning> warnings;
    const std::vector<Region> more =
        read_regions(options.regions_file, RegionRole::kIncluded, by_name, warnings);
    for (const Warning& warning : warnings) log_warning(warning);
    regions.insert(regions.end(), more.begin(), more.end());
  }
  std::vector<Locus> loci;
  for (const Region& region : regions) {
    const std::size_t before = loci.size();
    for (const std::size_t i : parts_of[*places.find(region.chromosome)]) {
      const Part& part = basis.parts[i];
      const std::int64_t begin = std::max(region.begin, part.origin) - part.origin;
      const std::int64_t end = std::min(region.end, part.origin + part.length) - part.origin;
      if (begin >= end) continue;
      const BinRange bins{begin / basis.bin_size(), count_bins(end, basis.bin_size())};
      loci.push_back(make_locus("named", i, bins));
    }
    if (loci.size() == before)
      throw InputError({options.segments, place_text(region.chromosome, region.begin, region.end),
                        "the tracks have nothing of this region", "name one that they have"});
  }
  return loci;
}

std::vector<float> columns_of(const Locus& locus, std::span<const float> values, ColumnRule rule) {
  std::vector<float> columns;
  const std::size_t group = locus.group;
  for (std::size_t column = 0; column < locus.columns(); ++column) {
    const std::size_t end = std::min(values.size(), (column + 1) * group);
    double sum = 0;
    float largest = 0;
    std::size_t count = 0;
    for (std::size_t i = column * group; i < end; ++i) {
      if (std::isnan(values[i])) continue;
      largest = count == 0 ? values[i] : std::max(largest, values[i]);
      sum += values[i];
      ++count;
    }
    const float mean = count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
    columns.push_back(count == 0                  ? std::numeric_limits<float>::quiet_NaN()
                      : rule == ColumnRule::kMean ? mean
                                                  : largest);
  }
  return columns;
}

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
    const std::size_t row = bin - begin;
    if (!missing.empty() && missing[row] != 0) return std::numeric_limits<float>::quiet_NaN();
    const std::size_t i = row * columns + column;
    return rows.f32 != nullptr ? rows.f32[i] : static_cast<float>(rows.f64[i]);
  }
};

void add_segments(const std::vector<Segment>& segments, std::size_t& next, const Slab& slab, Signal& signal) {
  while (next < segments.size() && segments[next].end <= slab.begin) ++next;
  for (std::size_t s = next; s < segments.size() && segments[s].begin < slab.end; ++s) {
    SignalSum* const sums = signal.sums.data() + segments[s].label * slab.columns;
    const std::int64_t end = std::min(segments[s].end, slab.end);
    for (std::int64_t bin = std::max(segments[s].begin, slab.begin); bin < end; ++bin)
      for (std::size_t column = 0; column < slab.columns; ++column) {
        const double value = slab.at(bin, column);
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
