#include "engine/boundary_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sizes.h"

namespace semicrf {

namespace {

// Whether the message, or tail, of label c is nothing beside its twin's.
bool is_nothing(const std::vector<double>& of_labels, std::size_t c, std::span<const int> twins,
                double below) {
  return of_labels[c] <= of_labels[twins[c]] - below;
}

// Visits pairs of corresponding entries of two states, but those that are left out.
template <class Visit>
void for_each_pair(const BoundaryState& a, const BoundaryState& b, std::span<const int> twins, double below,
                   Visit visit) {
  for (std::size_t i = 0; i < a.ring.size(); ++i) visit(a.ring[i], b.ring[i]);
  for (const auto part : {&BoundaryState::message, &BoundaryState::tail}) {
    const std::vector<double>&in_a = a.*part, &in_b = b.*part;
    for (std::size_t c = 0; c < in_a.size(); ++c) {
      const bool out = !twins.empty() && twins[c] >= 0 && is_nothing(in_a, c, twins, below) &&
                       is_nothing(in_b, c, twins, below);
      if (!out) visit(in_a[c], in_b[c]);
    }
  }
}

}  // namespace

std::vector<int> edge_twins(const ChainModel& model, Direction direction) {
  std::vector<int> twins = model.twin;
  for (int c = 0; c < static_cast<int>(twins.size()); ++c) {
    for (int other = 0; other < model.num_labels; ++other) {
      const bool forward = direction == Direction::kForward;
      if (model.transition_at(forward ? other : c, forward ? c : other) > kNegativeInfinity) twins[c] = -1;
    }
  }
  if (std::ranges::all_of(twins, [](int twin) { return twin < 0; })) twins.clear();
  return twins;
}

double negligible_beside(Precision precision) { return precision == Precision::kFloat ? 20 : 40; }

std::optional<double> agreement(const BoundaryState& truth, const BoundaryState& warmed, double tolerance,
                                Precision precision, std::span<const int> edge_twins) {
  const double of_repairs = kToleranceOfRepairs * tolerance;
  for (const BoundaryState& earlier : truth.earlier) {
    if (!agreement(earlier, warmed, tolerance, precision, edge_twins)) return std::nullopt;
    tolerance = of_repairs;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  double low = infinity;
  double high = -infinity;
  double largest = 0;
  double weight = 0;
  double weighted = 0;
  bool same_support = true;
  for_each_pair(truth, warmed, edge_twins, negligible_beside(precision), [&](double a, double b) {
    if (a == -infinity && b == -infinity) return;
    if (a == -infinity || b == -infinity) {
      same_support = false;
      return;
    }
    const double difference = a - b;
    low = std::min(low, difference);
    high = std::max(high, difference);
    largest = std::max({largest, std::fabs(a), std::fabs(b)});
    const double mass = std::exp(a);
    weight += mass;
    weighted += mass * difference;
  });
  if (!same_support) return std::nullopt;
  const double shift = truth.offset - warmed.offset;
  if (low > high) return shift;  // nothing finite on either side
  const double epsilon = precision == Precision::kFloat
                             ? static_cast<double>(std::numeric_limits<float>::epsilon())
                             : std::numeric_limits<double>::epsilon();
  if (high - low > tolerance + 4 * epsilon * largest) return std::nullopt;
  return shift + (weight > 0 ? weighted / weight : high);
}

double log_sum(const BoundaryState& state_at_end) {
  double best = kNegativeInfinity;
  for (const double value : state_at_end.message) best = std::max(best, value);
  if (best == kNegativeInfinity) return best;
  double sum = 0;
  for (const double value : state_at_end.message) sum += std::exp(value - best);
  return state_at_end.whole + (state_at_end.offset + best + std::log(sum));
}

double best_final_score(const BoundaryState& state_at_end, int* best_label) {
  const auto best = std::max_element(state_at_end.message.begin(), state_at_end.message.end());
  if (best_label != nullptr) *best_label = static_cast<int>(best - state_at_end.message.begin());
  return state_at_end.whole + (state_at_end.offset + *best);
}

BoundaryState normalised(BoundaryState state) {
  double largest = kNegativeInfinity;
  for (const auto* part : {&state.ring, &state.message, &state.tail}) {
    for (const double entry : *part) largest = std::max(largest, entry);
  }
  if (largest == kNegativeInfinity) return state;
  state.offset += largest;
  for (auto* part : {&state.ring, &state.message, &state.tail}) {
    for (double& entry : *part) entry -= largest;
  }
  return state;
}

}  // namespace semicrf
