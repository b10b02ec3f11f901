#include "genes/lattice/open_segments.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/chain_model.h"

namespace semicrf {
namespace {

// A weight above exp of this is too large for its scale; a sum of weights below kSmallestSum may lack terms
// that were rounded to 0, by less than a part in 1e100.
constexpr double kLargestWeight = 200;
constexpr double kSmallestSum = 1e-200;
constexpr double kNoWeight = -690;  // exp of it is less than a part in 1e99 of kSmallestSum, and slow below

double weight_of(double below_scale) { return below_scale < kNoWeight ? 0 : std::exp(below_scale); }

}  // namespace

LinearLaw linear_law(const LatticeLaw& law, std::int64_t longest) {
  LinearLaw linear;
  linear.top = *std::max_element(law.table.begin(), law.table.end());
  if (linear.top == kNegativeInfinity) return linear;
  for (std::int64_t k = 0; k < std::min(std::ssize(law.table), longest); ++k) {
    const double score = law.table[k], factor = std::exp(score - linear.top);
    linear.factors.push_back(factor);
    linear.factors_scores.push_back(factor > 0 ? factor * score : 0);
  }
  return linear;
}

DurationRule duration_rule(const LatticeLaw& law, const LatticeLabel& label) {
  const auto longest = std::ssize(law.table);
  DurationRule rule{label.residue, longest - (longest - label.residue + label.modulus) % label.modulus};
  if (law.log_tail > kNegativeInfinity && rule.tail_from >= 1)
    rule.tail_score = law.table[rule.tail_from - 1];
  return rule;
}

OpenSegments::OpenSegments(const LatticeLaw& law, const LinearLaw& linear, const LatticeLaw* cut,
                           const LatticeLaw* twice_cut, int modulus, bool keeps_tail,
                           LatticeSemiring semiring)
    : law_(&law),
      linear_(&linear),
      cut_(cut),
      twice_cut_(twice_cut),
      semiring_(semiring),
      modulus_(modulus),
      keeps_tail_(keeps_tail),
      longest_(std::ssize(law.table)),
      classes_(modulus) {}

int OpenSegments::class_of(std::int64_t boundary) const {
  if (modulus_ == 1) return 0;
  // By 3, the length of a codon, the compiler multiplies where it would divide.
  const auto remainder = static_cast<int>(modulus_ == 3 ? boundary % 3 : boundary % modulus_);
  return remainder < 0 ? remainder + modulus_ : remainder;
}

void OpenSegments::open(std::int64_t boundary, double value) {
  Class& kept = classes_[class_of(boundary)];
  if (kept.oldest == kNone) kept.oldest = boundary;
  kept.boundaries.push_back(boundary);
  kept.values.push_back(value);
  if (semiring_ == LatticeSemiring::kMax || linear_->factors.empty()) return;
  if (kept.values.size() - kept.first == 1)
    kept.scale = value;
  else if (value - kept.scale > kLargestWeight)
    rescale(kept, value);
  kept.weights.resize(kept.values.size());
  kept.weights.back() = weight_of(value - kept.scale);
}

void OpenSegments::rescale(Class& kept, double scale) const {
  kept.scale = scale;
  for (std::size_t i = kept.first; i < kept.weights.size(); ++i)
    kept.weights[i] = weight_of(kept.values[i] - scale);
}

void OpenSegments::Class::drop_gone() {
  oldest = first == boundaries.size() ? kNone : boundaries[first];
  if (first == boundaries.size()) {
    boundaries.clear(), values.clear(), weights.clear();
    first = 0;
  } else if (first > 64 && first * 2 > boundaries.size()) {  // the room of those that are gone is most of it
    const auto gone = static_cast<std::ptrdiff_t>(first);
    boundaries.erase(boundaries.begin(), boundaries.begin() + gone);
    values.erase(values.begin(), values.begin() + gone);
    if (!weights.empty()) weights.erase(weights.begin(), weights.begin() + gone);
    first = 0;
  }
}

void OpenSegments::forget(std::int64_t boundary) {
  if (boundary >= 0) cut_value_ = kNegativeInfinity;
  for (Class& kept : classes_) {
    kept.tail = {};
    if (kept.oldest > boundary) continue;
    while (kept.first < kept.boundaries.size() && kept.boundaries[kept.first] <= boundary) ++kept.first;
    kept.drop_gone();
  }
}

void OpenSegments::append_starts(std::int64_t boundary, std::vector<std::int64_t>& starts) const {
  if (cut_value_ > kNegativeInfinity) starts.push_back(0);
  for (const Class& kept : classes_) {
    for (std::size_t i = kept.first; i < kept.boundaries.size(); ++i) {
      const std::int64_t start = kept.boundaries[i];
      if (kept.values[i] > kNegativeInfinity && (keeps_tail_ || boundary - start <= longest_))
        starts.push_back(start);
    }
    if (kept.tail.value > kNegativeInfinity) starts.push_back(kept.tail.best_start);
  }
}

// Moves those that began more than K ago to the tail.
void OpenSegments::age(Class& kept, std::int64_t boundary) const {
  Tail& tail = kept.tail;
  bool grew = false;
  while (kept.first < kept.boundaries.size() && boundary - kept.boundaries[kept.first] > longest_) {
    const std::size_t start = kept.first++;
    if (!keeps_tail_) continue;
    const std::int64_t at = kept.boundaries[start];
    const double value = kept.values[start] - static_cast<double>(at) * law_->log_tail;
    if (semiring_ == LatticeSemiring::kLog)
      add_to_tail(tail, value, at), grew = true;
    else if (value >= tail.value)
      tail.value = value, tail.best_start = at;
  }
  if (grew) tail.value = tail.scale + std::log(tail.sum);
  kept.drop_gone();
}

void OpenSegments::add_to_tail(Tail& tail, double value, std::int64_t start) const {
  if (tail.sum == 0) {
    tail.scale = value;
  } else if (value - tail.scale > kLargestWeight) {
    const double factor = weight_of(tail.scale - value);
    tail.sum *= factor, tail.sum_starts *= factor;
    tail.scale = value;
  }
  const double weight = weight_of(value - tail.scale);
  tail.sum += weight;
  tail.sum_starts += weight * static_cast<double>(start);
}

double OpenSegments::tail_score(const Class& kept, std::int64_t boundary, const DurationRule& rule) const {
  if (kept.tail.value == kNegativeInfinity || rule.tail_score == kNegativeInfinity) return kNegativeInfinity;
  return kept.tail.value + rule.tail_score + static_cast<double>(boundary - rule.tail_from) * law_->log_tail;
}

// Adds segments of that duration score that began at `start`.
void OpenSegments::add(ClosedSegments& closed, double value, double score, std::int64_t start) const {
  if (value == kNegativeInfinity) return;
  if (semiring_ == LatticeSemiring::kMax) {
    if (value >= closed.value) closed.value = value, closed.start = start;
    return;
  }
  closed.value = log_add(closed.value, value);
  closed.duration_score += std::exp(value - closed.value) * (score - closed.duration_score);
}

ClosedSegments OpenSegments::close(std::int64_t boundary, const DurationRule& rule, ClosingDetail detail) {
  ClosedSegments closed = close_begun(boundary, rule, detail);
  if (cut_value_ == kNegativeInfinity) return closed;
  const double score = duration_score(cut_->table, cut_->log_tail, 1, 0, boundary);
  // The latest is the best among equals.
  if (semiring_ == LatticeSemiring::kLog || cut_value_ + score > closed.value)
    add(closed, cut_value_ + score, score, 0);
  return closed;
}

ClosedSegments OpenSegments::close_cut(std::int64_t boundary) const {
  ClosedSegments closed;
  const auto score_of = [&](const LatticeLaw& law, std::int64_t duration) {
    return duration_score(law.table, law.log_tail, 1, 0, duration);
  };
  if (cut_value_ > kNegativeInfinity) {
    const double score = score_of(*twice_cut_, boundary);
    add(closed, cut_value_ + score, score, 0);
  }
  for (const Class& kept : classes_) {
    if (kept.tail.value > kNegativeInfinity) {
      const double level = cut_->table.back() + static_cast<double>(boundary - longest_) * law_->log_tail;
      add(closed, kept.tail.value + level, level - kept.tail.mean_start() * law_->log_tail,
          kept.tail.best_start);
    }
    for (std::size_t i = kept.first; i < kept.boundaries.size(); ++i) {
      if (kept.boundaries[i] == boundary) continue;
      const double score = score_of(*cut_, boundary - kept.boundaries[i]);
      add(closed, kept.values[i] + score, score, kept.boundaries[i]);
    }
  }
  return closed;
}

ClosedSegments OpenSegments::close_begun(std::int64_t boundary, const DurationRule& rule,
                                         ClosingDetail detail) {
  Class& kept = classes_[class_of(boundary - rule.residue)];
  if (boundary - kept.oldest > longest_) age(kept, boundary);
  // What begins here does not end here.
  if (kept.oldest == kNone && kept.tail.value == kNegativeInfinity) return {};
  std::size_t last = kept.boundaries.size();
  while (last > kept.first && kept.boundaries[last - 1] == boundary) --last;
  if (last == kept.first && kept.tail.value == kNegativeInfinity) return {};
  return semiring_ == LatticeSemiring::kLog ? sum(kept, last, boundary, rule, detail)
                                            : best(kept, last, boundary, rule, detail);
}

ClosedSegments OpenSegments::quick_sum(const Class& kept, std::size_t last, std::int64_t boundary,
                                       const DurationRule& rule, double tail, ClosingDetail detail) const {
  const double* const weights = kept.weights.data();
  const std::int64_t* const boundaries = kept.boundaries.data();
  const auto sum_with = [&](const double* factors) {
    double sums[4] = {0, 0, 0, 0};
    std::size_t i = kept.first;
    for (; i + 4 <= last; i += 4)
      for (std::size_t n = 0; n < 4; ++n)
        sums[n] += weights[i + n] * factors[boundary - 1 - boundaries[i + n]];
    for (; i < last; ++i) sums[0] += weights[i] * factors[boundary - 1 - boundaries[i]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  };
  ClosedSegments closed;
  const double base = kept.scale + linear_->top;
  double total = sum_with(linear_->factors.data());
  if (total < kSmallestSum || tail - base > kLargestWeight) return closed;
  const double tail_weight = weight_of(tail - base);
  total += tail_weight;
  closed.value = base + std::log(total);
  if (detail == ClosingDetail::kNone) return closed;
  closed.duration_score = sum_with(linear_->factors_scores.data());
  if (tail_weight > 0) closed.duration_score += tail_weight * mean_tail_score(kept, boundary, rule);
  closed.duration_score /= total;
  return closed;
}

// The mean score of the durations in the tail.
double OpenSegments::mean_tail_score(const Class& kept, std::int64_t boundary,
                                     const DurationRule& rule) const {
  return rule.tail_score +
         (static_cast<double>(boundary - rule.tail_from) - kept.tail.mean_start()) * law_->log_tail;
}

ClosedSegments OpenSegments::sum(Class& kept, std::size_t last, std::int64_t boundary,
                                 const DurationRule& rule, ClosingDetail detail) const {
  const double tail = tail_score(kept, boundary, rule);
  ClosedSegments closed;
  if (!linear_->factors.empty()) closed = quick_sum(kept, last, boundary, rule, tail, detail);
  if (closed.value > kNegativeInfinity) return closed;
  const double* const table = law_->table.data();
  double largest = tail, largest_start = kNegativeInfinity;
  for (std::size_t i = kept.first; i < last; ++i) {
    const double value = kept.values[i] + table[boundary - kept.boundaries[i] - 1];
    largest = std::max(largest, value);
    if (value > kNegativeInfinity) largest_start = std::max(largest_start, kept.values[i]);
  }
  if (largest == kNegativeInfinity) return closed;
  double total = 0, weighed = 0;
  for (std::size_t i = kept.first; i < last; ++i) {
    const double score = table[boundary - kept.boundaries[i] - 1];
    const double below = kept.values[i] + score - largest;
    if (below < kNegligible) continue;
    const double weight = std::exp(below);
    total += weight;
    weighed += weight * score;
  }
  if (tail - largest >= kNegligible) {
    const double weight = std::exp(tail - largest);
    total += weight;
    weighed += weight * mean_tail_score(kept, boundary, rule);
  }
  closed.value = largest + std::log(total);
  closed.duration_score = weighed / total;
  // Those of large weight may be gone.
  if (!kept.weights.empty() && largest_start > kNegativeInfinity &&
      *std::ranges::max_element(std::span(kept.values).subspan(kept.first)) - largest_start < kLargestWeight)
    rescale(kept, largest_start);
  return closed;
}

ClosedSegments OpenSegments::best(const Class& kept, std::size_t last, std::int64_t boundary,
                                  const DurationRule& rule, ClosingDetail detail) const {
  const double* const table = law_->table.data();
  ClosedSegments closed{tail_score(kept, boundary, rule), kept.tail.best_start, 0};
  const auto value_of = [&](std::size_t i) {
    return kept.values[i] + table[boundary - kept.boundaries[i] - 1];
  };
  double largest[4] = {closed.value, closed.value, closed.value, closed.value};
  std::size_t i = kept.first;
  for (; i + 4 <= last; i += 4)
    for (std::size_t n = 0; n < 4; ++n) largest[n] = std::max(largest[n], value_of(i + n));
  for (; i < last; ++i) largest[0] = std::max(largest[0], value_of(i));
  closed.value = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  if (detail == ClosingDetail::kNone || closed.value == kNegativeInfinity) return closed;
  while (i > kept.first && value_of(i - 1) != closed.value) --i;
  if (i > kept.first) closed.start = kept.boundaries[i - 1];
  return closed;
}

}  // namespace semicrf
