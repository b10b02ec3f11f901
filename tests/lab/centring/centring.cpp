#include "lab/centring/centring.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace semicrf::lab {
namespace {

constexpr int kLabels = 3, kShortest = 5, kLongest = 15, kRare = 2;

std::vector<Segment> merged(const std::vector<Segment>& segments) {
  std::vector<Segment> joined;
  for (const Segment& segment : segments) {
    if (!joined.empty() && joined.back().label == segment.label)
      joined.back().end = segment.end;
    else
      joined.push_back(segment);
  }
  return joined;
}

std::vector<int> positions(const std::vector<Segment>& segments, std::int64_t length) {
  std::vector<int> labels(static_cast<std::size_t>(length));
  for (const Segment& s : segments) std::fill(labels.begin() + s.begin, labels.begin() + s.end, s.label);
  return labels;
}

double f1(double hits, double found, double wanted) { return hits == 0 ? 0 : 2 * hits / (found + wanted); }

// Overlap of more than half of the union pairs each segment with at most one other.
double segment_f1(const std::vector<Segment>& truth, const std::vector<Segment>& found) {
  double hits = 0, wanted = 0, given = 0;
  for (const Segment& s : found) given += s.label == kRare ? 1 : 0;
  for (const Segment& t : truth) {
    if (t.label != kRare) continue;
    ++wanted;
    for (const Segment& s : found) {
      const auto common = std::min(s.end, t.end) - std::max(s.begin, t.begin);
      if (s.label == kRare && 2 * common > std::max(s.end, t.end) - std::min(s.begin, t.begin)) ++hits;
    }
  }
  return f1(hits, given, wanted);
}

}  // namespace

LabelledSequence draw(const RareLabels& setting, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::discrete_distribution<int> label(setting.shares.begin(), setting.shares.end());
  std::uniform_int_distribution<int> duration(kShortest, kLongest);
  std::normal_distribution<double> noise(0, setting.noise);
  LabelledSequence drawn;
  for (std::int64_t begin = 0; begin < setting.length;) {
    const std::int64_t end = std::min<std::int64_t>(setting.length, begin + duration(random));
    drawn.truth.push_back({begin, end, label(random)});
    for (std::int64_t t = begin; t < end; ++t)
      for (int c = 0; c < kLabels; ++c)
        drawn.emissions.push_back((c == drawn.truth.back().label ? 3.0 : -1.0) + noise(random));
    begin = end;
  }
  return drawn;
}

ChainModel rare_labels_model() {
  ChainModel model;
  model.num_labels = kLabels;
  model.max_duration = kLongest;
  model.transition.assign(std::size_t{kLabels} * kLabels, -std::log(kLabels));
  for (int k = 1; k <= kLongest; ++k)
    model.duration_bias.insert(model.duration_bias.end(), kLabels,
                               k < kShortest ? kNegativeInfinity : -std::log(kLongest - kShortest + 1));
  return model;
}

std::vector<double> means_of(const std::vector<double>& emissions, int labels) {
  const auto C = static_cast<std::size_t>(labels);
  std::vector<double> means(C);
  for (std::size_t i = 0; i < emissions.size(); ++i) means[i % C] += emissions[i];
  const std::size_t positions = emissions.size() / C;
  for (double& mean : means) mean /= static_cast<double>(positions);
  return means;
}

double largest_sum(const std::vector<double>& emissions, int labels, const std::vector<double>& baseline) {
  const auto C = static_cast<std::size_t>(labels);
  std::vector<double> sums(C);
  double largest = 0;
  for (std::size_t i = 0; i < emissions.size(); ++i) {
    sums[i % C] += emissions[i] - (baseline.empty() ? 0.0 : baseline[i % C]);
    largest = std::max(largest, std::fabs(sums[i % C]));
  }
  return largest;
}

Agreement compare(const std::vector<Segment>& truth, const std::vector<Segment>& found, std::int64_t length) {
  Agreement result;
  for (const Segment& segment : found) ++result.segments[static_cast<std::size_t>(segment.label)];
  const std::vector<int> wanted = positions(truth, length), given = positions(found, length);
  double right = 0, hits = 0, rare_wanted = 0, rare_given = 0;
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    right += wanted[t] == given[t] ? 1 : 0;
    hits += wanted[t] == kRare && given[t] == kRare ? 1 : 0;
    rare_wanted += wanted[t] == kRare ? 1 : 0;
    rare_given += given[t] == kRare ? 1 : 0;
  }
  result.accuracy = right / static_cast<double>(length);
  result.rare_f1 = f1(hits, rare_given, rare_wanted);
  result.rare_segment_f1 = segment_f1(merged(truth), merged(found));
  return result;
}

}  // namespace semicrf::lab
