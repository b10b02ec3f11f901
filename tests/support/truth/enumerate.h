// Every segmentation of a tiny sequence, one by one: the ground truth below the reference engine.
#pragma once

#include <cstdint>
#include <vector>

#include "core/segment.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

struct Enumeration {
  std::int64_t feasible = 0;       // segmentations with a finite score
  double log_partition = 0;        // -inf when there is none
  double best_score = 0;           // max semiring, -inf when there is none
  double runner_up_gap = 0;        // best score minus the next path's, +inf when there is no other; 0: a tie
  std::vector<Segment> best_path;  // by the tie rule of engine/engine.h; empty when there is none
  // Posteriors, all 0 when nothing is feasible.
  std::vector<double> boundary;              // (T)
  std::vector<double> labels, starts, ends;  // (T, C)
  // Expected counts as engine/engine.h has them: (C, C), (K, C), and (C) also where there is no tail.
  std::vector<double> transition, duration, tail;
};

// About C (1+C)^(T-1) segmentations. Durations beyond K are tried as far as the model's tail allows. Scores
// are summed without rounding that could matter (two long doubles each).
Enumeration enumerate_segmentations(const ModelCase& sample);

}  // namespace semicrf::testing
