// Which deviations the N best segmentations are made of.
//
// A path that deviates has a last deviation (the leftmost); the best of the paths with the same last one is
// the best way to its node, the deviation, and the best way on. These paths are all different, so that the
// N best need no deviation whose path is not among the N-1 best of them. So the search goes from right to
// left over all nodes that such paths visit, with the best way to each, and keeps N-1 deviations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "analyses/best_paths/deviation.h"
#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"

namespace semicrf {

struct Deviations {
  std::shared_ptr<const Walk> best;    // the walk along the best path
  std::vector<DeviationPointer> kept;  // in no particular order
  std::shared_ptr<TempSpool> spool;    // of the starts of walks
};

class DeviationSearch {
 public:
  // `best`: the best path, which outlives the search. `most`: so many deviations are kept. `precision`: of
  // the messages. Losses are rounded to it, so that equal ones are equal: the same change at many places of a
  // sequence loses the same at all of them.
  DeviationSearch(const ChainModel& model, std::int64_t length, const SegmentList& best, std::size_t most,
                  Precision precision);

  // Windows from the last one on: all nodes with boundaries in (begin, end].
  void search(const PositionRange& window, const ChoiceFinder& finder);
  // After the first window.
  Deviations finish();

 private:
  // A walk that has come to a node.
  struct Arrival {
    std::shared_ptr<Walk> walk;
    Way way;                   // the best one to the node
    CompensatedSum collected;  // by the walk
    CompensatedSum open;       // see ChoiceFinder::find()
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
  double unit_;  // what losses are multiples of, a power of two
  std::shared_ptr<TempSpool> spool_;
  std::shared_ptr<Walk> best_;
  SegmentList::ReverseReader best_segments_;
  Segment segment_;  // of the best path: the one whose start is found next
  std::map<PathNode, Arrival, std::greater<>> arrivals_;
  std::set<Way, Earlier> kept_;
  std::vector<Choice> choices_;  // at the node that is visited
};

}  // namespace semicrf
