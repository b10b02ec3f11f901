// Random linear heads.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "model/parameters.h"

namespace semicrf::testing {

struct RandomHeads {
  int labels = 1, tracks = 1;
  int first = 0, last = 0;    // of the boundary heads
  bool start_weights = true;  // else the head of starts is a bias
  double size = 0.3;          // of weights and biases; those of a wide boundary head are a third of it
};

// An emission head; boundary heads with weights for both ends and a bias for starts alone.
template <class Random>
Parameters random_heads(const RandomHeads& shape, Random& random) {
  std::normal_distribution<double> normal;
  const auto numbers = [&](int count, double size) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = size * normal(random);
    return values;
  };
  Parameters parameters;
  parameters.labels.resize(static_cast<std::size_t>(shape.labels));
  parameters.tracks.resize(static_cast<std::size_t>(shape.tracks));
  parameters.emission =
      EmissionHead{numbers(shape.labels * shape.tracks, shape.size), numbers(shape.labels, shape.size)};
  BoundaryHead& head = parameters.boundary.emplace();
  head.first = shape.first;
  head.last = shape.last;
  const int inputs = shape.tracks * (shape.last - shape.first + 1);
  if (shape.start_weights) head.start_weights = numbers(shape.labels * inputs, shape.size / 3);
  head.end_weights = numbers(shape.labels * inputs, shape.size / 3);
  head.start_bias = numbers(shape.labels, shape.size / 3);
  return parameters;
}

}  // namespace semicrf::testing
