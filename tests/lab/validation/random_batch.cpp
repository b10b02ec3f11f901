#include "lab/validation/random_batch.h"

#include <cmath>
#include <random>

namespace semicrf::lab {
namespace {

constexpr double kSmall = 0.1;  // the spread of untrained transitions and durations

void append(Sequence& sequence, bool single, double value) {
  if (single)
    sequence.f32.push_back(static_cast<float>(value));
  else
    sequence.f64.push_back(value);
}

}  // namespace

ChainModel untrained_model(int labels, int durations, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, kSmall);
  ChainModel model;
  model.num_labels = labels;
  model.max_duration = durations;
  for (int i = 0; i < labels * labels; ++i) model.transition.push_back(normal(random));
  for (int i = 0; i < durations * labels; ++i) model.duration_bias.push_back(normal(random));
  return model;
}

Sequence noise_sequence(std::int64_t length, int labels, std::uint64_t seed, bool single) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Sequence sequence;
  sequence.length = length;
  for (std::int64_t i = 0; i < length * labels; ++i) append(sequence, single, normal(random));
  return sequence;
}

ChainModel segment_model(int labels, int durations, double mean) {
  ChainModel model;
  model.num_labels = labels;
  model.max_duration = durations;
  model.initial = InitialTerm::kNone;
  const double stay = std::log1p(-1 / mean);
  for (int from = 0; from < labels; ++from)
    for (int to = 0; to < labels; ++to)
      model.transition.push_back(from == to ? kNegativeInfinity : -std::log(std::max(1, labels - 1)));
  for (int k = 1; k <= durations; ++k)
    model.duration_bias.insert(model.duration_bias.end(), static_cast<std::size_t>(labels),
                               (k - 1) * stay - std::log(mean));
  model.log_tail.assign(static_cast<std::size_t>(labels), stay);
  return model;
}

Sequence segment_sequence(std::int64_t length, int labels, double mean, std::uint64_t seed, bool single) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::geometric_distribution<std::int64_t> more(1 / mean);
  Sequence sequence;
  sequence.length = length;
  int label = 0;
  std::int64_t left = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    if (left == 0) {
      label = (label + 1 + static_cast<int>(random() % static_cast<std::uint64_t>(labels - 1))) % labels;
      left = 1 + more(random);
    }
    --left;
    for (int c = 0; c < labels; ++c) append(sequence, single, normal(random) + (c == label ? 1 : 0));
  }
  return sequence;
}

}  // namespace semicrf::lab
