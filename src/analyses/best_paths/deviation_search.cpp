#include "analyses/best_paths/deviation_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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

}  // namespace semicrf
