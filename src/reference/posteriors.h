// The forward-backward algorithm: posteriors from the two passes (docs/algorithm.md sections 3 and 5).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/chain_model.h"
#include "engine/engine.h"
#include "reference/forward_backward.h"
#include "reference/reference_scores.h"

namespace semicrf {

// Fills the arrays that are asked for, clamped to [0, 1], and returns the sums over the sequence. Where no
// segmentation is finite every posterior is 0.
//
// Label posteriors follow P(c|t) = P(c|t-1) + p_start(t,c) - p_end(t-1,c). So that no error accumulates along
// the sequence, every max(K, 64) positions they, and the log Z that everything is divided by, are taken anew
// from the mass of the segments through that boundary.
ChunkReport posteriors(const ReferenceModel& model, const ReferenceScores& scores,
                       const ForwardMessages& forward, const BackwardMessages& backward,
                       const PosteriorArrays& out);

// Expected counts, the sufficient statistics of an E-step, from the two passes (docs/algorithm.md section 3):
// every segment and every transition is visited on its own.
//
// log Z = level + log_mass; `level` is a whole number.
struct LogPartition {
  double level = 0;
  double log_mass = kNegativeInfinity;
};

class CountsPass {
 public:
  // Brings the arrays of `counts` to their shapes, with zeros where they were empty; `transition` to (K, C,
  // C) where transitions depend on the duration.
  CountsPass(const ReferenceModel& model, const ReferenceScores& scores, const ForwardMessages& forward,
             const BackwardMessages& backward, ExpectedCounts& counts);

  // Adds the segments that start at position t, the transitions into them, and the tails that cover t.
  void add_position(std::int64_t t, const LogPartition& log_partition);

 private:
  std::size_t index(std::int64_t t, int c) const { return t * labels_ + c; }
  void add_transitions(std::int64_t t, double shift);
  void add_transitions_by_duration(std::int64_t t, double shift);
  void add_durations(std::int64_t t, double shift);
  void add_tails(std::int64_t t, const LogPartition& log_partition);

  const ReferenceModel& model_;
  const ReferenceScores& scores_;
  const ForwardMessages& forward_;
  const BackwardMessages& backward_;
  ExpectedCounts& counts_;
  const std::size_t labels_;
};

}  // namespace semicrf
