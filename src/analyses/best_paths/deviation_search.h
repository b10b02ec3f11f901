// The search for the deviations that the N best segmentations are made of.
//
// The best of all paths with the same last (leftmost) deviation consists of the best path to the node of the
// deviation, the deviation, and the Viterbi traceback from there on. Different deviations have different best
// paths, so that a deviation whose best path is not among the N-1 best of these is in none of the N best
// segmentations. The search therefore visits, from right to left, the nodes of such paths with the best path
// to each, and keeps N-1 deviations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "analyses/best_paths/choices.h"
#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"

namespace semicrf {

struct Deviations {
  std::shared_ptr<const Walk> best;    // the walk along the best path
  std::vector<DeviationPointer> kept;  // the N-1 best deviations, in no particular order
  std::shared_ptr<TempSpool> spool;    // spool of the starts of all walks
};

class DeviationSearch {
 public:
  // `best`: the best path, which must outlive the search. `most`: the number of deviations that are kept.
  // `precision`: the precision of the messages, to which losses are rounded, so that ties are found: the same
  // change at many places of a sequence loses the same at each of them.
  DeviationSearch(const ChainModel& model, std::int64_t length, const SegmentList& best, std::size_t most,
                  Precision precision);

  // Visits all nodes with boundaries in (begin, end] of the window. Windows come from the last to the first.
  void search(const PositionRange& window, const ChoiceFinder& finder);
  // The deviations that were kept, after the search of the first window.
  Deviations finish();

 private:
  // A walk that has come to a node whose choice is not made yet.
  struct Arrival {
    std::shared_ptr<Walk> walk;
    Way way;                   // best path to the node
    CompensatedSum collected;  // score collected along the walk
    CompensatedSum open;       // argument of ChoiceFinder::find()
  };
  struct Earlier {
    bool operator()(const Way& a, const Way& b) const { return comes_before(a, b); }
  };

  bool is_full() const { return kept_.size() == most_; }
  double loss(double best, double other) const;
  void visit(const PathNode& node, const Arrival& arrival, const ChoiceFinder& finder);
  const Choice& usual_choice(const PathNode& node, const Arrival& arrival);
  std::int64_t number_on_best_path(const PathNode& node);
  void offer(const PathNode& node, const Arrival& arrival, const Choice& choice, const Choice& usual,
             const ChoiceFinder& finder);
  void go_on(const PathNode& node, const Arrival& arrival, const Choice& choice, const ChoiceFinder& finder);

  const ChainModel& model_;
  std::size_t most_;
  double unit_;  // losses are multiples of this power of two
  std::shared_ptr<TempSpool> spool_;
  std::shared_ptr<Walk> best_;
  SegmentList::ReverseReader best_segments_;
  Segment segment_;  // segment of the best path whose start is found next
  std::map<PathNode, Arrival, std::greater<>> arrivals_;
  std::set<Way, Earlier> kept_;
  std::vector<Choice> choices_;  // choices at the node that is visited
};

// The N best segmentations in their order, enumerated best first from the deviations that the search kept:
// every segmentation but the best one is another, its parent, with one more deviation to the left.
struct RankedPath {
  DeviationChain chain;
  double gain = 0;      // score of the path less that of the best path, in double from the scores themselves
  int first_label = 0;  // label of the path's first segment
};

// The best path and those that lose least according to the messages, at most `most` altogether. Behind the
// best path they are sorted by `gain`, those of equal gain by the tie rule.
std::vector<RankedPath> rank_paths(const Deviations& deviations, std::size_t most);

// The segments of a path. `best`: the segments of the best path.
SegmentList segments_of(const RankedPath& path, const Deviations& deviations, const SegmentList& best,
                        std::int64_t length);

}  // namespace semicrf
