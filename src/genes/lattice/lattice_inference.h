// The best path of a lattice (Viterbi), and its marginals (forward-backward). Memory: states at the edges of
// windows, and the messages of one window a thread; what is kept is computed again from these states.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "genes/lattice/lattice.h"
#include "genes/lattice/lattice_sweep.h"
#include "genes/lattice/online_traceback.h"

namespace semicrf {

struct LatticePath {
  double score = kNegativeInfinity;      // -inf: no segmentation is possible, and there are no segments
  std::vector<LatticeSegment> segments;  // from left to right, without gaps over [0, T)
};

// Positions of a window: the results do not depend on it.
inline constexpr std::int64_t kLatticeWindow = std::int64_t{1} << 18;

LatticePath best_path(const Lattice& lattice, const LatticeSource& source,
                      std::int64_t window = kLatticeWindow);

// Messages of both directions at the events of a window. Events with a step are the same in both, those of
// `backward` in reverse order; what ends in one direction begins in the other. Of a label at an event
//   P(a segment ends there)   = exp(forward ending + backward beginning - log Z)
//   P(a segment begins there) = exp(forward beginning + backward ending - log Z)
struct LatticeMessages {
  const LatticeWindow* window = nullptr;
  const LatticeNodes* forward = nullptr;
  const LatticeNodes* backward = nullptr;
  // Event i of `forward` is this one of `backward`.
  std::size_t mirrored(std::size_t event) const { return backward->events.size() - 1 - event; }
};

struct LatticeMarginals {
  double log_z = kNegativeInfinity;
  double log_z_backward = kNegativeInfinity;  // the same but for rounding
  LatticeEnd forward_end, backward_end;
};

// Calls `visit` for each window, from several threads at once, in no order; not at all where log Z is -inf.
LatticeMarginals visit_marginals(
    const Lattice& lattice, const LatticeSource& source, int threads,
    const std::function<void(std::size_t index, double log_z, const LatticeMessages& messages)>& visit,
    std::int64_t window = kLatticeWindow);

// Messages of both directions at the boundaries of a path but 0 and T.
struct PathMessages {
  double log_z = kNegativeInfinity;
  double log_z_backward = kNegativeInfinity;
  LatticeSteps forward_steps, backward_steps;  // which the nodes refer to
  LatticeNodes forward, backward;
};

struct LatticeDecoding {
  LatticePath path;
  PathMessages messages;
};

// The best path and the messages along it. On one thread the forward sweep follows that of the path window by
// window, as soon as the path is decided there; on two the sweeps of both directions come behind it.
// `of_path`: the path is the best one of this lattice, which differs in the scores of edges alone; null: of
// `lattice`, as the messages are.
LatticeDecoding decode_lattice(const Lattice& lattice, const LatticeSource& source, int threads,
                               std::int64_t window = kLatticeWindow, const Lattice* of_path = nullptr);

std::size_t lattice_windows(std::int64_t length, std::int64_t window = kLatticeWindow);

}  // namespace semicrf
