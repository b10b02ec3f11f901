#include "reference/hessian_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace semicrf {
namespace {

// A value and its derivative along the direction. An impossible one (-inf) has derivative 0.
struct Dual {
  double value = 0;
  double tangent = 0;
};
constexpr Dual kImpossible{kNegativeInfinity, 0};

Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.tangent + b.tangent}; }

// The terms of a log-sum-exp, and their shares in it.
class LogSum {
 public:
  void clear() { terms_.clear(); }
  void add(Dual term) { terms_.push_back(term); }
  std::span<const Dual> terms() const { return terms_; }

  // log sum exp over the terms. Keeps exp(term - largest()) in shares().
  Dual sum() {
    largest_ = kNegativeInfinity;
    for (const Dual& term : terms_) largest_ = std::max(largest_, term.value);
    shares_.assign(terms_.size(), 0);
    if (largest_ == kNegativeInfinity) return kImpossible;
    double sum = 0, tangent = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      shares_[i] = std::exp(terms_[i].value - largest_);
      sum += shares_[i];
      tangent += shares_[i] * terms_[i].tangent;
    }
    return {largest_ + std::log(sum), tangent / sum};
  }
  double largest() const { return largest_; }
  std::span<const double> shares() const { return shares_; }

 private:
  std::vector<Dual> terms_;
  std::vector<double> shares_;
  double largest_ = kNegativeInfinity;
};

class DualPass {
 public:
  DualPass(const ChainModel& model, const ReferenceScores& scores, const ScoreVariation& direction)
      : model_(model),
        scores_(scores),
        direction_(direction),
        length_(scores.length()),
        labels_(model.num_labels),
        emissions_(size(length_)),
        alpha_(size(length_ + 1)),
        gamma_(size(length_)),
        tail_(model.has_tail() ? size(length_ + 1) : 0, kImpossible) {
    // Less a number per position that all labels share: it moves log Z, and none of its derivatives.
    for (std::int64_t t = 0; t < length_; ++t) {
      const double step = scores.typical_step(t);
      for (int c = 0; c < labels_; ++c)
        emissions_[at(t, c)] = dual(scores.emission(t, c) - step, direction.emissions, at(t, c));
    }
  }

  ScoreVariation run() {
    product_.emissions.resize(size(length_));
    product_.starts.resize(size(length_));
    product_.ends.resize(size(length_));
    product_.transition.resize(size(labels_));
    product_.duration.resize(size(model_.max_duration));
    product_.tail.resize(size(1));
    forward();
    if (log_partition_.value > kNegativeInfinity) {
      backward();
      sum_labels();
    }
    return std::move(product_);
  }

 private:
  std::size_t size(std::int64_t rows) const { return rows * labels_; }
  std::size_t at(std::int64_t row, int c) const { return row * labels_ + c; }
  Dual dual(double value, const std::vector<double>& tangents, std::size_t index) const {
    return value == kNegativeInfinity ? kImpossible : Dual{value, tangents.empty() ? 0.0 : tangents[index]};
  }
  Dual emission(std::int64_t t, int c) const { return emissions_[at(t, c)]; }
  Dual start(std::int64_t t, int c) const { return dual(scores_.start(t, c), direction_.starts, at(t, c)); }
  Dual end(std::int64_t t, int c) const { return dual(scores_.end(t, c), direction_.ends, at(t, c)); }
  Dual transition(int from, int to) const {
    return dual(model_.transition_at(from, to), direction_.transition, at(from, to));
  }
  Dual duration(std::int64_t k, int c) const {
    return dual(model_.duration_bias[at(k - 1, c)], direction_.duration, at(k - 1, c));
  }
  Dual log_tail(int c) const {
    return model_.has_tail() ? dual(model_.log_tail[at(0, c)], direction_.tail, at(0, c)) : kImpossible;
  }

  // gamma_t(c): everything before a segment of c that starts at t, and its start score.
  Dual sources(std::int64_t t, int c) {
    if (t == 0 && model_.initial == InitialTerm::kNone) return start(t, c);
    sum_.clear();
    for (int from = 0; from < labels_; ++from) sum_.add(alpha_[at(t, from)] + transition(from, c));
    return sum_.sum() + start(t, c);
  }

  void forward() {
    for (std::int64_t t = 0; t <= length_; ++t) {
      for (int c = 0; c < labels_ && t > 0; ++c) alpha_[at(t, c)] = ending(t, c);
      for (int c = 0; c < labels_ && t < length_; ++c) gamma_[at(t, c)] = sources(t, c);
    }
    sum_.clear();
    for (int c = 0; c < labels_; ++c) sum_.add(alpha_[at(length_, c)]);
    log_partition_ = sum_.sum();
  }
  // alpha_t(c): all segmentations of [0, t) whose last label is c. Fills tail_t(c), too.
  Dual ending(std::int64_t t, int c) {
    sum_.clear();
    Dual content;
    Dual entering = kImpossible;
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(model_.max_duration + 1, t); ++k) {
      content = content + emission(t - k, c);
      if (content.value == kNegativeInfinity) break;
      const Dual open = gamma_[at(t - k, c)] + content;
      if (k <= model_.max_duration) {
        sum_.add(open + duration(k, c));
      } else {
        entering = open + duration(model_.max_duration, c) + log_tail(c);
      }
    }
    if (model_.has_tail()) {
      pair_.clear();
      pair_.add(entering);
      pair_.add(tail_[at(t - 1, c)] + emission(t - 1, c) + log_tail(c));
      tail_[at(t, c)] = pair_.sum();
      sum_.add(tail_[at(t, c)]);
    }
    return sum_.sum() + end(t - 1, c);
  }

  // Right to left: what follows a boundary (beta), a tail at it (tau), a start at it (delta), and from these
  // the derivatives of all probabilities.
  void backward() {
    std::vector<Dual> beta(size(length_ + 1)), tau(size(length_ + 1), kImpossible), delta(size(1));
    for (std::int64_t t = length_; t >= 0; --t) {
      if (t < length_) {
        for (int c = 0; c < labels_; ++c) delta[at(0, c)] = start(t, c) + segments_from(t, c, beta, tau);
        for (int from = 0; from < labels_; ++from) beta[at(t, from)] = targets(t, from, delta);
      }
      for (int c = 0; c < labels_ && t > 0 && model_.has_tail(); ++c) {
        const Dual closed = end(t - 1, c) + beta[at(t, c)];
        pair_.clear();
        pair_.add(closed);
        if (t < length_) pair_.add(log_tail(c) + emission(t, c) + tau[at(t + 1, c)]);
        tau[at(t, c)] = pair_.sum();
        product_.tail[at(0, c)] += derivative(tail_[at(t, c)] + tau[at(t, c)]);
        product_.ends[at(t - 1, c)] += derivative(tail_[at(t, c)] + closed);
      }
    }
  }
  // The derivative of a probability; `joint` is its logarithm before log Z is taken off.
  double derivative(Dual joint) const {
    return std::exp(joint.value - log_partition_.value) * (joint.tangent - log_partition_.tangent);
  }
  // All segments of c that start at t, and what follows them; adds the derivatives of their probabilities.
  Dual segments_from(std::int64_t t, int c, const std::vector<Dual>& beta, const std::vector<Dual>& tau) {
    sum_.clear();
    Dual content;
    const std::int64_t longest = model_.max_duration + (model_.has_tail() ? 1 : 0);
    for (std::int64_t k = 1; k <= std::min(longest, length_ - t); ++k) {
      content = content + emission(t + k - 1, c);
      if (content.value == kNegativeInfinity) break;
      sum_.add(content + (k <= model_.max_duration
                              ? duration(k, c) + end(t + k - 1, c) + beta[at(t + k, c)]
                              : duration(model_.max_duration, c) + log_tail(c) + tau[at(t + k, c)]));
    }
    const Dual all = sum_.sum();
    if (all.value == kNegativeInfinity) return kImpossible;
    const Dual before = gamma_[at(t, c)];
    const double largest = std::exp(before.value + sum_.largest() - log_partition_.value);
    double starts = 0;
    for (std::int64_t i = 0; i < std::ssize(sum_.terms()); ++i) {
      const double change =
          sum_.shares()[i] * largest * (before.tangent + sum_.terms()[i].tangent - log_partition_.tangent);
      const std::int64_t k = i + 1;
      starts += change;
      product_.duration[at(std::min<std::int64_t>(k, model_.max_duration) - 1, c)] += change;
      if (k <= model_.max_duration) product_.ends[at(t + k - 1, c)] += change;
    }
    product_.starts[at(t, c)] = starts;
    return all;
  }
  // beta_t(from), where `delta` says what starts at t; counts the transitions.
  Dual targets(std::int64_t t, int from, const std::vector<Dual>& delta) {
    const bool counted = t > 0 || model_.initial == InitialTerm::kUniform;
    sum_.clear();
    for (int c = 0; c < labels_; ++c) {
      sum_.add(transition(from, c) + delta[at(0, c)]);
      if (counted) product_.transition[at(from, c)] += derivative(alpha_[at(t, from)] + sum_.terms().back());
    }
    return sum_.sum();
  }
  // A label is at t that started up to t and has not ended before.
  void sum_labels() {
    for (int c = 0; c < labels_; ++c) {
      double open = 0;
      for (std::int64_t t = 0; t < length_; ++t) {
        open += product_.starts[at(t, c)];
        product_.emissions[at(t, c)] = open;
        open -= product_.ends[at(t, c)];
      }
    }
  }

  const ChainModel& model_;
  const ReferenceScores& scores_;
  const ScoreVariation& direction_;
  const std::int64_t length_;
  const int labels_;
  std::vector<Dual> emissions_, alpha_, gamma_, tail_;
  Dual log_partition_;
  LogSum sum_, pair_;
  ScoreVariation product_;
};

}  // namespace

ScoreVariation hessian_product(const ChainModel& model, const ReferenceScores& scores,
                               const ScoreVariation& direction) {
  if (model.cut.any()) throw std::logic_error("second derivatives of cut edges are not computed");
  return DualPass(model, scores, direction).run();
}

}  // namespace semicrf
