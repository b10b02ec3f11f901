// The chain as one direction of the recursion sees it. The backward pass is the forward recursion on the
// reversed sequence with transposed transitions, start and end scores exchanged, and no initial term
// (docs/algorithm.md).
#pragma once

#include <vector>

#include "core/chain_model.h"

namespace semicrf {

struct DirectedModel {
  Direction direction = Direction::kForward;
  int num_labels = 0;
  int max_duration = 0;
  std::vector<double> transition;  // (C, C) [from][to] in the direction of the run
  // Transition scores are computed with relative to from_bound[from] + to_bound[to], the same number in both
  // directions, so that its rounding does not make the directions disagree: the largest score into a label
  // less the largest from_bound, -inf for a label nothing may follow or precede.
  std::vector<double> from_bound, to_bound;  // (C)
  std::vector<double> duration_bias;         // (K, C)
  std::vector<double> log_tail;              // (C) or empty
  std::vector<double> first_scores;          // (C) added to the start score of the run's first position
  std::vector<double> last_scores;           // (C) added to the end score of the run's last position
  bool initial_transition = true;  // the first segment gets LSE (or max) over c' of transition[c'][c]
  bool cut_begin = false, cut_end = false;  // the edges where the run begins and ends are cuts
  bool masks_forbid = false;                // masks count as -inf: engine/masks.h
};

DirectedModel direct(const ChainModel& model, Direction direction);

}  // namespace semicrf
