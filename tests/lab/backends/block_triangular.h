// Block-triangular tree (App. B, "Backend 2", and the node pattern of App. C).
//
// A node stands for the boundaries a .. b-1, S = b - a of them. Its matrix is indexed by the first boundary
// that a segmentation has there, d1 positions from the left edge, and the last one, d2 positions from the
// right edge:
//
//   N[(d1, c1), (d2, c2)] = sum over what lies between them; a segment of c1 ends at the first, one of c2 at
//   the last
//
// First <= last means d1 + d2 <= S - 1: the anti-diagonal triangle of (C.3), with D = min(K, S) durations
// (counted from 0 here). Only these blocks are stored, each C x C and dense. Two children are joined by the
// segments that cross the middle, J[(e, c), (d, c')] = psi of duration e + d + 1 <= K, which is triangular,
// too:
//
//   E[k1, k3] = (+)_{k2} (L (x) J)[k1, k2] (x) R[k2, k3]                                 (B.1)
//
// plus L alone where no boundary lies in R, plus R alone where none lies in L. Every edge is part of exactly
// one J, whose outside is its marginal. No node is dense before S >= 2K - 1; from there on the triangle is a
// square.
//
// Work O(T n^3), memory half of O(T n^2) at the spans where the triangle is one.
#pragma once

#include <memory>

#include "lab/backends/triangular_blocks.h"

namespace semicrf::lab {

struct BlockTriangularBackend {
  static constexpr const char* name = "block-triangular";
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    Index inside = 0, path = 0;
    need(0, s.T + 1, s.K, inside, path);
    // L J and its outside: square.
    const auto joint = [&](Index span) {
      const Index left = std::min(s.K, span / 2), right = std::min(s.K, span - span / 2);
      return left * right;
    };
    return (inside + std::max(joint(s.T + 1), outside ? path : 0)) * s.C * s.C * value;
  }

  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    using Value = typename Ring::Value;
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(Value), wants_edges<Visit>));
    Tree<Ring> tree{problem, ring, memory};
    const auto root = tree.inside(0, problem.shape.T + 1);
    const Index C = problem.shape.C;
    if constexpr (wants_edges<Visit>) {
      TriangularBlocks<Value> out(memory, root->matrix.span, problem.shape, ring.zero());
      for (Index c1 = 0; c1 < C; ++c1)
        for (Index c2 = 0; c2 < C; ++c2) out.at(0, c1, 0, c2) = ring.one();
      tree.outside(*root, std::move(out), visit);
    }
    Terms<Ring> sum(ring);  // first boundary 0, last boundary T
    for (Index c1 = 0; c1 < C; ++c1)
      for (Index c2 = 0; c2 < C; ++c2) sum.add(root->matrix.get(0, c1, 0, c2, ring.zero()));
    return sum.total();
  }

 private:
  template <class Value>
  struct Node {
    Index begin, middle, end;
    TriangularBlocks<Value> matrix;
    std::unique_ptr<Node> left, right;
  };

  // Blocks of all nodes, and the most that outsides and joints hold on the way down to a leaf.
  static void need(Index begin, Index end, Index K, Index& inside, Index& path) {
    const Index span = end - begin, own = triangle_blocks(span, K);
    inside += own;
    path = own;
    if (span == 1) return;
    Index left = 0, right = 0;
    need(begin, begin + span / 2, K, inside, left);
    need(begin + span / 2, end, K, inside, right);
    const Index l = std::min(K, span / 2), r = std::min(K, span - span / 2);
    const Index both = triangle_blocks(span / 2, K) + triangle_blocks(span - span / 2, K);
    path = std::max({own + both + 2 * l * r, triangle_blocks(span - span / 2, K) + left, right});
  }

  template <class Ring>
  struct Tree {
    using Value = typename Ring::Value;
    const Problem& problem;
    Ring& ring;
    Memory& memory;

    std::unique_ptr<Node<Value>> inside(Index begin, Index end) {
      const Index span = end - begin, middle = begin + span / 2, C = problem.shape.C;
      const Value zero = ring.zero();
      std::unique_ptr<Node<Value>> left, right;
      if (span > 1) left = inside(begin, middle);
      if (span > 1) right = inside(middle, end);
      auto node = std::make_unique<Node<Value>>(
          Node<Value>{begin, middle, end, TriangularBlocks<Value>(memory, span, problem.shape, zero),
                      std::move(left), std::move(right)});
      TriangularBlocks<Value>& E = node->matrix;
      if (span == 1) {  // one boundary: what ends there is what the next segment comes from
        for (Index c = 0; c < C; ++c) E.at(0, c, 0, c) = ring.one();
        return node;
      }
      const TriangularBlocks<Value>& L = node->left->matrix;
      const TriangularBlocks<Value>& R = node->right->matrix;
      const Array<Value> X = left_joint(*node);
      Terms<Ring> sum(ring);
      E.for_each([&](Index d1, Index c1, Index d2, Index c3) {
        if (d2 >= R.span) sum.add(L.get(d1, c1, d2 - R.span, c3, zero));  // no boundary in R
        if (d1 >= L.span) sum.add(R.get(d1 - L.span, c1, d2, c3, zero));  // none in L
        if (d1 < L.D)
          for (Index d = 0; d + d2 < R.span && d < R.D && d2 < R.D; ++d)
            for (Index c = 0; c < C; ++c)
              sum.add(ring.times(X[((d1 * C + c1) * R.D + d) * C + c], R.get(d, c, d2, c3, zero)));
        E.at(d1, c1, d2, c3) = sum.total();
      });
      return node;
    }

    // X = L (x) J, (D_left C) x (D_right C).
    Array<Value> left_joint(const Node<Value>& node) {
      const TriangularBlocks<Value>& L = node.left->matrix;
      const Index D = node.right->matrix.D, C = L.C;
      Array<Value> X(memory, L.D * C * D * C, ring.zero());
      Terms<Ring> sum(ring);
      for (Index i = 0; i < X.size(); ++i) {
        const Index c = i % C, d = i / C % D, c1 = i / C / D % C, d1 = i / C / D / C;
        for (Index e = 0; e < L.D && d1 + e < L.span && e + d < problem.shape.K; ++e)
          for (Index from = 0; from < C; ++from)
            sum.add(ring.times(L.get(d1, c1, e, from, ring.zero()), crossing(node, e, from, d, c)));
        X[i] = sum.total();
      }
      return X;
    }
    Value crossing(const Node<Value>& node, Index e, Index from, Index d, Index to) {
      return ring.lift(problem.make_edge(node.middle + d, e + d + 1, from, to));
    }

    template <class Visit>
    void outside(const Node<Value>& node, TriangularBlocks<Value> out, Visit& visit) {
      if (node.end - node.begin == 1) return;
      const TriangularBlocks<Value>& L = node.left->matrix;
      const TriangularBlocks<Value>& R = node.right->matrix;
      const Index C = L.C, K = problem.shape.K;
      const Value zero = ring.zero();
      TriangularBlocks<Value> out_left(memory, L.span, problem.shape, zero);
      TriangularBlocks<Value> out_right(memory, R.span, problem.shape, zero);
      Terms<Ring> sum(ring);
      {
        const Array<Value> X = left_joint(node);
        Array<Value> out_X(memory, X.size(), zero);  // dX = dE R^T
        for (Index i = 0; i < X.size(); ++i) {
          const Index c = i % C, d = i / C % R.D, c1 = i / C / R.D % C, d1 = i / C / R.D / C;
          for (Index d2 = 0; d2 < R.D && d + d2 < R.span; ++d2)
            for (Index c3 = 0; c3 < C; ++c3)
              sum.add(ring.times(out.get(d1, c1, d2, c3, zero), R.get(d, c, d2, c3, zero)));
          out_X[i] = sum.total();
        }
        const auto at = [&](Index d1, Index c1, Index d, Index c) {
          return ((d1 * C + c1) * R.D + d) * C + c;
        };
        out_right.for_each([&](Index d, Index c, Index d2, Index c3) {  // dR = X^T dE, and R alone
          for (Index d1 = 0; d1 < L.D; ++d1)
            for (Index c1 = 0; c1 < C; ++c1)
              sum.add(ring.times(X[at(d1, c1, d, c)], out.get(d1, c1, d2, c3, zero)));
          sum.add(out.get(d + L.span, c, d2, c3, zero));
          out_right.at(d, c, d2, c3) = sum.total();
        });
        out_left.for_each([&](Index d1, Index c1, Index e, Index from) {  // dL = dX J^T, and L alone
          for (Index d = 0; d < R.D && e + d < K; ++d)
            for (Index c = 0; c < C; ++c)
              sum.add(ring.times(out_X[at(d1, c1, d, c)], crossing(node, e, from, d, c)));
          sum.add(out.get(d1, c1, e + R.span, from, zero));
          out_left.at(d1, c1, e, from) = sum.total();
        });
        for (Index e = 0; e < L.D; ++e)  // dJ = L^T dX: the marginals of the segments that cross the middle
          for (Index d = 0; d < R.D && e + d < K; ++d)
            for (Index from = 0; from < C; ++from)
              for (Index c = 0; c < C; ++c) {
                for (Index d1 = 0; d1 < L.D && d1 + e < L.span; ++d1)
                  for (Index c1 = 0; c1 < C; ++c1)
                    sum.add(ring.times(L.get(d1, c1, e, from, zero), out_X[at(d1, c1, d, c)]));
                const Edge edge = problem.make_edge(node.middle + d, e + d + 1, from, c);
                visit(edge, ring.times(ring.lift(edge), sum.total()));
              }
      }
      { const TriangularBlocks<Value> done = std::move(out); }
      outside(*node.left, std::move(out_left), visit);
      outside(*node.right, std::move(out_right), visit);
    }
  };
};

}  // namespace semicrf::lab
