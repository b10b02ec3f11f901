#include "lab/problem.h"

#include <random>

namespace semicrf::lab {

Problem random_problem(const Shape& shape, std::uint64_t seed, bool everything) {
  const Index T = shape.T, K = shape.K, C = shape.C;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const auto normals = [&](Index count) {
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
  };
  Problem problem;
  problem.shape = shape;
  problem.S.assign((T + 1) * C, 0.0);
  for (Index i = C; i < problem.S.size(); ++i) problem.S[i] = problem.S[i - C] + normal(random);
  problem.transition = normals(C * C);
  problem.duration = normals(K * C);
  if (!everything) return problem;
  problem.start = normals(T * C);
  problem.end = normals(T * C);
  const auto forbid = [&](std::vector<double>& values, Index always) {
    for (Index i = 0; i < values.size(); ++i)
      if (i % always != 0 && random() % 8 == 0) values[i] = kNegativeInfinity;
  };
  forbid(problem.transition, C + 1);    // a label may always follow itself
  forbid(problem.duration, K * C + 1);  // duration 1 of label 0 stays
  return problem;
}

void make_durations_count(Problem& problem) {
  for (double& sum : problem.S) sum *= 0.1;
  for (double& score : problem.transition) score -= 8;
  for (double& score : problem.duration) score = 0;
}

ChainModel chain_of(const Problem& problem) {
  ChainModel model;
  model.num_labels = static_cast<int>(problem.shape.C);
  model.max_duration = static_cast<int>(problem.shape.K);
  model.transition = problem.transition;
  model.duration_bias = problem.duration;
  model.initial = InitialTerm::kUniform;
  return model;
}

std::vector<double> emissions_of(const Problem& problem) {
  const Index C = problem.shape.C;
  std::vector<double> emissions(problem.shape.T * C);
  for (Index i = 0; i < emissions.size(); ++i) emissions[i] = problem.S[i + C] - problem.S[i];
  return emissions;
}

}  // namespace semicrf::lab
