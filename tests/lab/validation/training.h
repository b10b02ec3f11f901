// Training of a small CRF by whichever engine gives log Z and its gradients (Table 5 d of the paper).
//
// Emissions are linear in D features of a position; weights, transitions and durations are trained by Adam,
// which needs nothing but gradients. Everything but the engine is the same code, so that curves differ by the
// engine alone.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/segment.h"
#include "lab/problem.h"

namespace semicrf::lab {

struct TrainingData {
  Index labels = 0, durations = 0, features = 0;
  std::vector<std::vector<double>> rows;       // per sequence (T, D)
  std::vector<std::vector<Segment>> segments;  // per sequence, no longer than K
};
// B sequences; labels with durations of about K/4, features that lean to a direction of the label.
TrainingData training_data(Index B, Index T, Index C, Index K, Index D, std::uint64_t seed);

// log Z and its gradients by emissions (T, C), transitions (C, C) and durations (K, C).
struct Value {
  double log_partition = 0;
  std::vector<double> labels, transition, duration;
};
using Evaluate = std::function<Value(const Problem&)>;

struct Parameters {
  std::vector<double> weights, transition, duration;  // (D, C), (C, C), (K, C)
};

// The scores of a sequence with these rows of features.
Problem problem_of(const TrainingData& data, const Parameters& parameters, const std::vector<double>& rows);

// Mean negative log-likelihood per sequence.
double mean_loss(const TrainingData& data, const Parameters& parameters, const Evaluate& evaluate);

struct Trained {
  std::vector<double> curve;  // the mean loss before each epoch and after the last one
  Parameters last;            // those of the curve's last value
};
Trained train(const TrainingData& data, int epochs, const Evaluate& evaluate);

}  // namespace semicrf::lab
