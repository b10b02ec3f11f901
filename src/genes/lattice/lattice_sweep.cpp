#include "genes/lattice/lattice_sweep.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "core/counts.h"

namespace semicrf {
namespace {

bool has(std::uint64_t signals, int signal) { return signal < 0 || (signals >> signal & 1) != 0; }

// Finds a beginning of the step with which the next one shares a sum.
void find_like(const LatticeStep& step, LatticeStep::Beginning& next) {
  const auto edges_of = [&](const LatticeStep::Beginning& one) {
    return std::span(step.edges).subspan(one.first_edge, one.last_edge - one.first_edge);
  };
  const auto own = edges_of(next);
  for (next.like = 0; next.like < step.beginnings.size(); ++next.like) {
    const auto edges = edges_of(step.beginnings[next.like]);
    next.more = own.front().score - edges.front().score;
    if (step.beginnings[next.like].like == next.like &&
        std::equal(own.begin(), own.end(), edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
          return a.ending == b.ending && a.score - b.score == next.more;
        }))
      return;
  }
  next.more = 0;
}

}  // namespace

bool LatticeNodes::wants(std::int64_t boundary) const {
  return only == nullptr || std::binary_search(only->begin(), only->end(), boundary);
}

void LatticeNodes::clear() {
  events.clear(), endings.clear(), starts.clear(), duration_scores.clear();
  beginnings.clear(), sources.clear();
}

LatticeSweep::LatticeSweep(const Lattice& lattice, Direction direction, LatticeSemiring semiring,
                           std::int64_t length)
    : lattice_(&lattice),
      direction_(direction),
      semiring_(semiring),
      length_(length),
      content_(lattice.columns),
      endings_(lattice.labels.size()),
      beginnings_(lattice.labels.size()) {
  auto fixed = std::make_shared<Fixed>();
  fixed->linear_laws.resize(lattice.laws.size());
  if (semiring == LatticeSemiring::kLog)
    for (std::size_t i = 0; i < lattice.laws.size(); ++i)
      fixed->linear_laws[i] = linear_law(lattice.laws[i], length);
  fixed->starts_of = labels_that_begin_alike(lattice, direction);
  const bool cut = lattice.cut_begin || lattice.cut_end;
  std::vector<bool> keeps_tail(lattice.labels.size());
  for (std::size_t c = 0; c < lattice.labels.size(); ++c) {
    const LatticeLabel& label = lattice.labels[c];
    const LatticeLaw& law = lattice.laws[label.law];
    fixed->rules.push_back(duration_rule(law, label));
    if (cut ? law.log_tail > kNegativeInfinity : fixed->rules[c].tail_score > kNegativeInfinity)
      keeps_tail[fixed->starts_of[c]] = true;
  }
  fixed_ = std::move(fixed);
  for (int c = 0; c < count_of(lattice.labels); ++c) {
    const int law = lattice.labels[c].law;
    open_.emplace_back(lattice.laws[law], fixed_->linear_laws[law], cut ? &lattice.cut_laws[law] : nullptr,
                       cut ? &lattice.twice_cut_laws[law] : nullptr,
                       is_first(c) ? lattice.labels[c].modulus : 0, keeps_tail[c], semiring);
  }
  prepare_barriers();
}

void LatticeSweep::prepare_barriers() {
  const bool forward = direction_ == Direction::kForward;
  for (int c = 0; c < count_of(lattice_->labels); ++c) {
    if (!is_first(c)) continue;
    for (const LatticeBarrier& barrier : lattice_->labels[c].barriers) {
      const std::int64_t met = forward ? barrier.first_end : barrier.last_begin;
      auto turn = std::find_if(turns_.begin(), turns_.end(),
                               [&](const BarrierTurn& one) { return one.offset == met; });
      if (turn == turns_.end()) {
        turn = turns_.insert(turn, {met, {}, 0});
        turn->of_kind.resize(lattice_->barriers);
      }
      turn->of_kind[barrier.kind].push_back({c, forward ? barrier.last_begin : barrier.first_end});
    }
  }
}

std::vector<int> labels_that_begin_alike(const Lattice& lattice, Direction direction) {
  const bool forward = direction == Direction::kForward;
  const std::vector<LatticeLabel>& labels = lattice.labels;
  std::vector<std::vector<std::pair<int, double>>> edges(labels.size());  // by label, those to its segments
  for (const LatticeEdge& edge : lattice.edges)
    edges[forward ? edge.to : edge.from].emplace_back(forward ? edge.from : edge.to, edge.score);
  const auto are_alike = [&](std::size_t a, std::size_t b) {
    const LatticeLabel &one = labels[a], &other = labels[b];
    return one.column == other.column && one.law == other.law && one.modulus == other.modulus &&
           (forward ? one.initial == other.initial && one.start_signal == other.start_signal
                    : one.final == other.final && one.end_signal == other.end_signal) &&
           one.barriers == other.barriers && edges[a] == edges[b];
  };
  std::vector<int> first;
  for (int c = 0; c < count_of(labels); ++c) {
    int like = 0;
    while (like < c && (first[like] != like || !are_alike(like, c))) ++like;
    first.push_back(like);
  }
  return first;
}

const LatticeStep& LatticeSteps::find(std::uint64_t signals) {
  const auto [found, is_new] = known_.try_emplace(signals);
  LatticeStep& step = found->second;
  if (!is_new) return step;
  const std::vector<LatticeLabel>& labels = lattice_->labels;
  const bool forward = direction_ == Direction::kForward;
  std::map<int, std::vector<LatticeStep::Edge>> into;
  std::map<int, std::size_t> endings;
  const auto possible = [&](const LatticeEdge& edge) {
    return has(signals, labels[edge.from].end_signal) && has(signals, labels[edge.to].start_signal);
  };
  const auto score_of = [&](int signal) {
    return signal < 0 ? -1 : std::popcount(signals & ((std::uint64_t{1} << signal) - 1));
  };
  for (const LatticeEdge& edge : lattice_->edges)
    if (possible(edge)) endings.emplace(forward ? edge.from : edge.to, 0);
  for (auto& [label, index] : endings) {
    index = step.endings.size();
    const int signal = forward ? labels[label].end_signal : labels[label].start_signal;
    step.endings.push_back({label, signal, score_of(signal)});
  }
  for (std::size_t e = 0; e < lattice_->edges.size(); ++e) {
    const LatticeEdge& edge = lattice_->edges[e];
    if (possible(edge))
      into[forward ? edge.to : edge.from].push_back({endings[forward ? edge.from : edge.to], edge.score, e});
  }
  for (const auto& [label, edges] : into) {
    const int signal = forward ? labels[label].start_signal : labels[label].end_signal;
    LatticeStep::Beginning beginning{label, signal, score_of(signal), step.edges.size(), 0};
    step.edges.insert(step.edges.end(), edges.begin(), edges.end());
    beginning.last_edge = step.edges.size();
    find_like(step, beginning);
    step.beginnings.push_back(beginning);
  }
  return step;
}

void LatticeSweep::begin() {
  if (std::exchange(begun_, true)) return;
  for (int c = 0; c < count_of(open_); ++c) {
    const LatticeLabel& label = lattice_->labels[c];
    const bool forward = direction_ == Direction::kForward;
    const double value = forward ? label.initial : label.final;
    if (value == kNegativeInfinity || !is_first(c)) continue;
    if (forward ? lattice_->cut_begin : lattice_->cut_end)
      open_[c].open_cut(value);
    else
      open_[c].open(0, value);
  }
}

void LatticeSweep::pass(const LatticeWindow& window, LatticeSteps& steps, LatticeNodes* nodes) {
  begin();
  const bool forward = direction_ == Direction::kForward;
  for (BarrierTurn& turn : turns_) {
    turn.next = forward ? 0 : window.places.size();
    aim(window, turn);
  }
  if (forward) {
    std::size_t event = 0;
    for (std::int64_t t = window.begin; t < window.end; ++t) {
      for (; event < window.events.size() && window.events[event].boundary == t; ++event)
        if (t > 0) meet(window, steps.at(window.events[event].signals), event, nodes);
      add(window, t);
      for (BarrierTurn& turn : turns_)
        if (turn.met <= t + 1) forget_at(window, t + 1, turn);
    }
    return;
  }
  std::size_t event = window.events.size();
  for (std::int64_t t = window.end - 1; t >= window.begin; --t) {
    add(window, t);
    for (BarrierTurn& turn : turns_)
      if (turn.met >= t) forget_at(window, t, turn);
    for (; event > 0 && window.events[event - 1].boundary == t; --event)
      if (t > 0) meet(window, steps.at(window.events[event - 1].signals), event - 1, nodes);
  }
}

void LatticeSweep::add(const LatticeWindow& window, std::int64_t position) {
  const std::size_t columns = content_.size();
  const float* row = window.content.data() + (position - window.begin) * columns;
  for (std::size_t c = 0; c < columns; ++c) content_[c] += row[c];
}

// Finds where the next place of a turn is met.
void LatticeSweep::aim(const LatticeWindow& window, BarrierTurn& turn) const {
  const auto& places = window.places;
  using Limits = std::numeric_limits<std::int64_t>;
  if (direction_ == Direction::kForward)
    turn.met = turn.next < places.size() ? places[turn.next].at + turn.offset : Limits::max();
  else
    turn.met = turn.next > 0 ? places[turn.next - 1].at + turn.offset : Limits::min();
}

// Barriers that are met at `boundary`, before what ends there.
void LatticeSweep::forget_at(const LatticeWindow& window, std::int64_t boundary, BarrierTurn& turn) {
  const bool forward = direction_ == Direction::kForward;
  while (forward ? turn.met <= boundary : turn.met >= boundary) {
    const LatticeWindow::Place& place = window.places[forward ? turn.next++ : --turn.next];
    if (turn.met == boundary)
      for (const BarrierTurn::Forgets& one : turn.of_kind[place.kind])
        open_[one.label].forget(along(place.at + one.offset));
    aim(window, turn);
  }
}

void LatticeSweep::meet(const LatticeWindow& window, const LatticeStep& step, std::size_t event,
                        LatticeNodes* nodes) {
  if (step.edges.empty()) return;
  const LatticeWindow::Event& there = window.events[event];
  if (nodes != nullptr && !nodes->wants(there.boundary)) nodes = nullptr;
  const std::int64_t here = along(there.boundary);
  const bool best = semiring_ == LatticeSemiring::kMax;
  if (nodes != nullptr)
    nodes->events.push_back({there.boundary, &step, event, nodes->endings.size(),
                             best ? nodes->sources.size() : nodes->beginnings.size()});
  const float* const scores = window.scores.data() + there.first;
  const auto score_of = [&](int index) { return index < 0 ? 0.0 : scores[index]; };
  for (std::size_t i = 0; i < step.endings.size(); ++i) {
    const auto& [label, signal, score] = step.endings[i];
    ClosedSegments closed = open_of(label).close(
        here, fixed_->rules[label], nodes == nullptr ? ClosingDetail::kNone : ClosingDetail::kAll);
    if (closed.value > kNegativeInfinity) closed.value += content_of(label);
    endings_[i] = closed.value + score_of(score);
    if (nodes == nullptr) continue;
    nodes->endings.push_back(closed.value);
    if (best)
      nodes->starts.push_back(closed.start < 0 ? -1 : along(closed.start));
    else
      nodes->duration_scores.push_back(closed.duration_score);
  }
  for (std::size_t n = 0; n < step.beginnings.size(); ++n) {
    const LatticeStep::Beginning& beginning = step.beginnings[n];
    Begun& begun = beginnings_[n];
    begun = beginning.like == n ? sum_of_edges(step, beginning) : beginnings_[beginning.like];
    begun.value += beginning.more;
    const double total = begun.value + score_of(beginning.score);
    if (total > kNegativeInfinity && is_first(beginning.label))
      open_[beginning.label].open(here, total - content_of(beginning.label));
    if (nodes == nullptr) continue;
    if (best)
      nodes->sources.push_back(begun.source);
    else
      nodes->beginnings.push_back(total);
  }
}

LatticeSweep::Begun LatticeSweep::sum_of_edges(const LatticeStep& step,
                                               const LatticeStep::Beginning& beginning) const {
  Begun begun;
  for (std::size_t e = beginning.first_edge; e < beginning.last_edge; ++e) {
    const LatticeStep::Edge& edge = step.edges[e];
    const double value = endings_[edge.ending] + edge.score;
    if (semiring_ == LatticeSemiring::kLog) {
      begun.value = log_add_near(begun.value, value);
    } else if (value > begun.value) {
      begun = {value, step.endings[edge.ending].label};
    }
  }
  return begun;
}

std::vector<OpenSegment> LatticeSweep::open_segments(std::int64_t boundary) const {
  std::vector<OpenSegment> open;
  std::vector<std::int64_t> starts;
  for (int c = 0; c < count_of(open_); ++c) {
    starts.clear();
    open_of(c).append_starts(boundary, starts);
    for (const std::int64_t start : starts) open.push_back({start, c});
  }
  return open;
}

LatticeEnd LatticeSweep::end() {
  begin();
  LatticeEnd end;
  for (int c = 0; c < count_of(open_); ++c) {
    const LatticeLabel& label = lattice_->labels[c];
    const bool forward = direction_ == Direction::kForward;
    const double last = forward ? label.final : label.initial;
    ClosedSegments closed = (forward ? lattice_->cut_end : lattice_->cut_begin)
                                ? open_of(c).close_cut(length_)
                                : open_of(c).close(length_, fixed_->rules[c], ClosingDetail::kAll);
    closed.value += content_of(c);
    const double value = closed.value + last;
    if (semiring_ == LatticeSemiring::kLog) {
      end.value = log_add(end.value, value);
    } else if (value > end.value) {
      end.value = value;
      end.best_label = c;
    }
    end.endings.push_back(closed.value);
    end.starts.push_back(closed.start < 0 ? -1 : along(closed.start));
    end.duration_scores.push_back(closed.duration_score);
  }
  return end;
}

}  // namespace semicrf
