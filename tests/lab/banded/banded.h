// Bandwidths of the operators of tree-structured inference (App. C of the paper).
//
// Patterns are boolean matrices; bw(M) = max |i - j| over their entries (C, "Effective bandwidth"). An
// ordering is a list of the old indices in their new order.
#pragma once

#include <vector>

#include "lab/problem.h"

namespace semicrf::lab {

class Pattern {
 public:
  explicit Pattern(Index n) : n_(n), entries_(n * n, 0) {}
  Index size() const { return n_; }
  bool operator()(Index i, Index j) const { return entries_[i * n_ + j] != 0; }
  void set(Index i, Index j) { entries_[i * n_ + j] = 1; }
  Index count() const;
  Index bandwidth() const;                    // 0 where there are no entries
  Pattern times(const Pattern& right) const;  // OR of ANDs
  Pattern permuted(const std::vector<Index>& order) const;

 private:
  Index n_;
  std::vector<char> entries_;
};

// (C.1): B[i,j] = 1 <= j - i <= K over the boundaries 0..T.
Pattern boundary_reachability(Index T, Index K);
Pattern power(const Pattern& base, Index exponent);

// (C.4): M_S[(d1,y1),(d2,y2)] = d1 + d2 <= S over d = 1..D, D = min(K,S), and C labels; index (d-1) C + y.
Pattern duration_compatibility(Index K, Index C, Index S);

// What the authors' package measures in place of M_S: K-1 durations counted from 0, d1 + d2 <= S over d =
// 0..K-2 (their bandwidths are those of docs/paper.md; peers.py runs their functions).
Pattern compatibility_from_zero(Index K, Index C, Index S);

// What the tree multiplies: states (r, c), 0 <= r < K, entries that are possible after `steps` positions.
Pattern tree_operator(Index K, Index C, Index steps);

std::vector<Index> identity_order(Index n);
// Rows of C labels one after the other, every second one backwards.
std::vector<Index> snake_order(Index n, Index C);
// Rows from both ends by turns: 0, n-1, 1, n-2, ..., labels of a row in order (the authors' snake).
std::vector<Index> low_high_order(Index n, Index C);
// Cuthill and McKee: breadth first from a vertex of smallest degree, neighbours by degree; then reversed.
std::vector<Index> reverse_cuthill_mckee(const Pattern& pattern);
// The vertices of largest degree in the middle, the others by turns left and right of them.
std::vector<Index> middle_out_order(const Pattern& pattern);

// Over all n! orderings; for n up to 9 or so.
Index smallest_bandwidth(const Pattern& pattern);

// Lower bounds of the bandwidth under any ordering: as printed in the paper (Prop. 1, C.5), C floor(S/2) - 1,
// and corrected. The states of duration d <= floor(S/2) that exist are a clique, and there are only min(K,
// floor(S/2)) of them per label: the printed bound is wrong for S >= 2K + 2.
inline Index printed_bound(Index C, Index S) { return C * (S / 2) == 0 ? 0 : C * (S / 2) - 1; }
inline Index corrected_bound(Index K, Index C, Index S) {
  const Index clique = C * (K < S / 2 ? K : S / 2);
  return clique == 0 ? 0 : clique - 1;
}

}  // namespace semicrf::lab
