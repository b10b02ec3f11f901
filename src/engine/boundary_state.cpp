#include "engine/boundary_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/chain_model.h"

namespace semicrf {
namespace {

// Visits pairs of corresponding entries of two states.
template <class Visit>
void for_each_pair(const BoundaryState& a, const BoundaryState& b, Visit visit) {
  for (std::size_t i = 0; i < a.ring.size(); ++i) visit(a.ring[i], b.ring[i]);
  for (std::size_t i = 0; i < a.message.size(); ++i) visit(a.message[i], b.message[i]);
  for (std::size_t i = 0; i < a.tail.size(); ++i) visit(a.tail[i], b.tail[i]);
}

}  // namespace

std::optional<double> agreement(const BoundaryState& truth, const BoundaryState& warmed, double tolerance,
                                Precision precision) {
  const double infinity = std::numeric_limits<double>::infinity();
  double low = infinity;
  double high = -infinity;
  double largest = 0;
  double weight = 0;
  double weighted = 0;
  bool same_support = true;
  for_each_pair(truth, warmed, [&](double a, double b) {
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

}  // namespace semicrf
