// A semi-Markov CRF over one sequence as the paper writes it: scores S, T, B, P and the edge potential of eq.
// (5).
//
// All scores are natural logarithms in double. Entries of T, B, Pstart and Pend may be -inf (forbidden); S is
// finite, because a segment's content is a difference of two of its entries. Indices are those of the paper:
// boundaries t = 0..T, durations k = 1..K, labels c = 0..C-1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/chain_model.h"

namespace semicrf::lab {

using Index = std::size_t;

// T positions, K durations, C labels.
struct Shape {
  Index T = 1;
  Index K = 1;
  Index C = 1;
};

// A segment of `k` positions of label `to` that ends at boundary `t`, after one of label `from` (any label
// where t == k: the first segment has no source, and the paper sums over all of them).
struct Edge {
  Index t = 0;
  Index k = 0;
  Index from = 0;
  Index to = 0;
  double score = 0;  // eq. (5)
};

struct Problem {
  Shape shape;
  std::vector<double> S;  // (T+1, C), eq. (2): S[0] = 0, S[t] = sum of the centred emissions before t
  std::vector<double>
      transition;            // (C, C) [from][to], or (K, C, C) [k-1][from][to] if it depends on the duration
  bool by_duration = false;  // which of the two
  std::vector<double> duration;    // B (K, C), row k-1
  std::vector<double> start, end;  // Pstart, Pend (T, C); empty: 0

  double transition_at(Index k, Index from, Index to) const {
    const Index C = shape.C;
    return transition[((by_duration ? (k - 1) * C : 0) + from) * C + to];
  }
  // What a segment scores without its transition: the first, second and fourth term of eq. (5).
  double segment(Index t, Index k, Index to) const {
    const Index C = shape.C;
    double score = (S[t * C + to] - S[(t - k) * C + to]) + duration[(k - 1) * C + to];
    if (!start.empty()) score += start[(t - k) * C + to] + end[(t - 1) * C + to];
    return score;
  }
  // Eq. (5).
  double edge(Index t, Index k, Index from, Index to) const {
    return segment(t, k, to) + transition_at(k, from, to);
  }
  Edge make_edge(Index t, Index k, Index from, Index to) const {
    return {t, k, from, to, edge(t, k, from, to)};
  }
};

// Random scores: emissions and transitions N(0,1), durations N(0,1); with `everything` also Pstart and Pend,
// and about one in eight transitions and durations forbidden (never all of them). The seed makes it again.
Problem random_problem(const Shape& shape, std::uint64_t seed, bool everything);

// Faint emissions, rare transitions and no preference for a duration in place of N(0, 1): every duration
// counts.
void make_durations_count(Problem& problem);

// The same chain for the engines of the product. The transition must not depend on the duration.
ChainModel chain_of(const Problem& problem);
// (T, C) emissions whose prefix sums are S.
std::vector<double> emissions_of(const Problem& problem);

}  // namespace semicrf::lab
