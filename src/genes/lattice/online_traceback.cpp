#include "genes/lattice/online_traceback.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace semicrf {
namespace {

template <class Items>
std::size_t index_of(const Items& items, int label) {
  std::size_t i = 0;
  while (items[i].label != label) ++i;
  return i;
}

}  // namespace

void OnlineTraceback::pass(LatticeSweep& sweep, const LatticeWindow& window) {
  spare_.clear();
  kept_.push_back({sweep, std::move(spare_), true});
  sweep.pass(window, *steps_, &kept_.back().nodes);
  decide(sweep.open_segments(window.end));
  if (kept_.size() < kKeptNodes) return;
  kept_[kept_.size() - kKeptNodes].drop_nodes();
}

// Follows the open segments back until they meet, as far as nodes are kept.
void OnlineTraceback::decide(std::vector<Node> frontier) {
  const auto before = [](const Node& a, const Node& b) {
    return std::tie(a.boundary, a.label) < std::tie(b.boundary, b.label);
  };
  std::make_heap(frontier.begin(), frontier.end(), before);
  const auto take = [&] {
    std::pop_heap(frontier.begin(), frontier.end(), before);
    const Node last = frontier.back();
    frontier.pop_back();
    return last;
  };
  while (!frontier.empty()) {
    const Node last = take();
    while (!frontier.empty() && frontier.front().boundary == last.boundary &&
           frontier.front().label == last.label)
      take();
    if (frontier.empty()) {
      decide_until(last);
      return;
    }
    if (last.boundary == 0 || window_of(last.boundary) < first_ ||
        !kept_[window_of(last.boundary) - first_].has_nodes)
      return;
    frontier.push_back(predecessor(last));
    std::push_heap(frontier.begin(), frontier.end(), before);
  }
}

void OnlineTraceback::decide_until(const Node& node) {
  std::vector<LatticeSegment> reversed;
  for (Node at = node; at.boundary > decided_.boundary;) {
    const Node left = predecessor(at);
    reversed.push_back({left.boundary, at.boundary, left.label});
    const std::size_t window = window_of(at.boundary);
    if (window_of(left.boundary) < window && window < window_of(node.boundary))  // it is not needed again
      kept_[window - first_].drop_nodes();
    at = left;
  }
  segments_.insert(segments_.end(), reversed.rbegin(), reversed.rend());
  decided_ = node;
  for (; first_ < window_of(node.boundary) && !kept_.empty(); ++first_) {
    spare_ = std::move(kept_.front().nodes);
    kept_.pop_front();
  }
}

OnlineTraceback::Node OnlineTraceback::predecessor(const Node& node) {
  const LatticeNodes& nodes = nodes_of(window_of(node.boundary));
  const auto event = std::lower_bound(
      nodes.events.begin(), nodes.events.end(), node.boundary,
      [](const LatticeNodes::Event& a, std::int64_t boundary) { return a.boundary < boundary; });
  if (event == nodes.events.end() || event->boundary != node.boundary)
    throw std::logic_error("a path left its nodes");
  const int label = nodes.sources[event->first_beginning + index_of(event->step->beginnings, node.label)];
  return {nodes.starts[event->first_ending + index_of(event->step->endings, label)], label};
}

const LatticeNodes& OnlineTraceback::nodes_of(std::size_t window) {
  Kept& kept = kept_[window - first_];
  if (!kept.has_nodes) {
    const auto begin = static_cast<std::int64_t>(window) * size_;
    LatticeSweep again = kept.before;
    again.pass(*source_->window(begin, std::min(begin + size_, source_->length())), *steps_, &kept.nodes);
    kept.has_nodes = true;
  }
  return kept.nodes;
}

std::vector<LatticeSegment> OnlineTraceback::finish(std::int64_t start, int label, std::int64_t length) {
  decide_until({start, label});
  segments_.push_back({start, length, label});
  return std::move(segments_);
}

}  // namespace semicrf
