// The choices that make a segmentation, right to left, and what the messages of the max semiring say of each.
//
// A segmentation is a way through a graph. At the right end of the sequence the last label is chosen; at the
// end of a segment where it starts; at its start the label before it. A segment longer than K is found as
// the messages have it: "longer than K" first, then, boundary by boundary to the left, whether its tail
// begins here or was there before. Every choice has a number, and the tie rule (engine/engine.h) is: where
// two segmentations are equally good, the one with the smaller number comes first at the rightmost node where
// they differ.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "analyses/draws/forward_rows.h"
#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "model/scores/centred_scores.h"

namespace semicrf {

// Where a choice is made. What comes next has a smaller boundary, or the same and a smaller kind.
struct PathNode {
  enum class Kind {
    kDone,   // the start of the sequence; nothing is left to choose
    kTail,   // a segment of `label` longer than K reaches `boundary`: 0: its tail begins here, so that it
             // starts K+1 before; 1: it was longer than K before
    kEnd,    // a segment of `label` ends at `boundary`: k-1 for a duration k <= K; K for a longer one
    kStart,  // one starts there: the label of the segment before it
    kLast,   // the sequence ends there: its last label; `label` is 0
  };
  std::int64_t boundary = 0;
  Kind kind = Kind::kDone;
  int label = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): a comparison made by the compiler has a 0 that is no pointer
  friend auto operator<=>(const PathNode&, const PathNode&) = default;
};

struct Choice {
  std::int64_t number = 0;
  double score = 0;  // of the best way through it, left of the node; relative to what is the same for all
  // Of the segment, where the choice finds its start; of the K positions left of the next node, where that is
  // a tail's; else nothing.
  CompensatedSum content;
};

// Where the choice leads.
PathNode next_node(const ChainModel& model, const PathNode& node, std::int64_t number);
// Whether the choice finds the start of a segment of the node's label, which is the next node's boundary.
bool finds_start(const ChainModel& model, const PathNode& node, std::int64_t number);

// What one window says. Nodes have boundaries in (begin, end] of the window.
class ChoiceFinder {
 public:
  // `rows`: messages of the max semiring that reach K positions to the left of the window. Both must outlive
  // this.
  ChoiceFinder(const ChainModel& model, const ForwardRows& rows, const CentredScores& scores)
      : model_(model), rows_(rows), scores_(scores) {}

  // The possible choices, by number. `open`: at a tail's node the content of the K positions left of it.
  void find(const PathNode& node, const CompensatedSum& open, std::vector<Choice>& choices) const;
  // What the choice adds to the score of a path: all of it lies between the node and the next one.
  CompensatedSum gain(const PathNode& node, const Choice& choice) const;

 private:
  void find_ends(const PathNode& node, std::vector<Choice>& choices) const;
  void find_tails(const PathNode& node, const CompensatedSum& open, std::vector<Choice>& choices) const;
  // The start score of the first position, with the initial term at the start of the sequence.
  double start_score(std::int64_t start, int label) const;

  const ChainModel& model_;
  const ForwardRows& rows_;
  const CentredScores& scores_;
};

}  // namespace semicrf
