// An online Viterbi traceback: while the sweep goes on, a prefix of the path that all open segments share is
// decided, and what was kept for it is let go of.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "genes/lattice/lattice_sweep.h"

namespace semicrf {

struct LatticeSegment {
  std::int64_t begin = 0, end = 0;
  int label = 0;
};

// Memory: the nodes of kKeptNodes windows, and the states before those windows that are not decided, whose
// nodes are computed again where the path needs them.
class OnlineTraceback {
 public:
  static constexpr std::size_t kKeptNodes = 4;

  // All must outlive it; `size`: positions of a window but the last one.
  OnlineTraceback(const LatticeSource& source, LatticeSteps& steps, std::int64_t size)
      : source_(&source), steps_(&steps), size_(size) {}

  // Goes through the next window of a forward sweep in the max semiring.
  void pass(LatticeSweep& sweep, const LatticeWindow& window);
  // What is decided so far: the segments before a boundary of the path, from left to right.
  const std::vector<LatticeSegment>& decided() const { return segments_; }
  // The path whose last segment has `label` and begins at `start`, from left to right over [0, length).
  std::vector<LatticeSegment> finish(std::int64_t start, int label, std::int64_t length);

 private:
  // A segment of the label begins at the boundary.
  using Node = OpenSegment;
  struct Kept {
    LatticeSweep before;
    LatticeNodes nodes;  // none where `has_nodes` is false
    bool has_nodes = false;
    void drop_nodes() { nodes = {}, has_nodes = false; }
  };

  void decide(std::vector<Node> frontier);
  // Appends the segments before `node`, behind those that are decided.
  void decide_until(const Node& node);
  // The segment before this one, which its nodes tell.
  Node predecessor(const Node& node);
  const LatticeNodes& nodes_of(std::size_t window);
  std::size_t window_of(std::int64_t boundary) const { return boundary / size_; }

  const LatticeSource* source_;
  LatticeSteps* steps_;
  std::int64_t size_;
  std::size_t first_ = 0;  // the window that kept_ begins with
  std::deque<Kept> kept_;
  LatticeNodes spare_;  // whose memory the next window takes
  Node decided_;        // all before it is in segments_
  std::vector<LatticeSegment> segments_;
};

}  // namespace semicrf
