#include "gpu/cuda_cases.h"

#include <algorithm>
#include <array>
#include <random>

#include "parity/gradient_case.h"
#include "reference/reference_engine.h"

namespace semicrf::testing {

std::vector<std::string> check_case(const MakeEngine& make, const ModelCase& sample) {
  const auto reference = make_reference_engine(sample.model);
  const ExpectedCase expected = expected_case(*reference, sample);
  const ExpectedGradient gradient = expected_gradient(*reference, sample);
  const bool feasible = expected.posteriors.log_partition != kNegativeInfinity;
  std::vector<std::string> problems;
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto engine = make(sample.model, precision);
    for (std::string& problem : compare_with(expected, *engine, sample, tolerances_of(precision)))
      problems.push_back(std::move(problem));
    if (!feasible) continue;
    for (std::string& problem : compare_gradient(gradient, *engine, sample))
      problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<CaseShape> tile_shapes(std::size_t count, std::uint64_t seed) {
  constexpr std::array<std::int64_t, 12> kLengths{1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 257, 600};
  constexpr std::array<int, 10> kDurations{1, 2, 3, 15, 16, 17, 31, 33, 64, 100};
  constexpr std::array<int, 16> kLabels{1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40};
  std::mt19937_64 random(seed);
  std::vector<CaseShape> shapes;
  std::vector<std::int64_t> lengths;
  std::vector<int> durations, labels;
  // Every value of each list in a random order, so that a small sample covers all of them.
  const auto draw = [&](auto& left, const auto& all) {
    if (left.empty()) {
      left.assign(all.begin(), all.end());
      std::shuffle(left.begin(), left.end(), random);
    }
    const auto value = left.back();
    left.pop_back();
    return value;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = draw(lengths, kLengths);
    const int duration = draw(durations, kDurations);
    shapes.push_back({length, duration, draw(labels, kLabels)});
  }
  return shapes;
}

}  // namespace semicrf::testing
