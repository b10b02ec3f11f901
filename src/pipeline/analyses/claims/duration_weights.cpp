#include "pipeline/analyses/claims/duration_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace semicrf {
namespace {

// A sum of products of scaled numbers that is not below this has lost nothing that counts: what underflowed
// was below 1e-308.
constexpr double kSafe = 1e-250;
// What is left out of a sum, relative to it.
constexpr double kNegligible = 1e-18;
constexpr double kHeadroom = 300;  // nats that a number may lie above the top of its scale

std::vector<double> reversed_order(std::vector<double> values) {
  std::ranges::reverse(values);
  return values;
}

std::vector<double> scores_of(const ChainModel& model, int label) {
  std::vector<double> scores;
  for (int k = 1; k <= model.max_duration; ++k) scores.push_back(model.duration_score(k, label));
  return scores;
}

double inner_product(const double* a, const double* b, std::int64_t count) {
  constexpr std::int64_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      lanes[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
  double sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

// LSE over i of a[i] + b[i].
double log_inner_product(const double* a, const double* b, std::int64_t count) {
  double largest = kNegativeInfinity;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, a[i] + b[i]);
  if (largest == kNegativeInfinity) return largest;
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(a[i] + b[i] - largest);
  return largest + std::log(sum);
}

}  // namespace

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNegativeInfinity ? a : a + std::log1p(std::exp(b - a));
}

ScaledNumbers::ScaledNumbers(std::vector<double> values) : logs(std::move(values)), linear(logs.size(), 0.0) {
  rescale(0, logs.size());
}

void ScaledNumbers::rescale(std::size_t begin, std::size_t end) {
  double largest = kNegativeInfinity;
  for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, logs[i]);
  if (largest == kNegativeInfinity) return;
  top = largest;
  std::ranges::fill(linear, 0.0);
  for (std::size_t i = begin; i < end; ++i) linear[i] = std::exp(logs[i] - top);
}

void ScaledNumbers::set(std::size_t index, double log) {
  logs[index] = log;
  if (log > top + kHeadroom) return rescale(0, logs.size());
  linear[index] = std::exp(log - top);
}

DurationWeights::DurationWeights(const ChainModel& model, int label)
    : rising_(scores_of(model, label)), falling_(reversed_order(rising_.logs)) {
  last_score_ = rising_.logs.back();
  if (model.has_tail()) log_tail_ = model.log_tail[static_cast<std::size_t>(label)];
}

double DurationWeights::sum_into(std::int64_t end, std::int64_t first, ScaledNumbers& from) const {
  if (first >= end) return kNegativeInfinity;
  const std::int64_t skip = max_duration() - (end - first);
  const auto sum = [&] {
    return inner_product(from.linear.data() + first, falling_.linear.data() + skip, end - first);
  };
  double found = sum();
  if (!(found >= kSafe)) {
    from.rescale(static_cast<std::size_t>(first), static_cast<std::size_t>(end));
    found = sum();
  }
  if (found >= kSafe) return std::log(found) + from.top + falling_.top;
  return log_inner_product(from.logs.data() + first, falling_.logs.data() + skip, end - first);
}

double DurationWeights::sum_between(const ScaledNumbers& starts, std::int64_t first, std::int64_t last,
                                    const ScaledNumbers& ends, std::int64_t from_end) const {
  const auto size = static_cast<std::int64_t>(ends.logs.size());
  // What is right of `e` adds at most beyond[e - from_end] times the sum of the starts.
  std::vector<double> beyond(static_cast<std::size_t>(std::max<std::int64_t>(size - from_end, 0)) + 1, 0.0);
  for (std::int64_t e = size; e-- > from_end;)
    beyond[static_cast<std::size_t>(e - from_end)] =
        beyond[static_cast<std::size_t>(e - from_end) + 1] + ends.linear[static_cast<std::size_t>(e)];
  double all_starts = 0;
  for (std::int64_t s = first; s <= last; ++s) all_starts += starts.linear[static_cast<std::size_t>(s)];
  std::int64_t stop = size;
  double total = 0;
  const auto count = static_cast<double>(last - first + 1);
  for (std::int64_t s = last; s >= first; --s) {
    const double start = starts.linear[static_cast<std::size_t>(s)];
    if (start * beyond.front() * count <= kNegligible * total) continue;
    while (stop > from_end &&
           beyond[static_cast<std::size_t>(stop - 1 - from_end)] * all_starts <= kNegligible * total)
      --stop;
    const std::int64_t end = std::min(stop, s + max_duration() + 1);
    if (end > from_end)
      total += start * inner_product(rising_.linear.data() + (from_end - s - 1),
                                     ends.linear.data() + from_end, end - from_end);
  }
  if (total >= kSafe) return std::log(total) + starts.top + ends.top + rising_.top;
  double exact = kNegativeInfinity;
  for (std::int64_t s = first; s <= last; ++s) {
    const std::int64_t end = std::min(size, s + max_duration() + 1);
    if (starts.logs[static_cast<std::size_t>(s)] == kNegativeInfinity || end <= from_end) continue;
    exact = log_add(exact, starts.logs[static_cast<std::size_t>(s)] +
                               log_inner_product(rising_.logs.data() + (from_end - s - 1),
                                                 ends.logs.data() + from_end, end - from_end));
  }
  return exact;
}

}  // namespace semicrf
