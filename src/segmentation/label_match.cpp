#include "segmentation/label_match.h"

#include <algorithm>
#include <numeric>

#include "core/counts.h"
#include "eval/metrics/evaluation.h"
#include "segmentation/agreement.h"

namespace semicrf {
namespace {

double share(std::int64_t part, std::int64_t whole) { return ratio(part, whole); }

std::vector<std::string> label_names(const SegmentationFile& segmentation) {
  std::vector<std::string> names;
  for (const Label& label : segmentation.labels) names.push_back(label.name);
  return names;
}

std::vector<std::uint32_t> own_numbers(std::size_t labels) {
  std::vector<std::uint32_t> numbers(labels);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

std::optional<std::size_t> best_match(const LabelPairs& pairs, std::size_t a) {
  std::optional<std::size_t> best;
  double index = 0;
  for (std::size_t b = 0; b < pairs.second.size(); ++b)
    if (pairs.jaccard(a, b) > index) {
      index = pairs.jaccard(a, b);
      best = b;
    }
  return best;
}

void match_pairs(const LabelPairs& pairs, std::vector<std::optional<std::size_t>>& matches) {
  LabelOverlaps overlaps;
  for (std::size_t a = 0; a < pairs.first.size(); ++a)
    for (std::size_t b = 0; b < pairs.second.size(); ++b)
      if (pairs.at(a, b) > 0) overlaps[{static_cast<int>(a), static_cast<int>(b)}] = pairs.at(a, b);
  for (const auto& [a, b] : best_label_pairs(overlaps)) matches[a] = b;
}

}  // namespace

double LabelPairs::jaccard(std::size_t a, std::size_t b) const {
  const std::int64_t either = first_bases[a] + second_bases[b] - at(a, b);
  return either > 0 ? share(at(a, b), either) : 0;
}

LabelPairs count_label_pairs(const SegmentationFile& first, const SegmentationFile& second) {
  LabelPairs pairs{label_names(first), label_names(second), {}, {}, {}, 0};
  pairs.first_bases.resize(pairs.first.size());
  pairs.second_bases.resize(pairs.second.size());
  pairs.both.resize(pairs.first.size() * pairs.second.size());
  const JointLabels own{{}, {own_numbers(pairs.first.size()), own_numbers(pairs.second.size())}};
  visit_stretches({&first, &second}, own, [&](const JointStretch& stretch) {
    const std::size_t a = stretch.labels[0], b = stretch.labels[1];
    pairs.first_bases[a] += stretch.size();
    pairs.second_bases[b] += stretch.size();
    pairs.both[a * pairs.second.size() + b] += stretch.size();
    pairs.common += stretch.size();
  });
  return pairs;
}

std::vector<std::optional<std::size_t>> match_labels(const LabelPairs& pairs, MatchRule rule) {
  std::vector<std::optional<std::size_t>> matches(pairs.first.size());
  if (rule == MatchRule::kPairs) match_pairs(pairs, matches);
  for (std::size_t a = 0; a < matches.size(); ++a) {
    if (rule == MatchRule::kBest) matches[a] = best_match(pairs, a);
    if (rule != MatchRule::kNames) continue;
    const auto found = std::ranges::find(pairs.second, pairs.first[a]);
    if (found != pairs.second.end()) matches[a] = found - pairs.second.begin();
  }
  return matches;
}

std::optional<double> cohens_kappa(double observed, double expected) {
  if (expected >= 1) return std::nullopt;
  return (observed - expected) / (1 - expected);
}

std::vector<MergedLabels> merge_by_jaccard(const LabelPairs& pairs, std::size_t label) {
  std::vector<std::size_t> order(pairs.second.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t x, std::size_t y) { return pairs.jaccard(label, x) > pairs.jaccard(label, y); });
  std::vector<MergedLabels> steps;
  std::int64_t covered = 0, overlapping = 0;
  for (const std::size_t b : order) {
    covered += pairs.second_bases[b];
    overlapping += pairs.at(label, b);
    steps.push_back({b, share(covered, pairs.common), share(overlapping, pairs.first_bases[label])});
  }
  return steps;
}

double merged_area(const std::vector<MergedLabels>& steps) {
  double area = 0;
  MergedLabels before;
  for (const MergedLabels& step : steps) {
    area += (step.coverage - before.coverage) * (step.overlap + before.overlap) / 2;
    before = step;
  }
  return area;
}

}  // namespace semicrf
