// What segments that a cut edge hides in part add to log Z and to expected counts, from the states at the
// edges of a whole sequence (docs/algorithm.md, "Cut edges").
//
// An engine treats a cut as a boundary like any other, beyond which segments may have begun, or end, at every
// position alike. So a state at a cut has the label's start or end score in every row, and all that a run
// over the sequence does not see itself is a sum over the other edge's state.
#pragma once

#include <cstdint>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "engine/boundary_state.h"

namespace semicrf {

// log Z of a whole sequence from its forward state at T, whose edges may be cut.
double log_partition(const ChainModel& model, const BoundaryState& at_end);

// The state of a cut edge in this direction: ring and tail of the segments that may have begun beyond it; its
// message is that of segments which begin at the edge itself, and of no use to a run.
BoundaryState state_at_cut(const ChainModel& model, Direction direction);

class CutEdgeSums {
 public:
  // `model` has cut edges, and must live as long.
  explicit CutEdgeSums(const ChainModel& model);

  // log Z from the forward state at T; with its ring, where the right edge is cut.
  double log_partition(const BoundaryState& at_end) const;

  // Log of what segments of a label that end beyond T, a cut, are in log Z; relative to the state's scale.
  double crossing(const BoundaryState& at_end, int label) const;

  // Whose counts an engine has so far: of all segments that begin and end in the sequence, and of positions
  // of tails in it.
  struct Sequence {
    std::int64_t length = 0;
    double log_partition = 0;
    const BoundaryState& at_begin;  // the backward state at 0; looked at where that edge is cut
    const BoundaryState& at_end;    // the forward state at T, likewise
    // Segments of at most K positions that end behind the sequence were counted, too, if they begin before
    // this.
    std::int64_t counted_before = 0;
    // Segments longer than K were counted (in row K) if they begin in the sequence; else if they end there.
    bool long_by_start = false;
  };
  // Adds what only the edges know: segments that begin before the sequence or end behind it, and the
  // positions of tails that lie there. Nothing where log Z is not finite.
  void add_counts(const Sequence& sequence, ExpectedCounts& counts) const;

 private:
  void add_left(const Sequence& sequence, ExpectedCounts& counts) const;
  void add_right(const Sequence& sequence, ExpectedCounts& counts) const;
  void add_durations(const BoundaryState& state, std::int64_t reach, double scale, int label,
                     ExpectedCounts& counts) const;
  double longer(const BoundaryState& state, int label, double scale) const;
  bool has_tail(int label) const;

  const ChainModel& model_;
  std::vector<double> largest_;    // (C) over all durations
  std::vector<double> weights_;    // (K, C) e^{B - largest}
  std::vector<double> remaining_;  // (K, C), row d-1: the sum over k > d of these, and of the tail
};

// The forward and the backward state at a boundary within the sequence, in the log semiring.
struct StatesAtBoundary {
  const BoundaryState& forward;
  const BoundaryState& backward;
  double log_partition = 0;  // the sequence's, less the scale of the backward state
};
// What expected counts by end (EngineInfo::counts_by_end) of windows that begin at a boundary lack of those
// by begin: `share` (1) times the transitions there, less the segments longer than K across it. -1: of
// windows that end there. O(K C + C^2).
void add_at_boundary(const ChainModel& model, const StatesAtBoundary& at, double share,
                     ExpectedCounts& counts);

// The chain as one direction of the recursion sees it. The backward pass is the forward recursion on the
// reversed sequence with transposed transitions, start and end scores exchanged, and no initial term
// (docs/algorithm.md).
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
