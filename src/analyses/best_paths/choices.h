// The choices that make up a segmentation, from right to left, and the score of the best segmentation through
// each of them, from the forward messages of the max semiring.
//
// A segmentation is a path through a graph of nodes. At the end of the sequence the last label is chosen, at
// the end of a segment its start, and at the start of a segment the label before it. The start of a segment
// longer than K is found as the recursion of the tail has it: first "longer than K", then, boundary by
// boundary to the left, whether the tail begins here or began further left. Choices are numbered for the tie
// rule (engine/engine.h): of two equally good segmentations, the one with the smaller number at the rightmost
// node where they differ comes first.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyses/forward/forward_pass.h"
#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "io/files/temp_spool.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

// A node of the graph, where a choice is made. Every choice leads to a smaller node: one with a smaller
// boundary, or with the same boundary and a smaller kind.
struct PathNode {
  // The numbers are those of the choices.
  enum class Kind {
    kDone,   // the start of the sequence; nothing is left to choose
    kTail,   // a segment of `label` longer than K reaches `boundary`. 0: its tail begins here, so that it
             // starts K+1 positions before; 1: its tail began further left
    kEnd,    // a segment of `label` ends at `boundary`. k-1: its duration is k <= K; K: it is longer
    kStart,  // a segment of `label` starts at `boundary`. c: the segment before it has label c
    kLast,   // the end of the sequence, `label` is 0. c: the last segment has label c
  };
  std::int64_t boundary = 0;
  Kind kind = Kind::kDone;
  int label = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): a comparison made by the compiler has a 0 that is no pointer
  friend auto operator<=>(const PathNode&, const PathNode&) = default;
};

struct Choice {
  std::int64_t number = 0;
  double score = 0;  // score of the best path left of the node that begins with this choice, less what all
                     // choices of the node share
  // Content (sum of emission scores): that of the segment, where the choice finds its start; that of the K
  // positions left of the next node, where that is a kTail node; else 0.
  CompensatedSum content;
};

// The node that the choice leads to.
PathNode next_node(const ChainModel& model, const PathNode& node, std::int64_t number);
// Whether the choice finds the start of the segment that the node is about: it is the boundary of the next
// node.
bool finds_start(const ChainModel& model, const PathNode& node, std::int64_t number);

// Finds the choices at the nodes of one window, those with boundaries in (begin, end] of the window.
class ChoiceFinder {
 public:
  // `rows`: forward messages of the max semiring, which reach K positions to the left of the window. All
  // arguments must outlive this object.
  ChoiceFinder(const ChainModel& model, const PieceDurations& durations, const ForwardRows& rows,
               const LabelScores& scores)
      : model_(model), durations_(durations), rows_(rows), scores_(scores) {}

  // Puts the choices with a finite score into `choices`, by number. `open`: at a kTail node the content of
  // the K positions left of it.
  void find(const PathNode& node, const CompensatedSum& open, std::vector<Choice>& choices) const;
  // What the choice adds to the score of a path: the terms between the node and the next one.
  CompensatedSum gain(const PathNode& node, const Choice& choice) const;

 private:
  void find_ends(const PathNode& node, std::vector<Choice>& choices) const;
  void find_tails(const PathNode& node, const CompensatedSum& open, std::vector<Choice>& choices) const;
  // The start score of a segment that starts at `start`, with the initial term at the start of the sequence.
  double start_score(std::int64_t start, int label) const;

  const ChainModel& model_;
  const PieceDurations& durations_;
  const ForwardRows& rows_;
  const LabelScores& scores_;
};

// Deviations: how the k best segmentations differ from the best one (Eppstein's k shortest paths).
//
// A segmentation is a path, from right to left, through the nodes of choices.h. From every node the best
// choices lead to the start of the sequence: that is the Viterbi traceback from the node, a walk. Walks that
// come to the same node are one from there on, so that all walks form a tree whose root is the start of the
// sequence. A path follows a walk up to a node, deviates there by another choice, follows the walk from where
// that choice leads, and so on. Its deviations determine it, and it loses the sum of what they lose.
//
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
