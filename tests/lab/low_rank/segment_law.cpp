#include "lab/low_rank/segment_law.h"

#include <cmath>
#include <random>

namespace semicrf::lab {
namespace {

// Expected counts to probabilities: A over (r, to) for each source, u over classes for each (r, to).
void normalise(SegmentLaw& law) {
  const Index R = law.rank, C = law.labels;
  for (Index from = 0; from < C; ++from) {
    double total = 0;
    for (Index r = 0; r < R; ++r)
      for (Index to = 0; to < C; ++to) total += law.A[(r * C + from) * C + to];
    for (Index r = 0; r < R; ++r)
      for (Index to = 0; to < C; ++to) law.A[(r * C + from) * C + to] /= total;
  }
  for (Index r = 0; r < R; ++r)
    for (Index to = 0; to < C; ++to) {
      double total = 0;
      for (Index k = 0; k < law.classes; ++k) total += law.u[(r * law.classes + k) * C + to];
      for (Index k = 0; k < law.classes; ++k) law.u[(r * law.classes + k) * C + to] /= total;
    }
}

}  // namespace

Index duration_class(std::int64_t duration) {
  return static_cast<Index>(std::floor(2 * std::log2(static_cast<double>(duration)) + 1e-9));
}

double SegmentLaw::probability(const Step& step) const {
  double sum = 0;
  for (Index r = 0; r < rank; ++r)
    sum += A[(r * labels + step.from) * labels + step.to] * u[(r * classes + step.k) * labels + step.to];
  return sum;
}

LowRankTransition SegmentLaw::scores() const {
  LowRankTransition low{rank, u, A};
  for (double& value : low.log_u) value = std::log(value);
  for (double& value : low.log_A) value = std::log(value);
  return low;
}

SegmentLaw fit(const std::vector<Step>& steps, Index rank, Index labels, Index classes, double prior,
               int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> some(0.5, 1.5);
  SegmentLaw law{rank, labels, classes, std::vector<double>(rank * labels * labels),
                 std::vector<double>(rank * classes * labels)};
  for (double& value : law.A) value = some(random);
  for (double& value : law.u) value = some(random);
  normalise(law);
  for (int round = 0; round < rounds; ++round) {
    SegmentLaw counts = law;
    // The prior of a cell is shared by the ranks, so that it weighs the same for every rank.
    counts.A.assign(counts.A.size(), prior / static_cast<double>(rank));
    counts.u.assign(counts.u.size(), prior / static_cast<double>(rank));
    for (const Step& step : steps) {
      const double total = law.probability(step);
      for (Index r = 0; r < rank; ++r) {
        const Index a = (r * labels + step.from) * labels + step.to,
                    b = (r * classes + step.k) * labels + step.to;
        const double share = law.A[a] * law.u[b] / total;
        counts.A[a] += share;
        counts.u[b] += share;
      }
    }
    normalise(counts);
    law = std::move(counts);
  }
  return law;
}

double mean_log_likelihood(const SegmentLaw& law, const std::vector<Step>& steps) {
  double sum = 0;
  for (const Step& step : steps) sum += std::log(law.probability(step));
  return sum / static_cast<double>(steps.size());
}

}  // namespace semicrf::lab
