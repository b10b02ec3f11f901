#include "report/data/duration_law.h"

#include <algorithm>
#include <cmath>

#include "draw/scale.h"

namespace semicrf {
namespace {

// Sum of q^j for j in [first, end) (end < 0: for ever), 0 < q < 1.
double geometric_sum(double log_q, double first, double end) {
  const double whole = std::exp(first * log_q) / -std::expm1(log_q);
  return end < 0 ? whole : whole - std::exp(end * log_q) / -std::expm1(log_q);
}

std::vector<double> scored_law(const ChainModel& chain, int label, const std::vector<long long>& edges) {
  const auto c = static_cast<std::size_t>(label);
  const long long longest = chain.max_duration;
  double best = kNegativeInfinity;
  for (int k = 1; k <= longest; ++k) best = std::max(best, chain.duration_score(k, label));
  if (best == kNegativeInfinity) return {};
  const double log_q = chain.has_tail() ? chain.log_tail[c] : kNegativeInfinity;
  const double at_cap = std::exp(chain.duration_score(longest, label) - best);
  std::vector<double> law;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    double mass = 0;
    for (long long k = edges[i]; k < std::min(edges[i + 1], longest + 1); ++k)
      mass += std::exp(chain.duration_score(k, label) - best);
    const long long from = std::max(edges[i], longest + 1);
    if (log_q != kNegativeInfinity && from < edges[i + 1])
      mass += at_cap * geometric_sum(log_q, static_cast<double>(from - longest),
                                     static_cast<double>(edges[i + 1] - longest));
    law.push_back(mass);
  }
  double all = 0;
  for (const double mass : law) all += mass;
  const long long beyond = std::max(edges.back(), longest + 1);
  if (log_q != kNegativeInfinity)
    all += at_cap * geometric_sum(log_q, static_cast<double>(beyond - longest), -1);
  for (double& mass : law) mass /= all;
  return law;
}

// Of joined segments of single bins: 1 - p times p^(k-1), p the share of the label's transitions to itself.
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
  return all == 0 ? 0 : static_cast<double>(segments[label][i]) / static_cast<double>(all);
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
      ++counts.segments[segment.label][static_cast<std::size_t>(after - counts.edges.begin()) - 1];
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
