#include "lab/banded/banded.h"

#include <algorithm>
#include <numeric>

namespace semicrf::lab {
namespace {

std::vector<Index> degrees_of(const Pattern& pattern) {
  std::vector<Index> degrees(pattern.size());
  for (Index i = 0; i < pattern.size(); ++i)
    for (Index j = 0; j < pattern.size(); ++j)
      degrees[i] += i != j && (pattern(i, j) || pattern(j, i)) ? 1 : 0;
  return degrees;
}

}  // namespace

Index Pattern::count() const { return static_cast<Index>(std::count(entries_.begin(), entries_.end(), 1)); }

Index Pattern::bandwidth() const {
  Index widest = 0;
  for (Index i = 0; i < n_; ++i)
    for (Index j = 0; j < n_; ++j)
      if ((*this)(i, j)) widest = std::max(widest, i < j ? j - i : i - j);
  return widest;
}

Pattern Pattern::times(const Pattern& right) const {
  Pattern product(n_);
  for (Index i = 0; i < n_; ++i)
    for (Index m = 0; m < n_; ++m) {
      if (!(*this)(i, m)) continue;
      for (Index j = 0; j < n_; ++j)
        if (right(m, j)) product.set(i, j);
    }
  return product;
}

Pattern Pattern::permuted(const std::vector<Index>& order) const {
  Pattern moved(n_);
  for (Index i = 0; i < n_; ++i)
    for (Index j = 0; j < n_; ++j)
      if ((*this)(order[i], order[j])) moved.set(i, j);
  return moved;
}

Pattern boundary_reachability(Index T, Index K) {
  Pattern pattern(T + 1);
  for (Index i = 0; i <= T; ++i)
    for (Index j = i + 1; j <= std::min(T, i + K); ++j) pattern.set(i, j);
  return pattern;
}

Pattern power(const Pattern& base, Index exponent) {
  Pattern result = base;
  for (Index m = 1; m < exponent; ++m) result = result.times(base);
  return result;
}

Pattern duration_compatibility(Index K, Index C, Index S) {
  const Index D = std::min(K, S);
  Pattern pattern(D * C);
  for (Index i = 0; i < D * C; ++i)
    for (Index j = 0; j < D * C; ++j)
      if (i / C + 1 + j / C + 1 <= S) pattern.set(i, j);
  return pattern;
}

Pattern compatibility_from_zero(Index K, Index C, Index S) {
  Pattern pattern((K - 1) * C);
  for (Index i = 0; i < pattern.size(); ++i)
    for (Index j = 0; j < pattern.size(); ++j)
      if (i / C + j / C <= S) pattern.set(i, j);
  return pattern;
}

Pattern tree_operator(Index K, Index C, Index steps) {
  Pattern step(K * C);
  for (Index from = 0; from < C; ++from)
    for (Index to = 0; to < K * C; ++to) step.set(from, to);
  for (Index i = C; i < K * C; ++i) step.set(i, i - C);
  Pattern product = step;
  for (Index done = 1; done < steps; done *= 2) product = product.times(product);
  return product;
}

std::vector<Index> identity_order(Index n) {
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

std::vector<Index> snake_order(Index n, Index C) {
  std::vector<Index> order = identity_order(n);
  for (Index row = C; row + C <= n; row += 2 * C)
    std::reverse(order.begin() + static_cast<std::ptrdiff_t>(row),
                 order.begin() + static_cast<std::ptrdiff_t>(row + C));
  return order;
}

std::vector<Index> low_high_order(Index n, Index C) {
  std::vector<Index> order;
  for (Index low = 0, high = n / C; low < high;) {
    const Index row = order.size() / C % 2 == 0 ? low++ : --high;
    for (Index c = 0; c < C; ++c) order.push_back(row * C + c);
  }
  return order;
}

std::vector<Index> reverse_cuthill_mckee(const Pattern& pattern) {
  const Index n = pattern.size();
  const std::vector<Index> degrees = degrees_of(pattern);
  std::vector<Index> by_degree = identity_order(n);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](Index a, Index b) { return degrees[a] < degrees[b]; });
  std::vector<Index> order;
  std::vector<char> seen(n);
  for (const Index root : by_degree) {
    if (seen[root] != 0) continue;
    seen[root] = 1;
    order.push_back(root);
    for (Index at = order.size() - 1; at < order.size(); ++at)
      for (const Index next : by_degree)
        if (seen[next] == 0 && (pattern(order[at], next) || pattern(next, order[at]))) {
          seen[next] = 1;
          order.push_back(next);
        }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<Index> middle_out_order(const Pattern& pattern) {
  const Index n = pattern.size();
  const std::vector<Index> degrees = degrees_of(pattern);
  std::vector<Index> by_degree = identity_order(n);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](Index a, Index b) { return degrees[a] > degrees[b]; });
  std::vector<Index> order(n);
  Index left = (n - 1) / 2, right = left + 1;
  for (Index i = 0; i < n; ++i) order[i % 2 == 0 ? left-- : right++] = by_degree[i];
  return order;
}

Index smallest_bandwidth(const Pattern& pattern) {
  std::vector<Index> order = identity_order(pattern.size());
  Index best = pattern.size();
  do {
    best = std::min(best, pattern.permuted(order).bandwidth());
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

}  // namespace semicrf::lab
