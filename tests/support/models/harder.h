// What makes the scores of a random case those of hand-made models: long runs of one label, shortest
// durations, masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "support/models/random_models.h"

namespace semicrf::testing {

inline void add_to_emission(ModelCase& sample, std::size_t t, std::size_t c, double more) {
  const std::size_t at = t * static_cast<std::size_t>(sample.model.num_labels) + c;
  if (!sample.emissions.f32.empty()) sample.emissions.f32[at] += static_cast<float>(more);
  if (!sample.emissions.f64.empty()) sample.emissions.f64[at] += more;
}

// Runs of about 20 positions in which one label scores `gap` more than the others, as chromatin states do.
inline void add_runs(ModelCase& sample, std::uint64_t seed, double gap = 13) {
  std::mt19937_64 random(seed);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  std::size_t label = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(sample.length); ++t) {
    if (random() % 20 == 0) label = random() % labels;
    add_to_emission(sample, t, label, gap);
  }
}

inline void forbid_shorter(ModelCase& sample, int shortest, double score = kNegativeInfinity) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  for (std::size_t i = 0; i < static_cast<std::size_t>(shortest - 1) * labels; ++i)
    sample.model.duration_bias[i] = score;
}

// One label of every position stays possible.
inline void forbid_scores(ModelCase& sample, double probability, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution forbidden(probability);
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  for (std::size_t t = 0; t < static_cast<std::size_t>(sample.length); ++t)
    for (std::size_t c = 0; c < labels; ++c)
      if (c != t % labels && forbidden(random)) add_to_emission(sample, t, c, kNegativeInfinity);
}

}  // namespace semicrf::testing
