#include "analyses/best_paths/deviation_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "windows/memory_budget.h"

namespace semicrf {

DeviationSearch::DeviationSearch(const ChainModel& model, std::int64_t length, const SegmentList& best,
                                 std::size_t most, Precision precision)
    : model_(model),
      most_(most),
      unit_(std::ldexp(1.0, precision == Precision::kFloat ? -18 : -36)),
      spool_(std::make_shared<TempSpool>(kSpoolMemory, "")),
      best_(std::make_shared<Walk>()),
      best_segments_(best, length) {
  best_segments_.next(segment_);
  arrivals_[{length, PathNode::Kind::kLast, 0}] = {best_, {}, {}, {}};
}

void DeviationSearch::search(const PositionRange& window, const ChoiceFinder& finder) {
  while (!arrivals_.empty() && arrivals_.begin()->first.boundary > window.begin) {
    const auto next = arrivals_.extract(arrivals_.begin());
    visit(next.key(), next.mapped(), finder);
  }
}

Deviations DeviationSearch::finish() {
  Deviations result{best_, {}, spool_};
  for (const Way& way : kept_) result.kept.push_back(way.last);
  return result;
}

void DeviationSearch::visit(const PathNode& node, const Arrival& arrival, const ChoiceFinder& finder) {
  // Only paths that have dropped out of the N-1 best lead to this walk.
  if (arrival.walk != best_ && is_full() && comes_before(*kept_.rbegin(), arrival.way)) return;
  finder.find(node, arrival.open, choices_);
  const Choice& usual = usual_choice(node, arrival);
  for (const Choice& choice : choices_)
    if (choice.number != usual.number) offer(node, arrival, choice, usual, finder);
  go_on(node, arrival, usual, finder);
}

double DeviationSearch::loss(double best, double other) const {
  return std::max(0.0, std::round((best - other) / unit_) * unit_);
}

// The best choice or, of several equally good ones, that with the smallest number. On the best path it is the
// choice that this path made, which may differ from the former within rounding.
const Choice& DeviationSearch::usual_choice(const PathNode& node, const Arrival& arrival) {
  auto found = std::ranges::max_element(choices_, {}, &Choice::score);
  if (arrival.walk == best_) {
    found = std::ranges::find(choices_, number_on_best_path(node), &Choice::number);
  } else if (found != choices_.end()) {
    found = std::ranges::find_if(
        choices_, [&, best = found->score](const Choice& one) { return loss(best, one.score) == 0; });
  }
  if (found == choices_.end())
    throw std::logic_error("a path has no way on: the forward messages contradict each other");
  return *found;
}

std::int64_t DeviationSearch::number_on_best_path(const PathNode& node) {
  switch (node.kind) {
    case PathNode::Kind::kEnd:
      return std::min<std::int64_t>(segment_.end - segment_.begin - 1, model_.max_duration);
    case PathNode::Kind::kTail:
      return node.boundary - model_.max_duration - 1 == segment_.begin ? 0 : 1;
    case PathNode::Kind::kStart:
      best_segments_.next(segment_);
      break;
    default:
      break;
  }
  return segment_.label;
}

void DeviationSearch::offer(const PathNode& node, const Arrival& arrival, const Choice& choice,
                            const Choice& usual, const ChoiceFinder& finder) {
  const double own = loss(usual.score, choice.score);
  const double total = arrival.way.loss + own;
  if (is_full() && (most_ == 0 || total > kept_.rbegin()->loss)) return;
  const auto deviation = std::make_shared<Deviation>();
  deviation->node = node;
  deviation->usual = usual.number;
  deviation->number = choice.number;
  deviation->loss = own;
  deviation->before = arrival.way.last;
  deviation->from = arrival.walk;
  deviation->collected = arrival.collected;
  const Way way{total, deviation};
  if (is_full() && !comes_before(way, *kept_.rbegin())) return;
  deviation->gain = finder.gain(node, choice);
  deviation->found_start = finds_start(model_, node, choice.number);
  deviation->next = next_node(model_, node, choice.number);
  if (deviation->next.kind != PathNode::Kind::kDone) {
    const auto [at, is_new] = arrivals_.try_emplace(deviation->next);
    Arrival& next = at->second;
    if (is_new) next = {std::make_shared<Walk>(), way, {}, choice.content};
    if (!is_new && comes_before(way, next.way)) next.way = way;
    deviation->onto = next.walk;
    deviation->joined = next.collected;
  }
  kept_.insert(way);
  if (kept_.size() > most_) kept_.erase(std::prev(kept_.end()));
}

// Takes the walk to its next node. Of two walks that meet there one goes on: that of the best path, or else
// the one that was there before.
void DeviationSearch::go_on(const PathNode& node, const Arrival& arrival, const Choice& choice,
                            const ChoiceFinder& finder) {
  Walk& walk = *arrival.walk;
  const PathNode next = next_node(model_, node, choice.number);
  const bool is_best = arrival.walk == best_;
  if (!is_best && finds_start(model_, node, choice.number))
    walk.starts.add(next.boundary, node.label, *spool_);
  CompensatedSum collected = arrival.collected;
  collected.add(finder.gain(node, choice));
  if (next.kind == PathNode::Kind::kDone) {
    walk.collected = collected;
    walk.first_label = node.label;
    return;
  }
  const auto [at, is_new] = arrivals_.try_emplace(next);
  Arrival& there = at->second;
  if (is_new) {
    there = {arrival.walk, arrival.way, collected, choice.content};
    return;
  }
  Arrival mine{arrival.walk, arrival.way, collected, choice.content};
  if (is_best) std::swap(mine, there);
  *mine.walk = {std::move(mine.walk->starts), there.walk, next, mine.collected, there.collected, 0};
  if (comes_before(mine.way, there.way)) there.way = mine.way;
}

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
  Assembly(const Deviations& deviations, const SegmentList& best, std::int64_t length)
      : deviations_(deviations), best_(best, length), right_(length), entered_(length) {
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
      if (one->found_start) add(one->next.boundary, one->node.label);
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
      for (const SegmentStarts::Start& start : starts_) add(start.position, start.label);
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
                        std::int64_t length) {
  return Assembly(deviations, best, length).run(path);
}

}  // namespace semicrf
