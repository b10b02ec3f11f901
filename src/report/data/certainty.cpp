#include "report/data/certainty.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "io/files/output_names.h"

namespace semicrf {
namespace {

class Measuring {
 public:
  Measuring(const ReportBasis& basis, const BinValues& boundary, const BinValues& called)
      : basis_(basis), boundary_(boundary), called_(called) {
    found_.has_boundaries = !boundary.empty();
    found_.starts.resize(basis.num_labels());
    found_.called_labels.resize(basis.num_labels());
    found_.is_of_segments = called.empty();
    is_shown_.resize(basis.parts.size());
    for (const std::size_t part : shown_parts(basis)) is_shown_[part] = true;
    std::int64_t longest = 1;
    for (const Part& part : basis.parts)
      if (!part.segments.empty()) longest = std::max(longest, part.bins);
    bins_of_drawn_window_ = (longest + kWindows - 1) / kWindows;
  }

  Certainty measure() {
    for (std::size_t i = 0; i < basis_.parts.size(); ++i) {
      if (basis_.parts[i].segments.empty()) continue;
      add_windows(i);
      const Segment* before = nullptr;
      for (std::size_t s = 0; s < basis_.parts[i].segments.size(); ++s) {
        add_start(i, s, before);
        add_labels(i, s);
        before = &basis_.parts[i].segments[s];
      }
      finish_windows();
    }
    return std::move(found_);
  }

 private:
  // Sums of the windows of one part.
  struct Sums {
    double bins = 0, called = 0, called_bins = 0, entropy = 0, boundary_bins = 0;
  };

  void add_windows(std::size_t index) {
    const Part& part = basis_.parts[index];
    first_window_ = found_.windows.size();
    bins_of_window_ = is_shown_[index] ? bins_of_drawn_window_ : part.bins;
    for (std::int64_t begin = 0; begin < part.bins; begin += bins_of_window_)
      found_.windows.push_back({index,
                                part.base_of(begin, basis_.bin_size()),
                                part.base_of(std::min(part.bins, begin + bins_of_window_), basis_.bin_size()),
                                0,
                                {},
                                {}});
    sums_.assign(found_.windows.size() - first_window_, {});
  }

  // The place of a segment's start says nothing where a piece begins: a segment starts there for certain.
  void add_start(std::size_t index, std::size_t s, const Segment* before) {
    if (boundary_.empty() || boundary_[index].empty()) return;
    const Segment& segment = basis_.parts[index].segments[s];
    const bool touches = before != nullptr && before->end == segment.begin;
    const double p = boundary_[index][segment.begin];
    if (!touches) ++found_.given;
    if (!touches || std::isnan(p)) return;
    ++found_.called;
    found_.starts[segment.label].add(p, 1);
  }

  void add_labels(std::size_t index, std::size_t s) {
    const Part& part = basis_.parts[index];
    const Segment& segment = part.segments[s];
    ProbabilityClasses& classes = found_.called_labels[segment.label];
    const bool by_bin = !called_.empty() && !called_[index].empty();
    const double score = part.scores[s];
    if (found_.is_of_segments && score >= 0)
      classes.add(score, static_cast<double>(segment.end - segment.begin));
    for (std::int64_t bin = segment.begin; bin < segment.end; ++bin) {
      Sums& sums = sums_[bin / bins_of_window_];
      sums.bins += 1;
      const std::size_t i = bin;
      const double p = by_bin ? called_[index][i] : found_.is_of_segments ? score : -1;
      if (p >= 0) {
        sums.called += p;
        sums.called_bins += 1;
        if (by_bin) classes.add(p, 1);
      }
      if (boundary_.empty() || boundary_[index].empty() || std::isnan(boundary_[index][i])) continue;
      const double q = boundary_[index][i];
      // At the first bin of a piece a segment starts for certain.
      const bool is_given = bin == segment.begin && (s == 0 || part.segments[s - 1].end != segment.begin);
      if (!is_given) found_.expected += q;
      sums.entropy += event_entropy(q);
      sums.boundary_bins += 1;
    }
  }

  void finish_windows() {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      CertaintyWindow& window = found_.windows[first_window_ + i];
      window.bins = sums_[i].bins;
      if (sums_[i].called_bins > 0) window.called = sums_[i].called / sums_[i].called_bins;
      if (sums_[i].called_bins > 0) found_.has_labels = true;
      if (sums_[i].boundary_bins > 0) window.boundary = sums_[i].entropy / sums_[i].boundary_bins;
    }
  }

  const ReportBasis& basis_;
  const BinValues& boundary_;
  const BinValues& called_;
  std::vector<bool> is_shown_;             // by part
  std::int64_t bins_of_drawn_window_ = 1;  // for parts that are drawn
  std::int64_t bins_of_window_ = 1;        // for the part at hand
  std::size_t first_window_ = 0;
  std::vector<Sums> sums_;
  Certainty found_;
};

}  // namespace

std::vector<std::size_t> shown_parts(const ReportBasis& basis) {
  constexpr std::size_t kMostParts = 25;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < basis.parts.size(); ++i)
    if (!basis.parts[i].segments.empty()) shown.push_back(i);
  if (shown.size() <= kMostParts) return shown;
  std::ranges::stable_sort(
      shown, [&](std::size_t a, std::size_t b) { return basis.parts[a].bins > basis.parts[b].bins; });
  shown.resize(kMostParts);
  std::ranges::sort(shown);
  return shown;
}

double event_entropy(double p) {
  if (!(p > 0 && p < 1)) return 0;
  return -(p * std::log2(p) + (1 - p) * std::log2(1 - p));
}

void ProbabilityClasses::add(double p, double count) {
  const auto place = static_cast<std::size_t>(p * static_cast<double>(kProbabilityClasses) + 1e-9);
  counts[std::min(place, kProbabilityClasses - 1)] += count;
  total += count;
  sum += p * count;
}

std::optional<double> ProbabilityClasses::mean() const {
  return total > 0 ? std::optional(sum / total) : std::nullopt;
}

Certainty measure_certainty(const ReportBasis& basis, const BinValues& boundary, const BinValues& called) {
  return Measuring(basis, boundary, called).measure();
}

BinValues read_called_labels(const std::string& prefix, const ReportBasis& basis, std::vector<Locus>& loci) {
  const std::map<std::string, std::string> files = label_track_files(prefix);
  BinValues called(basis.parts.size());
  for (std::size_t i = 0; i < basis.parts.size(); ++i)
    if (!basis.parts[i].segments.empty())
      called[i].assign(basis.parts[i].bins, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t c = 0; c < basis.num_labels(); ++c) {
    const auto file = files.find(in_file_name(basis.label(c)));
    if (file == files.end())
      throw InputError(
          {prefix + "." + in_file_name(basis.label(c)) + ".bedgraph", "",
           "is not there: the label posterior of '" + basis.label(c) + "', a label of the parameters",
           "write it with posterior --labels-out " + prefix});
    const BinValues values = read_bin_values(file->second, basis);
    for (std::size_t i = 0; i < basis.parts.size(); ++i)
      for (const Segment& segment : basis.parts[i].segments)
        if (static_cast<std::size_t>(segment.label) == c && !values[i].empty())
          std::copy(values[i].begin() + segment.begin, values[i].begin() + segment.end,
                    called[i].begin() + segment.begin);
    for (Locus& locus : loci)
      locus.labels.push_back(columns_of(locus, within(locus, values[locus.part]), ColumnRule::kMean));
  }
  return called;
}

}  // namespace semicrf
