// What a chain does between two sites: powers of its step of one position.
//
// Between sites that lie n positions apart there are n - 1 positions without scores. All their segmentations
// together are the n-th power of the step, in the semiring at hand (docs/algorithm.md, section 18).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

// The chain must have K = 1: labels that last geometrically, by a tail or by following themselves.
class GapSteps {
 public:
  // `gaps`: the distances that occur, >= 1, sorted. std::logic_error: K > 1.
  GapSteps(const ChainModel& model, std::vector<std::int64_t> gaps);

  std::size_t gaps() const { return gaps_.size(); }
  std::int64_t length(std::size_t gap) const { return gaps_[gap]; }

  // Sums over all segmentations of a gap, by the place of its length in the list. True sums are exp(n growth)
  // times these, so that no power grows or vanishes by its length alone.
  double growth() const { return growth_; }
  // (C, C), [from][to]: the label at the first site, and that at the second. Linear.
  std::span<const double> all(std::size_t gap) const { return {&all_[gap * size_ * size_], size_ * size_}; }
  // (C): one segment covers both sites. Linear.
  std::span<const double> stay(std::size_t gap) const { return {&stay_[gap * size_], size_}; }
  // The smallest entry of all().
  double least() const { return least_; }

  // Adds the expected counts inside the gaps: `pairs` has for each length the sum over its gaps of the (C, C)
  // weights by which the entries of all() must be multiplied to be P(labels at both ends).
  void add_counts(std::span<const double> pairs, std::vector<double>& transition,
                  std::vector<double>& tail) const;

  // Best scores, natural logarithms: paths with a boundary (C, C), and those without (C).
  struct Best {
    std::vector<double> change, stay;
  };
  // By the place of the length.
  std::vector<Best> best() const;

 private:
  using Matrix = std::vector<double>;
  Matrix product(const Matrix& a, const Matrix& b) const;
  Matrix power(std::int64_t n) const;
  Best joined(const Best& left, const Best& right) const;

  std::size_t size_;  // C
  std::vector<std::int64_t> gaps_;
  Best one_;  // a step of one position
  double growth_ = 0;
  std::vector<Matrix> squares_;  // powers 1, 2, 4, ... of the step, relative to the growth
  std::vector<double> all_, stay_;
  double least_ = 1;
};

}  // namespace semicrf
