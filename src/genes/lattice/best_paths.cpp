#include "genes/lattice/best_paths.h"

#include <algorithm>
#include <queue>

#include "core/counts.h"
#include "genes/lattice/lattice_sweep.h"

namespace semicrf {
namespace {

constexpr std::size_t kNoParent = -1;

class PathSearch {
 public:
  PathSearch(const Lattice& lattice, const LatticeSource& source, std::size_t count)
      : lattice_(lattice), length_(source.length()), count_(count), steps_(lattice, Direction::kForward) {
    source.read(0, length_, window_);
    sum_content();
    find_rests();
    find_places();
  }

  std::vector<LatticePath> search() {
    for (int c = 0; c < count_of(lattice_.labels); ++c) {
      const double score = lattice_.labels[c].initial, rest = rest_at_begin_[c];
      if (score > kNegativeInfinity && rest > kNegativeInfinity)
        children_.push_back({{0, c, kNoParent, score}, score + rest});
    }
    push_children();
    std::vector<LatticePath> found;
    while (!open_.empty() && found.size() < count_) {
      const auto [bound, index] = open_.top();
      open_.pop();
      if (partials_[index].begin == length_) {
        found.push_back({partials_[index].score, segments(index)});
        continue;
      }
      expand(index);
      push_children();
    }
    return found;
  }

 private:
  // A path up to where a segment begins; one that begins at T is complete.
  struct Partial {
    std::int64_t begin = 0;
    int label = 0;
    std::size_t parent = kNoParent;
    double score = 0;  // with that of the signal at `begin`
  };
  struct Child {
    Partial partial;
    double bound = 0;  // the score of its best path
  };

  void sum_content() {
    const std::size_t columns = lattice_.columns;
    content_.assign((length_ + 1) * columns, 0);
    for (std::size_t i = 0; i < window_.content.size(); ++i)
      content_[i + columns] = content_[i] + window_.content[i];
  }
  double content(int column, std::int64_t begin, std::int64_t end) const {
    if (column < 0) return 0;
    const auto at = [&](std::int64_t t) { return content_[t * lattice_.columns + column]; };
    return at(end) - at(begin);
  }

  // What the best path from where a label begins on comes to.
  void find_rests() {
    LatticeSweep sweep(lattice_, Direction::kBackward, LatticeSemiring::kMax, length_);
    LatticeSteps steps(lattice_, Direction::kBackward);
    LatticeNodes nodes;
    sweep.pass(window_, steps, &nodes);
    rests_.assign(window_.events.size(), {});
    for (const LatticeNodes::Event& event : nodes.events)
      for (std::size_t i = 0; i < event.step->endings.size(); ++i)
        rests_[event.window_event].emplace_back(event.step->endings[i].label,
                                                nodes.endings[event.first_ending + i]);
    rest_at_begin_ = sweep.end().endings;
  }
  double rest(std::size_t event, int label) const {
    for (const auto& [known, value] : rests_[event])
      if (known == label) return value;
    return kNegativeInfinity;
  }

  void find_places() {
    places_.resize(lattice_.barriers);
    for (const LatticeWindow::Place& place : window_.places) places_[place.kind].push_back(place.at);
  }
  // The first boundary at which a segment of the label that begins at `begin` may not end any more.
  std::int64_t limit(const LatticeLabel& label, std::int64_t begin) const {
    std::int64_t limit = length_ + 1;
    for (const LatticeBarrier& barrier : label.barriers) {
      const auto& places = places_[barrier.kind];
      const auto place = std::lower_bound(places.begin(), places.end(), begin - barrier.last_begin);
      if (place != places.end()) limit = std::min(limit, *place + barrier.first_end);
    }
    return limit;
  }
  void expand(std::size_t index) {
    const Partial partial = partials_[index];
    const LatticeLabel& label = lattice_.labels[partial.label];
    const std::int64_t behind = limit(label, partial.begin);
    const auto score_up_to = [&](std::int64_t end) {
      const double duration = duration_score(lattice_, label, partial.begin, end, length_);
      return duration == kNegativeInfinity
                 ? duration
                 : partial.score + duration + content(label.column, partial.begin, end);
    };
    auto event = std::upper_bound(
        window_.events.begin(), window_.events.end(), partial.begin,
        [](std::int64_t begin, const LatticeWindow::Event& one) { return begin < one.boundary; });
    for (; event != window_.events.end() && event->boundary < behind; ++event) {
      const LatticeStep& step = steps_.at(event->signals);
      const auto ending = std::find_if(step.endings.begin(), step.endings.end(),
                                       [&](const auto& one) { return one.label == partial.label; });
      if (ending == step.endings.end()) continue;
      const double score = score_up_to(event->boundary);
      if (score == kNegativeInfinity) continue;
      const std::size_t at = event - window_.events.begin();
      for (const LatticeStep::Beginning& next : step.beginnings)
        for (std::size_t e = next.first_edge; e < next.last_edge; ++e) {
          if (&step.endings[step.edges[e].ending] != &*ending) continue;
          const double begun = score + window_.score(*event, ending->signal) + step.edges[e].score +
                               window_.score(*event, next.signal);
          const double bound = begun + rest(at, next.label);
          if (bound > kNegativeInfinity)
            children_.push_back({{event->boundary, next.label, index, begun}, bound});
        }
    }
    if (length_ >= behind || label.final == kNegativeInfinity) return;
    const double score = score_up_to(length_) + label.final;
    if (score > kNegativeInfinity) children_.push_back({{length_, -1, index, score}, score});
  }

  // Each child is the beginning of a path of its own: more than are wanted in all need not be kept.
  void push_children() {
    const auto better = [](const Child& a, const Child& b) { return a.bound > b.bound; };
    if (children_.size() > count_) {
      std::nth_element(children_.begin(), children_.begin() + static_cast<std::ptrdiff_t>(count_ - 1),
                       children_.end(), better);
      children_.resize(count_);
    }
    for (const Child& child : children_) {
      open_.emplace(child.bound, partials_.size());
      partials_.push_back(child.partial);
    }
    children_.clear();
  }

  std::vector<LatticeSegment> segments(std::size_t index) const {
    std::vector<LatticeSegment> path;
    for (std::int64_t end = length_; partials_[index].parent != kNoParent; end = partials_[index].begin) {
      index = partials_[index].parent;
      path.push_back({partials_[index].begin, end, partials_[index].label});
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  const Lattice& lattice_;
  std::int64_t length_;
  std::size_t count_;
  LatticeSteps steps_;
  LatticeWindow window_;
  std::vector<double> content_;                             // (T + 1, columns) sums up to each boundary
  std::vector<std::vector<std::pair<int, double>>> rests_;  // by event of the window
  std::vector<double> rest_at_begin_;                       // by label
  std::vector<std::vector<std::int64_t>> places_;           // by kind, ascending
  std::vector<Partial> partials_;
  std::vector<Child> children_;                               // scratch
  std::priority_queue<std::pair<double, std::size_t>> open_;  // bound, index in partials_
};

}  // namespace

std::vector<LatticePath> best_paths(const Lattice& lattice, const LatticeSource& source, std::size_t count) {
  if (count == 0 || source.length() == 0) return {};
  return PathSearch(lattice, source, count).search();
}

}  // namespace semicrf
