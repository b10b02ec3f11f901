// Deviations: how the k best segmentations differ from the best one (Eppstein's k shortest paths).
//
// A segmentation is a path, from right to left, through the nodes of choices.h. From every node the best
// choices lead to the start of the sequence: that is the Viterbi traceback from the node, a walk. Walks that
// come to the same node are one from there on, so that all walks form a tree whose root is the start of the
// sequence. A path follows a walk up to a node, deviates there by another choice, follows the walk from where
// that choice leads, and so on. Its deviations determine it, and it loses the sum of what they lose.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyses/best_paths/choices.h"
#include "core/compensated_sum.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// A list of segments by start and label, from right to left. Long lists go to a spool that many lists share.
class SegmentStarts {
 public:
  struct Start {
    std::int64_t position = 0;
    int label = 0;
  };
  void add(std::int64_t position, int label, TempSpool& spool);
  // Appends the starts in [begin, end) to `starts`.
  void read(std::int64_t begin, std::int64_t end, const TempSpool& spool, std::vector<Start>& starts) const;

 private:
  struct Blob {
    std::size_t index = 0;   // index of the blob in the spool
    std::int64_t first = 0;  // rightmost start in the blob
  };
  std::vector<Blob> blobs_;
  std::vector<std::uint64_t> latest_;  // position << kPackedLabelBits | label
};

// The Viterbi traceback from some node on, to where it merges with another walk or reaches the start of the
// sequence.
struct Walk {
  SegmentStarts starts;              // starts of its segments; none for the best path
  std::shared_ptr<const Walk> into;  // the walk that it merges with; null: none, it reached the start
  PathNode at;                       // node where it merges
  CompensatedSum collected;          // its score, from its first node to its end
  CompensatedSum joined;             // score that the walk `into` had collected at `at`
  int first_label = 0;               // label of the first segment, where it reached the start
};

// A deviation (Eppstein's sidetrack): a choice at a node of a walk that is not the choice of the walk.
struct Deviation {
  PathNode node;
  std::int64_t usual = 0, number = 0;       // numbers of the walk's choice and of this one
  double loss = 0;                          // score that this choice alone loses, >= 0
  std::shared_ptr<const Deviation> before;  // previous deviation of the same path, to the right; null: none
  std::shared_ptr<const Walk> from;         // the walk that is left
  CompensatedSum collected;                 // score of that walk, from its first node to `node`
  CompensatedSum gain;                      // what the choice adds to the score, ChoiceFinder::gain()
  bool found_start = false;                 // whether the choice finds the start of a segment
  PathNode next;
  std::shared_ptr<const Walk> onto;  // the walk that the path follows then; null: `next` is the start
  CompensatedSum joined;             // score that the walk `onto` had collected at `next`
};

using DeviationPointer = std::shared_ptr<const Deviation>;
// The deviations of one path, from right to left; they determine the path.
using DeviationChain = std::vector<const Deviation*>;

// Compares two paths by the tie rule alone: the one that comes first is less. Equal: both make the same
// choices.
std::strong_ordering compare_choices(const DeviationChain& a, const DeviationChain& b);

// A path from the end of the sequence to some node: the score that it loses, the sum over its deviations, and
// the last (leftmost) of these (null: it has none).
struct Way {
  double loss = 0;
  DeviationPointer last;
};
DeviationChain chain_of(const Way& way);
// Whether `a` ranks before `b`: it loses less, or as much and the tie rule prefers it.
bool comes_before(const Way& a, const Way& b);

}  // namespace semicrf
