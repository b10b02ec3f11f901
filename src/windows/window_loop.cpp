#include "windows/window_loop.h"

#include <algorithm>

namespace semicrf {

void ChunkTotals::add(const std::vector<ChunkReport>& chunks) {
  for (const ChunkReport& chunk : chunks) {
    fallbacks += chunk.fallbacks;
    repaired_chunks += chunk.repaired ? 1 : 0;
  }
}

bool is_impossible(const BoundaryState& state) {
  const auto all_forbidden = [](const std::vector<double>& entries) {
    return std::ranges::all_of(entries, [](double entry) { return entry == kNegativeInfinity; });
  };
  return all_forbidden(state.message) && all_forbidden(state.ring) && all_forbidden(state.tail);
}

WindowLoop::WindowLoop(Engine& engine, ScoreSource& source, const WindowPlan& plan, Scores scores,
                       const ProgressCallback& progress, const EdgeWindows* edges, Semiring semiring)
    : plan_(plan),
      progress_(progress),
      edges_(edges),
      semiring_(semiring),
      engine_(engine),
      reader_(engine, source, plan, scores),
      states_(plan.count() + 1) {
  if (plan.edges.left > 0) first_.emplace(edges->left, plan, scores);
  if (plan.edges.right > 0) last_.emplace(edges->right, plan, scores);
}

const EdgeWindow* WindowLoop::edge(std::int64_t n) const {
  if (n < first_inner()) return &edges_->left;
  return n > last_inner() ? &edges_->right : nullptr;
}

const EdgeRoles* WindowLoop::roles(std::int64_t n) const {
  const EdgeWindow* const own = edge(n);
  return own != nullptr ? own->roles : nullptr;
}

Engine& WindowLoop::engine(std::int64_t n) const {
  const EdgeWindow* const own = edge(n);
  return own != nullptr ? *own->engine : engine_;
}

ScoreWindow WindowLoop::read(std::int64_t n) {
  return edge(n) != nullptr ? edge_readers(n).scores.read(n) : reader_.read(n);
}

ScoreWindow WindowLoop::read_plain(std::int64_t n) { return edge_readers(n).plain.read(n); }

const BoundaryState* WindowLoop::left(std::int64_t n) {
  if (n == 0) return nullptr;
  const BoundaryState& state = states_[n];
  if (roles(n) == nullptr) return &state;
  left_ = into(n, state);
  return &left_;
}

BoundaryState WindowLoop::into(std::int64_t n, BoundaryState state) const {
  const EdgeRoles* const own = roles(n);
  return own != nullptr ? with_roles(state, *own, semiring_) : state;
}

BoundaryState WindowLoop::out_of(std::int64_t n, BoundaryState state, Direction direction) const {
  const EdgeRoles* const own = roles(n);
  // The first window's backward state is that of the sequence's begin, and goes nowhere.
  const bool leaves = direction == Direction::kForward ? n < last() : n > 0;
  return own != nullptr && leaves ? without_roles(state, *own, semiring_) : state;
}

}  // namespace semicrf
