#include "sites/gap_steps.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace semicrf {

GapSteps::GapSteps(const ChainModel& model, std::vector<std::int64_t> gaps)
    : size_(model.num_labels), gaps_(std::move(gaps)) {
  if (model.max_duration != 1) throw std::logic_error("sites need a chain with K = 1");
  one_.change.resize(size_ * size_);
  for (std::size_t i = 0; i < one_.change.size(); ++i)
    one_.change[i] = model.transition[i] + model.duration_bias[i % size_];
  one_.stay = model.has_tail() ? model.log_tail : Matrix(size_, kNegativeInfinity);
  Matrix step = one_.change;
  for (std::size_t c = 0; c < size_; ++c) step[c * size_ + c] = log_add(step[c * size_ + c], one_.stay[c]);
  // The largest eigenvalue, by its powers.
  double scale = *std::ranges::max_element(step);
  if (scale > kNegativeInfinity) {
    constexpr int kSquarings = 50;
    Matrix power(step.size());
    std::ranges::transform(step, power.begin(), [&](double score) { return std::exp(score - scale); });
    double exponent = 1;
    growth_ = scale;
    for (int i = 0; i < kSquarings; ++i, exponent *= 2) {
      power = product(power, power);
      const double largest = *std::ranges::max_element(power);
      if (largest == 0) break;
      for (double& entry : power) entry /= largest;
      scale = 2 * scale + std::log(largest);
      growth_ = scale / (2 * exponent);
    }
  }
  for (double& score : step) score = std::exp(score - growth_);
  squares_.push_back(std::move(step));
  const std::uint64_t longest = gaps_.empty() ? 1 : gaps_.back();
  while (squares_.size() < static_cast<std::size_t>(std::bit_width(longest)))
    squares_.push_back(product(squares_.back(), squares_.back()));
  for (const std::int64_t gap : gaps_) {
    const Matrix all = power(gap);
    all_.insert(all_.end(), all.begin(), all.end());
    for (const double score : one_.stay)
      stay_.push_back(std::exp(static_cast<double>(gap) * (score - growth_)));
    least_ = std::min(least_, *std::ranges::min_element(all));
  }
}

GapSteps::Matrix GapSteps::product(const Matrix& a, const Matrix& b) const {
  Matrix c(size_ * size_);
  for (std::size_t i = 0; i < size_; ++i)
    for (std::size_t k = 0; k < size_; ++k)
      for (std::size_t j = 0; j < size_; ++j) c[i * size_ + j] += a[i * size_ + k] * b[k * size_ + j];
  return c;
}

// n >= 0, of the step.
GapSteps::Matrix GapSteps::power(std::int64_t n) const {
  Matrix result(size_ * size_);
  for (std::size_t c = 0; c < size_; ++c) result[c * size_ + c] = 1;
  for (std::size_t i = 0; n >> i > 0; ++i)
    if ((n >> i & 1) != 0) result = product(result, squares_[i]);
  return result;
}

// With X the weights of a length n and M the step, [from][to] of the step itself is used
// W_n(X) = sum over s < n of (M^s)' X (M^(n-1-s))' times. So W_1 is X, W_2m(X) = W_m(X (M^m)' + (M^m)' X),
// and W_n+1(X) = X (M^n)' + W_n(M' X), ' being the transpose.
void GapSteps::add_counts(std::span<const double> pairs, std::vector<double>& transition,
                          std::vector<double>& tail) const {
  const std::size_t entries = size_ * size_;
  const auto transposed = [&](const Matrix& a) {
    Matrix t(entries);
    for (std::size_t i = 0; i < entries; ++i) t[i % size_ * size_ + i / size_] = a[i];
    return t;
  };
  std::vector<Matrix> turned;
  for (const Matrix& one : squares_) turned.push_back(transposed(one));
  const auto add = [](Matrix& to, const Matrix& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  Matrix used(entries);
  for (std::size_t gap = 0; gap < gaps_.size(); ++gap) {
    Matrix x(pairs.data() + gap * entries, pairs.data() + (gap + 1) * entries);
    for (std::int64_t n = gaps_[gap]; n > 1;) {
      if (n % 2 != 0) {
        add(used, product(x, transposed(power(--n))));
        x = product(turned.front(), x);
      } else {
        n /= 2;
        const Matrix half = transposed(power(n));
        Matrix both = product(x, half);
        add(both, product(half, x));
        x = std::move(both);
      }
    }
    add(used, x);
  }
  for (std::size_t i = 0; i < entries; ++i) transition[i] += used[i] * std::exp(one_.change[i] - growth_);
  for (std::size_t c = 0; c < tail.size(); ++c)
    tail[c] += used[c * size_ + c] * std::exp(one_.stay[c] - growth_);
}

GapSteps::Best GapSteps::joined(const Best& left, const Best& right) const {
  Best both{Matrix(size_ * size_, kNegativeInfinity), Matrix(size_)};
  for (std::size_t i = 0; i < size_; ++i) {
    both.stay[i] = left.stay[i] + right.stay[i];
    for (std::size_t j = 0; j < size_; ++j) {
      double best =
          std::max(left.stay[i] + right.change[i * size_ + j], left.change[i * size_ + j] + right.stay[j]);
      for (std::size_t k = 0; k < size_; ++k)
        best = std::max(best, left.change[i * size_ + k] + right.change[k * size_ + j]);
      both.change[i * size_ + j] = best;
    }
  }
  return both;
}

std::vector<GapSteps::Best> GapSteps::best() const {
  std::vector<Best> squares{one_};
  while (squares.size() < squares_.size()) squares.push_back(joined(squares.back(), squares.back()));
  std::vector<Best> found;
  for (const std::int64_t gap : gaps_) {
    Best result{Matrix(size_ * size_, kNegativeInfinity), Matrix(size_, 0.0)};
    for (std::size_t i = 0; gap >> i > 0; ++i)
      if ((gap >> i & 1) != 0) result = joined(result, squares[i]);
    found.push_back(std::move(result));
  }
  return found;
}

}  // namespace semicrf
