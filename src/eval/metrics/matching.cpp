#include "eval/metrics/matching.h"

#include <algorithm>
#include <cstddef>

#include "eval/metrics/ratio.h"

namespace semicrf {
namespace {

bool shares_half(const Segment& a, const Segment& b) {
  const std::int64_t shared = std::min(a.end, b.end) - std::max(a.begin, b.begin);
  const std::int64_t united =
      std::max(a.end, b.end) - std::min(a.begin, b.begin);  // one run when they overlap
  return shared > 0 && shared >= united - shared;
}

}  // namespace

std::optional<double> MatchCounts::precision() const { return ratio(matched, predicted); }
std::optional<double> MatchCounts::recall() const { return ratio(matched, truth); }
std::optional<double> MatchCounts::f1() const { return ratio(2 * matched, truth + predicted); }

const StatisticList<MatchCounts>& match_statistics() {
  using enum StatisticUnit;
  using M = MatchCounts;
  static const StatisticList<M> list = {
      {"truth", "truth", kCount, "what the truth has", &M::truth},
      {"predicted", "predicted", kCount, "what the prediction has", &M::predicted},
      {"matched", "matched", kCount, "what both agree on", &M::matched},
      {"precision", "precision", kNumber, "matched / predicted", &M::precision},
      {"recall", "recall", kNumber, "matched / truth", &M::recall},
      {"f1", "F1", kNumber, "2 matched / (truth + predicted)", &M::f1},
  };
  return list;
}

MatchCounts& MatchCounts::operator+=(const MatchCounts& other) {
  truth += other.truth;
  predicted += other.predicted;
  matched += other.matched;
  return *this;
}

std::int64_t count_pairs_within(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                std::int64_t tolerance) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] + tolerance < b[j]) {
      ++i;
    } else if (b[j] + tolerance < a[i]) {
      ++j;
    } else {
      ++pairs, ++i, ++j;
    }
  }
  return pairs;
}

std::vector<int> match_exact_segments(std::span<const Segment> truth, std::span<const Segment> predicted) {
  std::vector<int> matched;
  for (std::size_t i = 0, j = 0; i < truth.size() && j < predicted.size();) {
    if (truth[i] == predicted[j]) matched.push_back(truth[i].label);
    if (truth[i].begin <= predicted[j].begin) {
      ++i;
    } else {
      ++j;
    }
  }
  return matched;
}

std::vector<int> match_overlapping_segments(std::span<const Segment> truth,
                                            std::span<const Segment> predicted) {
  std::vector<int> matched;
  std::size_t first = 0;  // truth segments before it end too early, or are taken
  for (const Segment& segment : predicted) {
    while (first < truth.size() && truth[first].end <= segment.begin) ++first;
    for (std::size_t i = first; i < truth.size() && truth[i].begin < segment.end; ++i) {
      if (truth[i].label != segment.label || !shares_half(truth[i], segment)) continue;
      matched.push_back(segment.label);
      first = i + 1;
      break;
    }
  }
  return matched;
}

}  // namespace semicrf
