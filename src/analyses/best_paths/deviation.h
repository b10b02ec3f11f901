// How segmentations differ from the best one: they leave a known way at a node, by another choice, go on as
// is best from there, and sooner or later run into a known way.
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

// Segments by their start and label, right to left. Long lists go to a spool that many of them share.
class SegmentStarts {
 public:
  struct Start {
    std::int64_t position = 0;
    int label = 0;
  };
  void add(std::int64_t position, int label, TempSpool& spool);
  // Appends those in [begin, end) to `starts`.
  void read(std::int64_t begin, std::int64_t end, const TempSpool& spool, std::vector<Start>& starts) const;

 private:
  struct Blob {
    std::size_t index = 0;   // in the spool
    std::int64_t first = 0;  // the rightmost start in it
  };
  std::vector<Blob> blobs_;
  std::vector<std::uint64_t> latest_;  // position << kPackedLabelBits | label
};

// The best way to the left from some node on, until it runs into another walk or reaches the start of the
// sequence.
struct Walk {
  SegmentStarts starts;              // that it found; those of the best path are in its list
  std::shared_ptr<const Walk> into;  // null: it reached the start
  PathNode at;                       // where it runs into that one
  CompensatedSum collected;          // of the score, from its first node on
  CompensatedSum joined;             // what the other walk had collected at that node
  int first_label = 0;               // where it reached the start: of the sequence's first segment
};

// One choice that is not its walk's.
struct Deviation {
  PathNode node;
  std::int64_t usual = 0, number = 0;       // the walk's choice, and this one
  double loss = 0;                          // by this choice alone
  std::shared_ptr<const Deviation> before;  // the last one of that path right of it; null: none
  std::shared_ptr<const Walk> from;         // the walk
  CompensatedSum collected;                 // by it, right of the node
  CompensatedSum gain;                      // the choice's part of the score
  bool found_start = false;                 // of a segment of node.label
  PathNode next;
  std::shared_ptr<const Walk> onto;  // that the path goes on with; null: it reached the start
  CompensatedSum joined;             // what that had collected at `next`
};

using DeviationPointer = std::shared_ptr<const Deviation>;
// Deviations of one path, right to left.
using DeviationChain = std::vector<const Deviation*>;

// By the tie rule alone: less comes first. Chains of the same choices are equal.
std::strong_ordering compare_choices(const DeviationChain& a, const DeviationChain& b);

// A way to some node, by what it loses and its last deviation (null: none).
struct Way {
  double loss = 0;
  DeviationPointer last;
};
DeviationChain chain_of(const Way& way);
// Whether `a` comes before `b`: it loses less, or as much and the tie rule prefers it.
bool comes_before(const Way& a, const Way& b);

}  // namespace semicrf
