#include "analyses/claims/duration_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/sizes.h"

namespace semicrf {
namespace {

// A sum of products of scaled numbers that is not below this has lost nothing that counts: what underflowed
// was below 1e-308.
constexpr double kSafe = 1e-250;
constexpr double kLogSafe = -575.6;  // a little above its logarithm
// Terms that are left out of a sum, relative to it.
constexpr double kNegligible = 1e-18;
constexpr std::int64_t kTile = 64;
constexpr double kVanishes = 740;  // nats below the top at which a number is 0
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
    for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
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

ScaledNumbers::ScaledNumbers(std::vector<double> logs) : logs_(std::move(logs)) {
  for (const double one : logs_) top_ = std::max(top_, one);
  largest_ = top_;
}

void ScaledNumbers::fill(std::size_t begin, std::size_t end) const {
  linear_.assign(logs_.size(), 0.0);
  if (top_ == kNegativeInfinity) return;
  for (std::size_t i = begin; i < end; ++i)
    if (logs_[i] > top_ - kVanishes) linear_[i] = std::exp(logs_[i] - top_);
}

void ScaledNumbers::rescale(std::int64_t begin, std::int64_t end) {
  double largest = kNegativeInfinity;
  for (std::int64_t i = begin; i < end; ++i) largest = std::max(largest, log(i));
  if (largest == kNegativeInfinity) return;
  top_ = largest;
  fill(begin, end);
}

void ScaledNumbers::set(std::int64_t index, double log) {
  logs_[index] = log;
  largest_ = std::max(largest_, log);
  if (linear_.empty()) {
    top_ = largest_;
    return;
  }
  if (top_ == kNegativeInfinity || log > top_ + kHeadroom) return rescale(0, size());
  linear_[index] = std::exp(log - top_);
}

DurationWeights::DurationWeights(const ChainModel& model, int label)
    : rising_(scores_of(model, label)), falling_(reversed_order(scores_of(model, label))) {
  rising_.linear();  // made here, because several threads use them
  falling_.linear();
  last_score_ = rising_.log(rising_.size() - 1);
  if (model.has_tail()) log_tail_ = model.log_tail[label];
}

double DurationWeights::sum_into(std::int64_t end, std::int64_t first, ScaledNumbers& from) const {
  if (first >= end) return kNegativeInfinity;
  const std::int64_t skip = max_duration() - (end - first);
  const auto sum = [&] {
    return inner_product(from.linear() + first, falling_.linear() + skip, end - first);
  };
  double found = sum();
  if (!(found >= kSafe)) {
    from.rescale(first, end);
    found = sum();
  }
  if (found >= kSafe) return std::log(found) + from.top() + falling_.top();
  return log_inner_product(from.logs() + first, falling_.logs() + skip, end - first);
}

double log_dot(const ScaledNumbers& a, std::int64_t first_a, const ScaledNumbers& b, std::int64_t first_b,
               std::int64_t count, double floor) {
  const double tops = a.top() + b.top();
  if (count <= 0 || a.largest() + b.largest() + std::log(count) < floor) return kNegativeInfinity;
  const double sum = inner_product(a.linear() + first_a, b.linear() + first_b, count);
  if (sum >= kSafe) return std::log(sum) + tops;
  if (tops + kLogSafe < floor) return kNegativeInfinity;
  return log_inner_product(a.logs() + first_a, b.logs() + first_b, count);
}

double DurationWeights::sum_from(std::int64_t start, const ScaledNumbers& ends, std::int64_t shortest,
                                 std::int64_t last_end) const {
  const std::int64_t longest = std::min(last_end - start, max_duration());
  return log_dot(rising_, shortest - 1, ends, start + shortest, longest - shortest + 1);
}

double DurationWeights::sum_between(const ScaledNumbers& starts, std::int64_t first, std::int64_t last,
                                    const ScaledNumbers& ends, std::int64_t from_end, std::int64_t last_end,
                                    double floor) const {
  const double tops = starts.top() + ends.top() + rising_.top();
  const auto count = static_cast<double>(last - first + 1);
  const double bound = starts.largest() + ends.largest() + rising_.largest() +
                       2 * std::log(count + static_cast<double>(max_duration()));
  if (!(bound >= floor)) return kNegativeInfinity;
  // Ends right of `e` add at most beyond[e - from_end] times the sum of the starts.
  std::vector<double> beyond(std::max<std::int64_t>(last_end + 1 - from_end, 0) + 1, 0.0);
  for (std::int64_t e = last_end + 1; e-- > from_end;)
    beyond[e - from_end] = beyond[e - from_end + 1] + ends.linear()[e];
  double all_starts = 0;
  for (std::int64_t s = first; s <= last; ++s) all_starts += starts.linear()[s];
  std::int64_t stop = last_end + 1;
  double total = 0;
  for (std::int64_t s = last; s >= first; --s) {
    const double start = starts.linear()[s];
    if (start * beyond.front() * count <= kNegligible * total) continue;
    while (stop > from_end && beyond[stop - 1 - from_end] * all_starts <= kNegligible * total) --stop;
    const std::int64_t end = std::min(stop, s + max_duration() + 1);
    if (end > from_end)
      total += start *
               inner_product(rising_.linear() + (from_end - s - 1), ends.linear() + from_end, end - from_end);
  }
  if (total >= kSafe) return std::log(total) + tops;
  if (tops + kLogSafe < floor) return kNegativeInfinity;
  // Sums tile by tile, each with a scale of its own. Tiles that add nothing to the rest are left out.
  double sum = kNegativeInfinity;
  for (std::int64_t s = last; s >= first; s -= kTile)
    for (std::int64_t e = from_end; e <= last_end; e += kTile) {
      const Tile tile{std::max(first, s - kTile + 1), s + 1, e, std::min(last_end, e + kTile - 1) + 1};
      sum = log_add(sum, sum_of_tile(tile, starts, ends, std::max(floor, sum - kNothing)));
    }
  return sum;
}

double DurationWeights::sum_of_tile(const Tile& tile, const ScaledNumbers& starts, const ScaledNumbers& ends,
                                    double floor) const {
  const std::int64_t shortest = std::max<std::int64_t>(1, tile.first_end - (tile.stop_start - 1));
  const std::int64_t longest = std::min(max_duration(), tile.stop_end - 1 - tile.first_start);
  if (shortest > longest) return kNegativeInfinity;
  const ScaledNumbers own_starts({starts.logs() + tile.first_start, starts.logs() + tile.stop_start});
  const ScaledNumbers own_ends({ends.logs() + tile.first_end, ends.logs() + tile.stop_end});
  const ScaledNumbers own_scores({rising_.logs() + shortest - 1, rising_.logs() + longest});
  const double tops = own_starts.top() + own_ends.top() + own_scores.top();
  if (tops + 2 * std::log(kTile) < floor) return kNegativeInfinity;
  double total = 0, exact = kNegativeInfinity;
  const auto each_start = [&](auto add) {
    for (std::int64_t s = tile.first_start; s < tile.stop_start; ++s) {
      const std::int64_t begin = std::max(tile.first_end, s + shortest);
      const std::int64_t end = std::min(tile.stop_end, s + longest + 1);
      if (begin < end) add(s - tile.first_start, begin - s - shortest, begin - tile.first_end, end - begin);
    }
  };
  each_start([&](std::int64_t s, std::int64_t score, std::int64_t e, std::int64_t count) {
    total +=
        own_starts.linear()[s] * inner_product(own_scores.linear() + score, own_ends.linear() + e, count);
  });
  if (total >= kSafe) return std::log(total) + tops;
  if (tops + kLogSafe < floor) return kNegativeInfinity;
  each_start([&](std::int64_t s, std::int64_t score, std::int64_t e, std::int64_t count) {
    if (own_starts.log(s) != kNegativeInfinity)
      exact = log_add(exact, own_starts.log(s) +
                                 log_inner_product(own_scores.logs() + score, own_ends.logs() + e, count));
  });
  return exact;
}

}  // namespace semicrf
