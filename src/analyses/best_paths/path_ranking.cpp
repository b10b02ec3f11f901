#include "analyses/best_paths/path_ranking.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace semicrf {
namespace {

class Ranking {
 public:
  Ranking(const Deviations& deviations, std::size_t most) : best_(*deviations.best), most_(most) {
    for (const DeviationPointer& one : deviations.kept) on_walk_[one->from.get()].push_back(one.get());
    for (auto& [walk, list] : on_walk_) std::ranges::sort(list, std::greater<>(), &Deviation::node);
  }

  std::vector<RankedPath> run() {
    accept({});
    while (paths_.size() < most_ && !candidates_.empty())
      accept(candidates_.extract(candidates_.begin()).value());
    // The best path stays first, whatever rounding makes of the gains of the others.
    std::sort(paths_.begin() + 1, paths_.end(), [](const RankedPath& a, const RankedPath& b) {
      return a.gain != b.gain ? a.gain > b.gain : std::is_lt(compare_choices(a.chain, b.chain));
    });
    return std::move(paths_);
  }

 private:
  // A path that is its parent with one more deviation, left of all deviations of the parent.
  struct Candidate {
    double loss = 0;
    DeviationChain chain;

    bool operator<(const Candidate& other) const {
      return loss != other.loss ? loss < other.loss : std::is_lt(compare_choices(chain, other.chain));
    }
  };

  void accept(Candidate path) {
    const Deviation* const last = path.chain.empty() ? nullptr : path.chain.back();
    const Walk* walk = last == nullptr ? &best_ : last->onto.get();
    PathNode entered = last == nullptr
                           ? PathNode{std::numeric_limits<std::int64_t>::max(), PathNode::Kind::kLast, 0}
                           : last->next;
    for (; walk != nullptr; entered = walk->at, walk = walk->into.get()) extend(path, *walk, entered);
    paths_.push_back({std::move(path.chain), 0, 0});
    add_up(paths_.back());
  }

  // Adds a candidate for every deviation that leaves `walk` at the node `entered` or left of it, where the
  // path follows the walk; keeps no more candidates than are still wanted.
  void extend(const Candidate& path, const Walk& walk, const PathNode& entered) {
    const auto list = on_walk_.find(&walk);
    if (list == on_walk_.end()) return;
    const auto first = std::partition_point(list->second.begin(), list->second.end(),
                                            [&](const Deviation* one) { return one->node > entered; });
    const std::size_t room = most_ - paths_.size() - 1;
    for (auto at = first; at != list->second.end(); ++at) {
      const double loss = path.loss + (*at)->loss;
      if (candidates_.size() >= room && (room == 0 || loss > candidates_.rbegin()->loss)) continue;
      Candidate next{loss, path.chain};
      next.chain.push_back(*at);
      candidates_.insert(std::move(next));
      if (candidates_.size() > room) candidates_.erase(std::prev(candidates_.end()));
    }
  }

  void add_up(RankedPath& path) const {
    CompensatedSum sum, joined;
    const Walk* walk = &best_;
    const auto add_walk = [&] {
      sum.add(walk->collected);
      sum.subtract(joined);
      joined = walk->joined;
      path.first_label = walk->first_label;
      walk = walk->into.get();
    };
    for (const Deviation* one : path.chain) {
      while (walk != one->from.get()) add_walk();
      sum.add(one->collected);
      sum.subtract(joined);
      sum.add(one->gain);
      path.first_label = one->node.label;
      walk = one->onto.get();
      joined = one->joined;
    }
    while (walk != nullptr) add_walk();
    sum.subtract(best_.collected);
    path.gain = sum.value();
  }

  const Walk& best_;
  std::size_t most_;
  // The deviations that leave a walk, from right to left.
  std::map<const Walk*, std::vector<const Deviation*>> on_walk_;
  std::set<Candidate> candidates_;
  std::vector<RankedPath> paths_;
};

// Assembles the segments of one path, from right to left.
class Assembly {
 public:
  Assembly(const Deviations& deviations, const SegmentList& best, std::int64_t length, int roles)
      : deviations_(deviations), best_(best, length), roles_(roles), right_(length), entered_(length) {
    more_ = best_.next(segment_);
  }

  SegmentList run(const RankedPath& path) {
    const Walk* walk = deviations_.best.get();
    const auto leave_for_next = [&] {
      take(*walk, walk->into ? walk->at.boundary : 0);
      walk = walk->into.get();
    };
    for (const Deviation* one : path.chain) {
      while (walk != one->from.get()) leave_for_next();
      take(*walk, one->node.boundary);
      if (one->found_start) add(one->next.boundary, one->node.label / roles_);
      entered_ = one->next.boundary;
      walk = one->onto.get();
    }
    while (walk != nullptr) leave_for_next();
    list_.append_reversed(reversed_);
    return std::move(list_);
  }

 private:
  // Adds the segments that start on the walk, from where the path joins it to the boundary `left`.
  void take(const Walk& walk, std::int64_t left) {
    if (&walk == deviations_.best.get()) {
      for (; more_ && segment_.begin >= left; more_ = best_.next(segment_))
        if (segment_.begin < entered_) add(segment_.begin, segment_.label);
    } else {
      starts_.clear();
      walk.starts.read(left, entered_, *deviations_.spool, starts_);
      for (const SegmentStarts::Start& start : starts_) add(start.position, start.label / roles_);
    }
    entered_ = left;
  }
  void add(std::int64_t start, int label) {
    constexpr std::size_t kStretch = 4096;
    reversed_.push_back({start, right_, label});
    right_ = start;
    if (reversed_.size() < kStretch) return;
    list_.append_reversed(reversed_);
    reversed_.clear();
  }

  const Deviations& deviations_;
  SegmentList::ReverseReader best_;
  int roles_;
  Segment segment_;  // next segment of the best path
  bool more_ = false;
  std::int64_t right_;    // end of the segment whose start is found next
  std::int64_t entered_;  // boundary where the path joined the current walk
  std::vector<SegmentStarts::Start> starts_;
  std::vector<Segment> reversed_;
  SegmentList list_;
};

}  // namespace

std::vector<RankedPath> rank_paths(const Deviations& deviations, std::size_t most) {
  return Ranking(deviations, most).run();
}

SegmentList segments_of(const RankedPath& path, const Deviations& deviations, const SegmentList& best,
                        std::int64_t length, int roles) {
  return Assembly(deviations, best, length, roles).run(path);
}

}  // namespace semicrf
