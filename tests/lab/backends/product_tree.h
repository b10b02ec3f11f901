// The product W_0 (x) W_1 (x) ... (App. B, "Backend 1") of n x n matrices over a semiring as a balanced
// binary tree, and the outside of every factor: the derivative of <R, product> by the factor, for a given
// weight R of the product's entries.
//
// Levels are stored one by one, as a parallel scan has them: O(count n^2) values, O(log count) depth.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "lab/backends/backend.h"

namespace semicrf::lab {

// Matrices of all levels over `count` leaves.
inline std::size_t level_matrices(std::size_t count) {
  std::size_t all = count;
  for (std::size_t level = count; level > 1; level = (level + 1) / 2) all += (level + 1) / 2;
  return all;
}

// Matrices that `count` leaves and their tree take at most: all levels if they are kept for the outside, and
// then the outsides of two neighbouring levels on top; else two neighbouring levels, the lowest.
inline std::size_t tree_matrices(std::size_t count, bool keep) {
  const std::size_t peak = count > 1 ? count + (count + 1) / 2 : count;
  return keep ? level_matrices(count) + peak : peak;
}

template <class Ring>
class ProductTree {
 public:
  using Value = typename Ring::Value;

  // Takes the leaves, `leaves.size() / n^2` of them; reduces them at once.
  ProductTree(Ring& ring, Memory& memory, Index n, Array<Value> leaves, bool keep)
      : ring_(ring), memory_(memory), n_(n), size_(n * n) {
    levels_.push_back(std::move(leaves));
    while (count(levels_.back()) > 1) {
      levels_.push_back(parents_of(levels_.back()));
      if (!keep) levels_.erase(levels_.begin());
    }
  }

  const Value* product() const { return levels_.back().data(); }

  // on_leaf(i, leaf, outside): two matrices each, for every leaf from left to right. Needs kept levels.
  void outside(const Value* root, const std::function<void(Index, const Value*, const Value*)>& on_leaf) {
    Array<Value> above(memory_, size_, ring_.zero());
    std::copy_n(root, size_, above.data());
    for (Index level = levels_.size() - 1; level-- > 0;) {
      const Array<Value>& here = levels_[level];
      Array<Value> out(memory_, here.size(), ring_.zero());
      for (Index i = 0; i < count(here); i += 2) {
        const Value* parent = above.data() + i / 2 * size_;
        if (i + 1 == count(here)) {
          std::copy_n(parent, size_, out.data() + i * size_);
          continue;
        }
        const Value* left = here.data() + i * size_;
        const Value* right = left + size_;
        // E = L R: dL[a,b] = sum_j dE[a,j] R[b,j],  dR[a,b] = sum_j L[j,a] dE[j,b]
        multiply({parent, n_, 1}, {right, 1, n_}, out.data() + i * size_);
        multiply({left, 1, n_}, {parent, n_, 1}, out.data() + (i + 1) * size_);
      }
      above = std::move(out);
    }
    for (Index i = 0; i < count(levels_.front()); ++i)
      on_leaf(i, levels_.front().data() + i * size_, above.data() + i * size_);
  }

 private:
  // Entry (i, j) is at values[i * row + j * column], so that a transpose is a view.
  struct View {
    const Value* values;
    Index row, column;
  };
  Index count(const Array<Value>& level) const { return level.size() / size_; }

  Array<Value> parents_of(const Array<Value>& level) {
    Array<Value> parents(memory_, (count(level) + 1) / 2 * size_, ring_.zero());
    for (Index i = 0; i < count(level); i += 2) {
      const Value* left = level.data() + i * size_;
      Value* parent = parents.data() + i / 2 * size_;
      if (i + 1 == count(level))
        std::copy_n(left, size_, parent);
      else
        multiply({left, n_, 1}, {left + size_, n_, 1}, parent);
    }
    return parents;
  }
  void multiply(View a, View b, Value* product) {
    std::vector<Value> terms(n_);
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) {
        for (Index m = 0; m < n_; ++m)
          terms[m] = ring_.times(a.values[i * a.row + m * a.column], b.values[m * b.row + j * b.column]);
        product[i * n_ + j] = ring_.sum(terms.data(), n_);
      }
  }

  Ring& ring_;
  Memory& memory_;
  Index n_, size_;
  std::vector<Array<Value>> levels_;  // leaves first
};

}  // namespace semicrf::lab
