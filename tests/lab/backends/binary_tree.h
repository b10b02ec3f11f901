// Binary tree (App. B, "Backend 1") over n = (K+1) C states, and its sharded variant with checkpoints.
//
// State (r, c) at a boundary: r positions are left of a segment of label c; (0, c): such a segment ends here.
// One step from boundary s to s+1 is the matrix
//
//   W_s[(0, c'), (k-1, c)] = psi(s+k, k, c, c')    a segment of k positions starts, one of them is done
//   W_s[(r, c), (r-1, c)]  = one                   r >= 1: the open segment goes on
//
// and the sum over all segmentations is the sum over (0, c'), (0, c) of W_0 (x) ... (x) W_{T-1}. States with
// r = K are never reached in this form; they are kept, so that n is the paper's.
//
// Work O(T n^3), memory O(T n^2), depth O(log T). Sharded: the product of each of about sqrt(T) shards is
// kept and its tree computed again for the outside: O(sqrt(T) n^2), at twice the work.
#pragma once

#include "lab/backends/product_tree.h"

namespace semicrf::lab {

template <bool kSharded>
struct BinaryTreeBackend {
  static constexpr const char* name = kSharded ? "sharded-tree" : "binary-tree";
  static Index states(const Shape& s) { return (s.K + 1) * s.C; }
  static Index shard(const Shape& s) {
    if (!kSharded) return s.T;
    return static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(s.T))));
  }
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    const std::size_t matrix = states(s) * states(s) * value;
    const Index length = shard(s), shards = (s.T + length - 1) / length;
    if (!kSharded) return (tree_matrices(s.T, outside) + (outside ? 1 : 0)) * matrix;
    // First the shards one by one beside their products. Then the products' tree; with an outside, of every
    // shard again its tree beside it, while the outsides of the lowest level are held.
    const std::size_t first = shards + tree_matrices(length, false);
    const std::size_t root = tree_matrices(shards, outside) + (outside ? 1 : 0);
    const std::size_t held = level_matrices(shards) + shards + 1;
    return std::max({first, root, outside ? held + tree_matrices(length, true) : 0}) * matrix;
  }

  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    using Value = typename Ring::Value;
    constexpr bool outside = wants_edges<Visit>;
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(Value), outside));
    const Index T = problem.shape.T, K = problem.shape.K, C = problem.shape.C;
    const Index n = states(problem.shape), length = shard(problem.shape);

    const auto tree_of = [&](Index begin, bool keep) {
      const Index end = std::min(begin + length, T);
      return ProductTree<Ring>(ring, memory, n, steps(problem, ring, memory, begin, end), keep);
    };
    const auto visit_leaf = [&](Index s, const Value* outside_of) {
      if constexpr (outside)
        for (Index k = 1; k <= std::min(K, T - s); ++k)
          for (Index from = 0; from < C; ++from)
            for (Index c = 0; c < C; ++c) {
              const Edge edge = problem.make_edge(s + k, k, from, c);
              visit(edge, ring.times(ring.lift(edge), outside_of[from * n + (k - 1) * C + c]));
            }
    };
    if constexpr (!kSharded) {
      auto tree = tree_of(0, outside);
      if (outside)
        tree.outside(ends(ring, memory, n, C).data(),
                     [&](Index s, const Value*, const Value* out) { visit_leaf(s, out); });
      return total(ring, tree.product(), n, C);
    } else {
      Array<Value> products(memory, (T + length - 1) / length * n * n, ring.zero());
      for (Index begin = 0; begin < T; begin += length)
        std::copy_n(tree_of(begin, false).product(), n * n, products.data() + begin / length * n * n);
      ProductTree<Ring> root(ring, memory, n, std::move(products), outside);
      if (outside)
        root.outside(ends(ring, memory, n, C).data(), [&](Index i, const Value*, const Value* out) {
          tree_of(i * length, true).outside(out, [&](Index s, const Value*, const Value* step) {
            visit_leaf(i * length + s, step);
          });
        });
      return total(ring, root.product(), n, C);
    }
  }

 private:
  // W_begin .. W_{end-1}.
  template <class Ring>
  static Array<typename Ring::Value> steps(const Problem& problem, Ring& ring, Memory& memory, Index begin,
                                           Index end) {
    const auto [T, K, C] = problem.shape;
    const Index n = states(problem.shape);
    Array<typename Ring::Value> all(memory, (end - begin) * n * n, ring.zero());
    for (Index s = begin; s < end; ++s) {
      auto* W = all.data() + (s - begin) * n * n;
      for (Index k = 1; k <= std::min(K, T - s); ++k)
        for (Index from = 0; from < C; ++from)
          for (Index c = 0; c < C; ++c)
            W[from * n + (k - 1) * C + c] = ring.lift(problem.make_edge(s + k, k, from, c));
      for (Index r = 1; r <= K; ++r)
        for (Index c = 0; c < C; ++c) W[(r * C + c) * n + (r - 1) * C + c] = ring.one();
    }
    return all;
  }
  // The weight of the product's entries: one from (0, c') to (0, c).
  template <class Ring>
  static Array<typename Ring::Value> ends(Ring& ring, Memory& memory, Index n, Index C) {
    Array<typename Ring::Value> weight(memory, n * n, ring.zero());
    for (Index from = 0; from < C; ++from) std::fill_n(weight.data() + from * n, C, ring.one());
    return weight;
  }
  template <class Ring>
  static typename Ring::Value total(Ring& ring, const typename Ring::Value* product, Index n, Index C) {
    Terms<Ring> sum(ring);
    for (Index from = 0; from < C; ++from)
      for (Index c = 0; c < C; ++c) sum.add(product[from * n + c]);
    return sum.total();
  }
};

}  // namespace semicrf::lab
