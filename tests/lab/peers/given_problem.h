// Scores of a batch in a file, so that this program and others compute the same problem (peers.py writes it).
//
// Little-endian: four int64 (B, T, K, C), then doubles: emissions (B, T, C), transitions (C, C) [from][to],
// durations (K, C), row k-1. The first segment has no source: its transition is summed over all labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf::lab {

struct GivenProblem {
  std::int64_t sequences = 0, length = 0, durations = 0, labels = 0;  // B, T, K, C
  std::vector<double> emissions, transition, duration;

  ChainModel chain() const {
    ChainModel model;
    model.num_labels = static_cast<int>(labels);
    model.max_duration = static_cast<int>(durations);
    model.transition = transition;
    model.duration_bias = duration;
    model.initial = InitialTerm::kUniform;
    return model;
  }
  std::vector<float> single_emissions() const { return {emissions.begin(), emissions.end()}; }
  // The sequences, whole, of emissions that lie at `values` as they lie in the file.
  template <class Real>
  std::vector<ScoreWindow> windows(const std::vector<Real>& values) const {
    std::vector<ScoreWindow> all(static_cast<std::size_t>(sequences));
    for (std::size_t b = 0; b < all.size(); ++b) {
      all[b].end = all[b].length = length;
      const Real* first = values.data() + b * static_cast<std::size_t>(length * labels);
      if constexpr (sizeof(Real) == sizeof(float))
        all[b].emissions.f32 = first;
      else
        all[b].emissions.f64 = first;
    }
    return all;
  }
};

inline GivenProblem read_given_problem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  GivenProblem problem;
  std::int64_t shape[4] = {};
  file.read(reinterpret_cast<char*>(shape), sizeof shape);
  problem.sequences = shape[0], problem.length = shape[1], problem.durations = shape[2],
  problem.labels = shape[3];
  const auto read = [&](std::vector<double>& values, std::int64_t count) {
    values.resize(static_cast<std::size_t>(count));
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
  };
  if (file) {
    read(problem.emissions, problem.sequences * problem.length * problem.labels);
    read(problem.transition, problem.labels * problem.labels);
    read(problem.duration, problem.durations * problem.labels);
  }
  if (!file) throw std::runtime_error(path + ": is not a problem of peers.py");
  return problem;
}

}  // namespace semicrf::lab
