#include "report/data/duration_law.h"

#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "draw/scale.h"

namespace semicrf {
namespace {

// Sum of q^j for j in [first, end) (end < 0: for ever), 0 < q < 1.
double geometric_sum(double log_q, double first, double end) {
  const double whole = std::exp(first * log_q) / -std::expm1(log_q);
  return end < 0 ? whole : whole * -std::expm1((end - first) * log_q);
}

// The weights of all durations of a label by its scores, relative to that of the best one.
class ScoredDurations {
 public:
  ScoredDurations(const ChainModel& chain, int label)
      : chain_(chain), label_(label), longest_(chain.max_duration) {
    for (int k = 1; k <= longest_; ++k) best_ = std::max(best_, chain.duration_score(k, label));
    if (chain.has_tail()) log_q_ = chain.log_tail[label];
  }

  bool any() const { return best_ != kNegativeInfinity; }

  // The weight of all durations in [first, end); end < 0: of all from `first` on.
  double weight(long long first, long long end) const {
    double sum = 0;
    for (long long k = first; k <= longest_ && (end < 0 || k < end); ++k)
      sum += std::exp(chain_.duration_score(k, label_) - best_);
    const long long from = std::max(first, longest_ + 1);
    if (log_q_ == kNegativeInfinity || (end >= 0 && from >= end)) return sum;
    const double at_cap = std::exp(chain_.duration_score(longest_, label_) - best_);
    return sum + at_cap * geometric_sum(log_q_, static_cast<double>(from - longest_),
                                        end < 0 ? -1 : static_cast<double>(end - longest_));
  }

 private:
  const ChainModel& chain_;
  int label_ = 0;
  long long longest_ = 0;
  double best_ = kNegativeInfinity, log_q_ = kNegativeInfinity;
};

// The share of each class among all durations that the model has, also among those that no class holds.
std::vector<double> scored_law(const ChainModel& chain, int label, const std::vector<long long>& edges) {
  const ScoredDurations durations(chain, label);
  if (!durations.any()) return {};
  std::vector<double> law;
  double all = durations.weight(edges.back(), -1);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    law.push_back(durations.weight(edges[i], edges[i + 1]));
    all += law.back();
  }
  for (double& weight : law) weight /= all;
  return law;
}

// The law of joined segments of single bins: 1 - p times p^(k-1), p the share of the label's transitions to
// itself.
std::vector<double> joined_law(const ChainModel& chain, int label, const std::vector<long long>& edges) {
  double best = kNegativeInfinity, sum = 0;
  for (int to = 0; to < chain.num_labels; ++to) best = std::max(best, chain.transition_at(label, to));
  if (best == kNegativeInfinity) return {};
  for (int to = 0; to < chain.num_labels; ++to) sum += std::exp(chain.transition_at(label, to) - best);
  const double stay = std::exp(chain.transition_at(label, label) - best) / sum;
  if (!(stay > 0 && stay < 1)) return {};
  std::vector<double> law;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    law.push_back((1 - stay) * geometric_sum(std::log(stay), static_cast<double>(edges[i] - 1),
                                             static_cast<double>(edges[i + 1] - 1)));
  return law;
}

}  // namespace

double DurationCounts::share(std::size_t label, std::size_t i) const {
  std::int64_t all = 0;
  for (const std::int64_t count : segments[label]) all += count;
  return all == 0 ? 0 : ratio(segments[label][i], all);
}

DurationCounts count_durations(const ReportBasis& basis) {
  DurationCounts counts;
  const ChainModel& chain = basis.model().chain;
  std::int64_t longest = 1;
  const auto bins_of = [&](const LabelledSegment& segment) {
    return count_bins(segment.size(), basis.bin_size());
  };
  for (const SegmentedChromosome& chromosome : basis.segmentation.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) longest = std::max(longest, bins_of(segment));
  counts.edges = growing_classes(longest, kDurationClasses);
  counts.grows = counts.edges.back() - counts.edges[counts.edges.size() - 2] > 1;
  counts.segments.assign(basis.num_labels(), std::vector<std::int64_t>(counts.classes()));
  for (const SegmentedChromosome& chromosome : basis.segmentation.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) {
      const auto after = std::ranges::upper_bound(counts.edges, bins_of(segment));
      ++counts.segments[segment.label][after - counts.edges.begin() - 1];
    }
  const bool joins = basis.segmentation.options.contains("merge-adjacent") ||
                     (chain.max_duration == 1 && !chain.has_tail() && longest > 1);
  bool left_out = false;
  for (int c = 0; c < chain.num_labels; ++c) {
    const bool repeats = chain.transition_at(c, c) != kNegativeInfinity;
    if (joins && repeats && chain.max_duration == 1) {
      counts.law.push_back(joined_law(chain, c, counts.edges));
    } else if (joins && repeats) {
      counts.law.emplace_back();
      left_out = true;
    } else {
      counts.law.push_back(scored_law(chain, c, counts.edges));
    }
  }
  if (joins && chain.max_duration == 1)
    counts.note = "The model's segments are single bins, joined here: the line comes from its transitions.";
  if (left_out)
    counts.note =
        "Touching segments of one label were joined, so that the model's durations say nothing of the "
        "lengths of labels that may follow themselves; these have no line.";
  return counts;
}

}  // namespace semicrf
