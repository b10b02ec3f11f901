#include "engine/cut_edges.h"

#include <algorithm>
#include <cmath>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "engine/masks.h"

namespace semicrf {

namespace {

constexpr double kSafeSum = 1e-250;   // what numbers below 1 lose of a larger sum is nothing
constexpr double kSafeScale = 300.0;  // and of a sum that is multiplied with e to this

// The sum over k > 0 of q^k, and of k q^k.
double tail_odds(double log_q) { return 1 / std::expm1(-log_q); }
double mean_tail(double log_q) { return tail_odds(log_q) * (1 + tail_odds(log_q)); }

double edge_score(const std::vector<double>& scores, int label) {
  return scores.empty() ? 0.0 : scores[label];
}

}  // namespace

double log_partition(const ChainModel& model, const BoundaryState& at_end) {
  return model.cut.right ? CutEdgeSums(model).log_partition(at_end) : log_sum(at_end);
}

BoundaryState state_at_cut(const ChainModel& model, Direction direction) {
  const std::vector<double>& scores =
      direction == Direction::kForward ? model.start_scores : model.end_scores;
  const std::size_t labels = model.num_labels;
  BoundaryState state;
  for (int c = 0; c < model.num_labels; ++c) state.message.push_back(edge_score(scores, c));
  for (int d = 1; d <= model.max_duration; ++d)
    state.ring.insert(state.ring.end(), state.message.begin(), state.message.end());
  if (!model.has_tail()) return state;
  state.tail.assign(labels, kNegativeInfinity);
  for (std::size_t c = 0; c < labels; ++c) {
    if (model.log_tail[c] == kNegativeInfinity) continue;
    state.tail[c] = state.message[c] + model.duration_score(model.max_duration, static_cast<int>(c)) +
                    std::log(tail_odds(model.log_tail[c]));
  }
  return state;
}

CutEdgeSums::CutEdgeSums(const ChainModel& model)
    : model_(model),
      largest_(model.num_labels, kNegativeInfinity),
      weights_(model.duration_bias.size()),
      remaining_(model.duration_bias.size()) {
  const std::size_t labels = model.num_labels;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    largest_[i % labels] = std::max(largest_[i % labels], model.duration_bias[i]);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const double most = largest_[i % labels];
    weights_[i] = most == kNegativeInfinity ? 0.0 : std::exp(model.duration_bias[i] - most);
  }
  for (int c = 0; c < model.num_labels; ++c) {
    std::size_t i = weights_.size() - labels + c;
    double sum = has_tail(c) ? weights_[i] * tail_odds(model.log_tail[c]) : 0.0;
    for (;; i -= labels) {
      remaining_[i] = sum;
      sum += weights_[i];
      if (i < labels) break;
    }
  }
}

bool CutEdgeSums::has_tail(int label) const {
  return model_.has_tail() && model_.log_tail[label] > kNegativeInfinity &&
         largest_[label] > kNegativeInfinity;
}

// Log of the sum over segments that began in the state and end beyond T, without the state's scale.
double CutEdgeSums::crossing(const BoundaryState& at_end, int label) const {
  const auto labels = wide(model_.num_labels), c = wide(label);
  const double score = edge_score(model_.end_scores, label);
  if (largest_[c] == kNegativeInfinity || score == kNegativeInfinity) return kNegativeInfinity;
  double result = kNegativeInfinity;
  double sum = 0;
  bool possible = false;
  for (std::size_t i = c; i < at_end.ring.size(); i += labels) {
    possible = possible || at_end.ring[i] > kNegativeInfinity;
    sum += remaining_[i] > 0 ? std::exp(at_end.ring[i]) * remaining_[i] : 0.0;
  }
  if (sum > kSafeSum) {
    result = std::log(sum) + largest_[c];
  } else if (possible) {
    double beyond = kNegativeInfinity;
    if (has_tail(label))
      beyond = model_.duration_score(model_.max_duration, label) + std::log(tail_odds(model_.log_tail[c]));
    for (int d = model_.max_duration; d >= 1; --d) {
      result = log_add(result, at_end.ring[(d - 1) * labels + c] + beyond);
      beyond = log_add(beyond, model_.duration_score(d, label));
    }
  }
  if (has_tail(label)) result = log_add(result, at_end.tail[c] + std::log(tail_odds(model_.log_tail[c])));
  return result + score;
}

double CutEdgeSums::log_partition(const BoundaryState& at_end) const {
  if (!model_.cut.right) return log_sum(at_end);
  double sum = kNegativeInfinity;
  for (int c = 0; c < model_.num_labels; ++c)
    sum = log_add(sum, log_add(at_end.message[c], crossing(at_end, c)));
  return sum == kNegativeInfinity ? sum : at_end.whole + (at_end.offset + sum);
}

// Adds to every duration j the sum over the first j - 1 rows, at most `reach`: the rest of j lies beyond the
// cut.
void CutEdgeSums::add_durations(const BoundaryState& state, std::int64_t reach, double scale, int label,
                                ExpectedCounts& counts) const {
  const auto labels = wide(model_.num_labels), c = wide(label);
  const bool as_numbers = scale + largest_[c] < kSafeScale;
  const double factor = as_numbers ? std::exp(scale + largest_[c]) : 0.0;
  double sum = 0, log = kNegativeInfinity;
  for (int j = 2; j <= model_.max_duration; ++j) {
    const std::size_t row = (j - 1) * labels + c;
    if (j - 1 <= reach) {
      const double one = state.ring[row - labels];
      if (as_numbers) {
        sum += std::exp(one);
      } else {
        log = log_add(log, one);
      }
    }
    counts.duration[row] +=
        as_numbers ? sum * weights_[row] * factor : std::exp(log + model_.duration_score(j, label) + scale);
  }
}

void CutEdgeSums::add_left(const Sequence& sequence, ExpectedCounts& counts) const {
  const BoundaryState& at_begin = sequence.at_begin;
  const std::size_t labels = model_.num_labels;
  const std::size_t last_row = (model_.max_duration - 1) * labels;
  const double state_scale = (at_begin.whole - sequence.log_partition) + at_begin.offset;
  for (int c = 0; c < model_.num_labels; ++c) {
    const double score = edge_score(model_.start_scores, c);
    if (score == kNegativeInfinity || largest_[c] == kNegativeInfinity) continue;
    const double scale = state_scale + score;
    add_durations(at_begin, sequence.length, scale, c, counts);
    if (!has_tail(c)) continue;
    // Positions beyond K before the sequence, whatever follows: it ends at d = 1, 2, ... or goes on.
    const double log_q = model_.log_tail[c];
    const double last = model_.duration_score(model_.max_duration, c);
    double sum = std::exp(at_begin.tail[c] + model_.max_duration * log_q + scale);
    for (int d = 1; d <= model_.max_duration; ++d)
      sum += std::exp(at_begin.ring[(d - 1) * labels + c] + d * log_q + last + scale);
    counts.tail[c] += mean_tail(log_q) * sum;
    if (sequence.long_by_start)
      counts.duration[last_row + c] += tail_odds(log_q) * longer(at_begin, c, scale);
  }
}

// The sum over segments longer than K that cross a cut, but for the factor of what lies beyond it: those that
// are longer at the edge already, or only beyond it.
double CutEdgeSums::longer(const BoundaryState& state, int label, double scale) const {
  const double last = model_.duration_score(model_.max_duration, label);
  double sum = std::exp(state.tail[label] + scale);
  for (std::size_t i = label; i < state.ring.size(); i += wide(model_.num_labels))
    sum += std::exp(state.ring[i] + last + scale);
  return sum;
}

void CutEdgeSums::add_right(const Sequence& sequence, ExpectedCounts& counts) const {
  const BoundaryState& at_end = sequence.at_end;
  const std::size_t labels = model_.num_labels;
  const std::size_t last_row = (model_.max_duration - 1) * labels;
  const double state_scale = (at_end.whole - sequence.log_partition) + at_end.offset;
  const std::int64_t reach =
      sequence.counted_before > 0 ? sequence.length - sequence.counted_before : model_.max_duration;
  for (int c = 0; c < model_.num_labels; ++c) {
    const double score = edge_score(model_.end_scores, c);
    if (score == kNegativeInfinity || largest_[c] == kNegativeInfinity) continue;
    const double scale = state_scale + score;
    add_durations(at_end, reach, scale, c, counts);
    if (!has_tail(c)) continue;
    const double log_q = model_.log_tail[c];
    const double sum = longer(at_end, c, scale);
    if (!sequence.long_by_start) counts.duration[last_row + c] += tail_odds(log_q) * sum;
    counts.tail[c] += mean_tail(log_q) * sum;
  }
}

void CutEdgeSums::add_counts(const Sequence& sequence, ExpectedCounts& counts) const {
  if (!std::isfinite(sequence.log_partition)) return;
  if (model_.cut.left) add_left(sequence, counts);
  if (model_.cut.right) add_right(sequence, counts);
}

namespace {

// Log of the sum over the segments longer than K of a label that lie on both sides of a boundary; relative to
// the scales of both states.
double long_crossing(const ChainModel& model, const StatesAtBoundary& at, int label) {
  if (!model.has_tail() || model.log_tail[wide(label)] == kNegativeInfinity) return kNegativeInfinity;
  const auto labels = wide(model.num_labels), c = wide(label);
  const int longest = model.max_duration;
  const double log_q = model.log_tail[c], last = model.duration_score(longest, label);
  const auto start = [&](int distance) { return at.forward.ring[wide(distance - 1) * labels + c]; };
  const auto end = [&](int distance) { return at.backward.ring[wide(distance - 1) * labels + c]; };
  // Starts at distance d <= K: the ends that make the segment longer than K, one more with each d.
  double reached = at.backward.tail[c], sum = kNegativeInfinity;
  for (int d = 1; d <= longest; ++d) {
    reached = log_add(reached, end(longest - d + 1) + last) + log_q;
    sum = log_add(sum, start(d) + reached);
  }
  // Starts further away: any end.
  double any = at.backward.tail[c] - last + longest * log_q;
  for (int d = 1; d <= longest; ++d) any = log_add(any, end(d) + d * log_q);
  return log_add(sum, at.forward.tail[c] + any);
}

}  // namespace

void add_at_boundary(const ChainModel& model, const StatesAtBoundary& at, double share,
                     ExpectedCounts& counts) {
  const double scale =
      ((at.forward.whole + at.backward.whole) - at.log_partition) + (at.forward.offset + at.backward.offset);
  const auto labels = wide(model.num_labels);
  for (std::size_t from = 0; from < labels; ++from)
    for (std::size_t to = 0; to < labels; ++to)
      counts.transition[from * labels + to] +=
          share * std::exp(at.forward.message[from] + model.transition[from * labels + to] +
                           at.backward.message[to] + scale);
  for (int c = 0; c < model.num_labels; ++c)
    counts.duration[wide(model.max_duration - 1) * labels + wide(c)] -=
        share * std::exp(long_crossing(model, at, c) + scale);
}

DirectedModel direct(const ChainModel& model, Direction direction) {
  DirectedModel out;
  out.direction = direction;
  out.num_labels = model.num_labels;
  out.max_duration = model.max_duration;
  out.duration_bias = model.duration_bias;
  out.log_tail = model.log_tail;
  out.masks_forbid = masks_forbid(model);
  const std::size_t labels = model.num_labels;
  const std::vector<double> zeros(labels, 0.0);
  const std::vector<double>& start = model.start_scores.empty() ? zeros : model.start_scores;
  const std::vector<double>& end = model.end_scores.empty() ? zeros : model.end_scores;
  std::vector<double> into(labels, kNegativeInfinity);
  std::vector<double> out_of(labels, kNegativeInfinity);
  for (std::size_t to = 0; to < labels; ++to) {
    for (std::size_t from = 0; from < labels; ++from)
      into[to] = std::max(into[to], model.transition[from * labels + to]);
    if (into[to] == kNegativeInfinity) continue;
    for (std::size_t from = 0; from < labels; ++from) {
      out_of[from] = std::max(out_of[from], model.transition[from * labels + to] - into[to]);
    }
  }
  out.cut_begin = direction == Direction::kForward ? model.cut.left : model.cut.right;
  out.cut_end = direction == Direction::kForward ? model.cut.right : model.cut.left;
  out.from_bound = direction == Direction::kForward ? out_of : into;
  out.to_bound = direction == Direction::kForward ? into : out_of;
  if (direction == Direction::kForward) {
    out.transition = model.transition;
    out.first_scores = start;
    out.last_scores = end;
    out.initial_transition = model.initial == InitialTerm::kUniform && !model.cut.left;
    return out;
  }
  out.transition.resize(labels * labels);
  for (std::size_t from = 0; from < labels; ++from) {
    for (std::size_t to = 0; to < labels; ++to) {
      out.transition[to * labels + from] = model.transition[from * labels + to];
    }
  }
  out.first_scores = end;
  out.last_scores = start;
  out.initial_transition = false;
  return out;
}

}  // namespace semicrf
