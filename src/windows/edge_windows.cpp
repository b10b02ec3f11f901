#include "windows/edge_windows.h"

#include <algorithm>

#include "core/chain_model.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

double add(Semiring semiring, double a, double b) {
  return semiring == Semiring::kLog ? log_add(a, b) : std::max(a, b);
}

// What a segment longer than K scores with a role beyond what it scores without.
double beyond_tail(const EdgeRoles& roles, int label) {
  const std::int64_t longest = roles.base().max_duration;
  return roles.survival(longest, label) - roles.base().duration_score(longest, label);
}

// The segments of a label that end at the boundary of a forward state, or begin at that of a backward one:
// their mass with their survival, less that with their durations.
double survival_beyond_duration(const BoundaryState& state, const EdgeRoles& roles, int label,
                                Semiring semiring) {
  const ChainModel& base = roles.base();
  const auto labels = wide(base.num_labels), c = wide(label);
  double survived = kNegativeInfinity, ended = kNegativeInfinity;
  for (int k = 1; k <= base.max_duration; ++k) {
    const double start = state.ring[(k - 1) * labels + c];
    if (start == kNegativeInfinity) continue;
    survived = add(semiring, survived, start + roles.survival(k, label));
    ended = add(semiring, ended, start + base.duration_score(k, label));
  }
  if (!state.tail.empty() && state.tail[c] > kNegativeInfinity) {
    survived = add(semiring, survived, state.tail[c] + beyond_tail(roles, label));
    ended = add(semiring, ended, state.tail[c]);
  }
  return ended == kNegativeInfinity ? kNegativeInfinity : survived - ended;
}

// Moves what is relative to the offset so that the largest entry is 0.
void normalise(BoundaryState& state) {
  double largest = kNegativeInfinity;
  for (const std::vector<double>* entries : {&state.ring, &state.message, &state.tail})
    for (const double entry : *entries) largest = std::max(largest, entry);
  if (largest == kNegativeInfinity) return;
  for (std::vector<double>* entries : {&state.ring, &state.message, &state.tail})
    for (double& entry : *entries) entry -= largest;
  state.offset += largest;
}

BoundaryState at_the_same_boundary(const BoundaryState& state) {
  BoundaryState result;
  result.boundary = state.boundary;
  result.whole = state.whole;
  result.offset = state.offset;
  return result;
}

}  // namespace

EdgeLengths edge_lengths(const Engine& engine, CutEdges cut, std::int64_t length) {
  const ChunkGrid grid = engine.grid(length);
  if (!cut.any() || (grid.edge == 0 && grid.chunk >= length)) return {};
  // Warm-ups of the windows between them do not meet an edge, and are longer than K.
  const std::int64_t least = grid.warmup + kBlockPositions;
  const std::int64_t step = grid.edge > 0 ? grid.edge : grid.chunk;
  EdgeLengths lengths;
  if (cut.left) lengths.left = (least + step - 1) / step * step;
  if (cut.right) lengths.right = length - (length - least) / step * step;
  const bool fits = length > least && lengths.left + lengths.right < length;
  return fits && grid.warmup > engine.model().max_duration ? lengths : EdgeLengths{};
}

EdgeLengths lengths_of(const EdgeWindows* edges) {
  return edges != nullptr ? EdgeLengths{edges->left.positions, edges->right.positions} : EdgeLengths{};
}

EdgeWindows resized(EdgeWindows edges, EdgeLengths lengths) {
  edges.left.positions = lengths.left;
  edges.right.positions = lengths.right;
  return edges;
}

BoundaryState with_roles(const BoundaryState& state, const EdgeRoles& roles, Semiring semiring) {
  BoundaryState result = at_the_same_boundary(state);
  const auto twice = [](const std::vector<double>& entries) {
    std::vector<double> repeated;
    repeated.reserve(2 * entries.size());
    for (const double entry : entries) repeated.insert(repeated.end(), 2, entry);
    return repeated;
  };
  result.ring = twice(state.ring);
  result.message = twice(state.message);
  result.tail = twice(state.tail);
  for (int c = 0; c < roles.base().num_labels; ++c) {
    const std::size_t role = 2 * wide(c) + 1;
    if (!result.tail.empty() && result.tail[role] > kNegativeInfinity)
      result.tail[role] += beyond_tail(roles, c);
    if (result.message[role] > kNegativeInfinity)
      result.message[role] += survival_beyond_duration(state, roles, c, semiring);
  }
  normalise(result);
  return result;
}

BoundaryState without_roles(const BoundaryState& state, const EdgeRoles& roles, Semiring semiring) {
  BoundaryState result = at_the_same_boundary(state);
  const std::size_t labels = roles.base().num_labels;
  // A first segment began, and a last one ends, further than K away: the ring has none.
  for (std::size_t i = 0; i < state.ring.size(); i += 2) result.ring.push_back(state.ring[i]);
  const auto folded = [&](const std::vector<double>& entries) {
    std::vector<double> sums;
    for (std::size_t c = 0; c < labels && !entries.empty(); ++c)
      sums.push_back(add(semiring, entries[2 * c], entries[2 * c + 1]));
    return sums;
  };
  result.message = folded(state.message);
  result.tail = folded(state.tail);
  normalise(result);
  return result;
}

TraceCursor with_roles(const TraceCursor& cursor, const EdgeRoles& roles, const BoundaryState& state) {
  const std::size_t whole = wide(cursor.label) * wide(roles.count());
  // The later start wins a tie, and a first segment's is the earliest.
  const auto is_first = [whole](const std::vector<double>& entries) {
    return entries[whole + 1] > entries[whole];
  };
  TraceCursor result = cursor;
  result.label = static_cast<int>(whole);
  const bool first = (cursor.phase == TraceCursor::Phase::kFindStart && is_first(state.message)) ||
                     (cursor.phase == TraceCursor::Phase::kInTail && is_first(state.tail));
  if (first) ++result.label;
  return result;
}

}  // namespace semicrf
