#include "cuda/tables/chain_tables.h"

#include <algorithm>
#include <cmath>

#include "engine/masks.h"

namespace semicrf::cuda {
namespace {

// Units that a start may be above what the sums over durations of its block are relative to, which else rises
// above the start by a room that the next starts may fill. What the sums were before must then lie above the
// least that is certified still.
constexpr int kMostAbove = 30, kRoom = 48;

template <class Real>
constexpr int kExponentBias = std::numeric_limits<Real>::max_exponent - 1;

std::size_t at(int row, int width, int column) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column);
}

template <class Real, class Semiring>
constexpr Real zero() {
  return Semiring::kIsLog ? Real(0) : -std::numeric_limits<Real>::infinity();
}

// Numbers of starts and of durations are within a unit each of their scale and bound. All that is left out of
// a sum together is less than a quarter of its last digit; a maximum stays as it is.
template <class Real, class Semiring>
int far_margin(int offsets) {
  if constexpr (!Semiring::kIsLog) return 3;
  const double terms = kBlock * (1.0 + offsets);
  return 2 + std::numeric_limits<Real>::digits + 2 + static_cast<int>(std::ceil(std::log2(terms)));
}

std::vector<double> padded(const std::vector<double>& values, int width, double missing) {
  std::vector<double> row(static_cast<std::size_t>(width), missing);
  std::copy(values.begin(), values.end(), row.begin());
  return row;
}

}  // namespace

template <class Real, class Semiring>
ChainTables<Real, Semiring>::ChainTables(const ChainModel& model, Direction direction, int row_width,
                                         int transition_rows, DurationLayout layout)
    : ChainShape{.labels = model.num_labels,
                 .width = row_width,
                 .duration = model.max_duration,
                 .offsets = (model.max_duration + kBlock - 2) / kBlock,
                 .tail_reach = (model.max_duration + kBlock - 1) / kBlock,
                 .ring_blocks = ring_blocks_for(model.max_duration, model.cut.right),
                 .rows = std::max(transition_rows, model.num_labels),
                 .tail = model.has_tail(),
                 .initial_transition = direction == Direction::kForward &&
                                       model.initial == InitialTerm::kUniform && !model.cut.left,
                 .transition_vanished = 0,
                 .too_large = 0,
                 .gaps = 0,
                 .scores_fit = 1,
                 .masks_forbid = semicrf::masks_forbid(model),
                 .cut_begin = direction == Direction::kForward ? model.cut.left : model.cut.right,
                 .cut_end = direction == Direction::kForward ? model.cut.right : model.cut.left,
                 .unneeded_below = far_margin<Real, Semiring>((model.max_duration + kBlock - 2) / kBlock),
                 .most_above = kMostAbove + kExponentBias<Real>,
                 .room_above = -kExponentBias<Real>},
      least_total(least_certified<Semiring::kIsLog, Real>(duration + kBlock)),
      least_start(least_certified<Semiring::kIsLog, Real>(labels)) {
  build_durations(model, layout);
  build_spreads(layout);
  build_transitions(model, direction);
  const auto& start = direction == Direction::kForward ? model.start_scores : model.end_scores;
  const auto& end = direction == Direction::kForward ? model.end_scores : model.start_scores;
  first_scores = padded(start, width, 0.0);
  last_scores = padded(end, width, 0.0);
  log_tail = padded(model.log_tail, width, kNone);
  last_bias.assign(width, kNone);
  tail_correction.assign(width, 0.0);
  tail_factor.assign(width, zero<Real, Semiring>());
  for (int c = 0; c < labels; ++c) {
    const auto i = static_cast<std::size_t>(c);
    last_bias[i] = bias_or_forbidden(duration, c);
    tail_factor[i] = static_cast<Real>(Semiring::kIsLog ? std::exp(log_tail[i]) : log_tail[i]);
    if (log_tail[i] == kNone) continue;
    const auto rounded = static_cast<double>(tail_factor[i]);
    tail_correction[i] = kBlock * (log_tail[i] - (Semiring::kIsLog ? std::log(rounded) : rounded));
  }
}

template <class Real, class Semiring>
Real ChainTables<Real, Semiring>::relative(double value, double bound, int* vanished) const {
  if (value == kNone) return zero<Real, Semiring>();
  if constexpr (Semiring::kIsLog) {
    if (value - bound < Limits<Semiring, Real>::kIgnore) {
      *vanished = 1;
      return Real(0);
    }
    return static_cast<Real>(std::exp(value - bound));
  } else {
    return static_cast<Real>(value - bound);
  }
}

// Scores whose numbers a Real holds exactly. Numbers that are rounded in a table and logarithms that are not
// would differ by the same part wherever a duration occurs; the fast path of one direction then drifts away
// from the exact path of the other.
template <class Real, class Semiring>
void ChainTables<Real, Semiring>::round_scores(std::vector<double>& scores) const {
  if constexpr (Semiring::kIsLog && sizeof(Real) < sizeof(double)) {
    for (double& score : scores) {
      if (score == kNone) continue;
      const double power = quantized<Semiring>(score);
      score = power + std::log(static_cast<double>(static_cast<Real>(std::exp(score - power))));
    }
  }
}

template <class Real, class Semiring>
int ChainTables<Real, Semiring>::scale_of(double bound) {
  const double widest = kWidestScale * Semiring::kUnit;
  if (bound > widest) too_large = 1;
  return units_of<Semiring>(std::min(bound, widest));
}

template <class Real, class Semiring>
double ChainTables<Real, Semiring>::bias_or_forbidden(int k, int c) const {
  return k > duration ? kNone : bias[at(k - 1, width, c)];
}

template <class Real, class Semiring>
void ChainTables<Real, Semiring>::build_durations(const ChainModel& model, DurationLayout layout) {
  bias.assign(at(duration, width, 0), kNone);
  for (int k = 0; k < duration; ++k) {
    for (int c = 0; c < labels; ++c) bias[at(k, width, c)] = model.duration_bias[at(k, labels, c)];
  }
  largest_bias.assign(width, kNone);
  duration_bound.assign(at(offsets + 1, width, 0), kEmpty);
  const bool by_group = layout == DurationLayout::kByGroup;
  duration_table.assign(
      by_group ? at((offsets + 1) * kBlock, width, 0) : at(offsets * kDistanceRow, width, 0),
      zero<Real, Semiring>());
  near_table.assign(at(kBlock, width, 0), zero<Real, Semiring>());
  round_scores(bias);
  for (std::size_t i = 0; i < bias.size(); ++i) {
    double& largest = largest_bias[i % largest_bias.size()];
    largest = std::max(largest, bias[i]);
  }
  build_scores();
  int near_vanished = 0;
  int far_vanished = 0;  // harmless: numbers of earlier blocks are at most about 1
  for (int row = 0; row <= offsets; ++row) {
    const bool distance = row > 0 && !by_group;
    const int first = kBlock * row + (distance ? 2 - kBlock : 1);
    const int entries = distance ? kDistanceEntries : kBlock;
    for (int c = 0; c < labels; ++c) {
      double bound = kNone;
      for (int x = 0; x < entries; ++x) bound = std::max(bound, bias_or_forbidden(first + x, c));
      if (bound == kNone) continue;
      duration_bound[at(row, width, c)] = scale_of(bound);
      bound = quantized<Semiring>(bound);
      for (int x = 0; x < entries; ++x) {
        const Real entry =
            relative(bias_or_forbidden(first + x, c), bound, row == 0 ? &near_vanished : &far_vanished);
        if (row == 0) near_table[at(c, kBlock, x)] = entry;
        if (row > 0 || by_group) duration_table[duration_place(layout, row, c, x)] = entry;
      }
    }
  }
  if constexpr (Semiring::kIsLog) {
    // A duration that the table lacks, since it is too small, must be so beside the sums.
    if (near_vanished != 0) most_above += 4 - kMostAbove;
    if (near_are_alike()) room_above += kRoom;
  }
}

// Whether a start is much of every sum over durations in its block from its own boundary on, so that these
// can do with less room below what they are relative to.
template <class Real, class Semiring>
bool ChainTables<Real, Semiring>::near_are_alike() const {
  constexpr int kWidest = 20;
  for (int c = 0; c < labels; ++c) {
    double least = -kNone;
    for (int k = 1; k <= kBlock; ++k) least = std::min(least, bias_or_forbidden(k, c));
    const int bound = duration_bound[c];
    if (!is_empty(bound) && bound - units_of<Semiring>(least) > kWidest) return false;
  }
  return true;
}

template <class Real, class Semiring>
void ChainTables<Real, Semiring>::build_spreads(DurationLayout layout) {
  duration_spread.assign(duration_bound.size(), kWidestSpread);
  for (int o = 1; o <= offsets; ++o) {
    for (int c = 0; c < labels; ++c) {
      double least = -kNone;
      for (int x = 0; x < kDistanceEntries; ++x)
        least = std::min(least, bias_or_forbidden(kBlock * o + 2 - kBlock + x, c));
      int bound = duration_bound[at(o, width, c)];
      if (layout == DurationLayout::kByGroup) bound = std::max(bound, duration_bound[at(o - 1, width, c)]);
      const int spread = bound - units_of<Semiring>(least);
      duration_spread[at(o, width, c)] = static_cast<std::uint16_t>(std::clamp(spread, 0, kWidestSpread));
    }
  }
}

// Log semiring: a start that is much larger than an older one of its block outweighs it, whatever segments
// they become, unless a duration is far below one that is less than a block longer. Max: what is much less
// than a number has few digits, so that it matters where a short duration is far below any longer one.
template <class Real, class Semiring>
bool ChainTables<Real, Semiring>::has_gap(int c) const {
  constexpr double kGap = 32;
  const int last = Semiring::kIsLog ? duration : std::min(duration, kBlock);
  for (int k = 1; k <= last; ++k) {
    const int longest = Semiring::kIsLog ? std::min(duration, k + kBlock - 1) : duration;
    for (int longer = k + 1; longer <= longest; ++longer)
      if (bias_or_forbidden(k, c) < bias_or_forbidden(longer, c) - kGap) return true;
  }
  return false;
}

template <class Real, class Semiring>
void ChainTables<Real, Semiring>::build_scores() {
  const int entries = kBlock * (offsets + 1);
  score_numbers.assign(at(entries, width, 0), zero<Real, Semiring>());
  score_units.assign(score_numbers.size(), kEmpty);
  for (int c = 0; c < labels; ++c) {
    if (has_gap(c)) gaps = 1;
    for (int k = 1; k <= duration; ++k) {
      const double score = bias_or_forbidden(k, c);
      if (score == kNone) continue;
      const double units = std::floor(score / Semiring::kUnit);
      if (std::fabs(units) > kWidestScale) {
        scores_fit = 0;
        continue;
      }
      const double rest = score - units * Semiring::kUnit;
      score_numbers[at(k - 1, width, c)] = static_cast<Real>(Semiring::kIsLog ? std::exp(rest) : rest);
      score_units[at(k - 1, width, c)] = static_cast<int>(units);
    }
  }
}

template <class Real, class Semiring>
std::size_t ChainTables<Real, Semiring>::duration_place(DurationLayout layout, int row, int c, int x) const {
  if (layout == DurationLayout::kByDistance) return at((row - 1) * width + c, kDistanceRow, x);
  return at(row * width + c, kBlock, turned(x, turn_of(c)));
}

// Bounds of transitions: the largest score into a label, and, less that, the largest out of one; the same
// numbers in both directions, so that rounding does not make the directions disagree.
template <class Real, class Semiring>
void ChainTables<Real, Semiring>::build_transitions(const ChainModel& model, Direction direction) {
  const auto wide = static_cast<std::size_t>(width);
  std::vector<double> into(wide, kNone), out_of(wide, kNone);
  for (int to = 0; to < labels; ++to) {
    double& most = into[to];
    for (int from = 0; from < labels; ++from) most = std::max(most, model.transition_at(from, to));
    if (most == kNone) continue;
    for (int from = 0; from < labels; ++from) {
      double& source = out_of[from];
      source = std::max(source, model.transition_at(from, to) - most);
    }
  }
  const bool forward = direction == Direction::kForward;
  transition_bound = forward ? into : out_of;
  source_bound = forward ? out_of : into;
  transition_units.clear();
  source_units.clear();
  for (std::size_t c = 0; c < wide; ++c) {
    transition_units.push_back(scale_of(transition_bound[c]));
    source_units.push_back(scale_of(source_bound[c]));
    transition_bound[c] = quantized<Semiring>(transition_bound[c]);
    source_bound[c] = quantized<Semiring>(source_bound[c]);
  }
  constexpr int kLowestLevel = 60;
  const int most = *std::max_element(source_units.begin(), source_units.end());
  if (is_far_below(most) && !is_empty(most)) too_large = 1;
  for (const int units : source_units)
    level_units.push_back(is_far_below(most) ? 0 : std::max(units, most - kLowestLevel));
  transition.assign(at(rows, width, 0), zero<Real, Semiring>());
  transition_log.assign(at(labels, width, 0), kNone);
  for (int from = 0; from < labels; ++from) {
    for (int to = 0; to < labels; ++to) {
      const double score = forward ? model.transition_at(from, to) : model.transition_at(to, from);
      if (score == kNone) continue;
      const double by_to = transition_bound[to];
      const double by_from = source_bound[from];
      // Rounded from the same double in both directions.
      const double rest = forward ? (score - by_to) - by_from : (score - by_from) - by_to;
      transition[at(from, width, to)] = relative(rest, 0.0, &transition_vanished);
      transition_log[at(from, width, to)] = score;
    }
  }
  round_scores(transition_log);
}

template struct ChainTables<float, LogSemiring>;
template struct ChainTables<double, LogSemiring>;
template struct ChainTables<float, MaxSemiring>;
template struct ChainTables<double, MaxSemiring>;

}  // namespace semicrf::cuda
