// Transitions that depend on the duration, T_k[c',c], as sums of few products:
//
//   exp T_k[c',c] = sum_r u_r(k,c) A_r[c',c]          u, A >= 0
//
// The sum over sources leaves the loop over durations once per rank:
//
//   G_r(s, c)  = LSE_c' (alpha_s(c') + log A_r[c',c])                      R C^2 terms per position
//
//   alpha_t(c) = LSE_{k,r} (G_r(t-k, c) + log u_r(k,c) + segment(t, k, c))     R K C terms per position
//
// Both together are eq. (5) with such a T, summed: O(T R (K C + C^2)) instead of O(T K C^2). R = 1 with u = 1
// is the factorised recursion of the product.
#pragma once

#include "lab/backends/backend.h"
#include "lab/semirings/log.h"

namespace semicrf::lab {

struct LowRankTransition {
  Index rank = 1;
  std::vector<double> log_u;  // (R, K, C)
  std::vector<double> log_A;  // (R, C, C) [r][from][to]

  // (K, C, C): what Problem::transition holds with by_duration.
  std::vector<double> dense(const Shape& s) const {
    std::vector<double> full(s.K * s.C * s.C, kNegativeInfinity);
    for (Index k = 0; k < s.K; ++k)
      for (Index from = 0; from < s.C; ++from)
        for (Index to = 0; to < s.C; ++to)
          for (Index r = 0; r < rank; ++r) {
            double& entry = full[(k * s.C + from) * s.C + to];
            entry = log_add(entry, log_u[(r * s.K + k) * s.C + to] + log_A[(r * s.C + from) * s.C + to]);
          }
    return full;
  }
};

struct LowRankGradients {
  double log_partition = 0;
  std::vector<double> u, A;          // by log_u and log_A
  std::vector<double> duration;      // (K, C)
  std::vector<double> starts, ends;  // (T, C)
};

// log Z; with `gradients` also the expected counts. The problem's own transition is not used.
inline double low_rank_scan(const Problem& problem, const LowRankTransition& low,
                            LowRankGradients* gradients) {
  const auto [T, K, C] = problem.shape;
  const Index R = low.rank;
  const Log ring;
  Terms<const Log> sum(ring);
  std::vector<double> alpha((T + 1) * C, 0.0), G(T * R * C);
  for (Index t = 0; t <= T; ++t) {
    for (Index c = 0; c < C && t > 0; ++c) {
      for (Index k = 1; k <= std::min(K, t); ++k)
        for (Index r = 0; r < R; ++r)
          sum.add(G[((t - k) * R + r) * C + c] + low.log_u[(r * K + k - 1) * C + c] +
                  problem.segment(t, k, c));
      alpha[t * C + c] = sum.total();
    }
    for (Index r = 0; r < R && t < T; ++r)
      for (Index c = 0; c < C; ++c) {
        for (Index from = 0; from < C; ++from)
          sum.add(alpha[t * C + from] + low.log_A[(r * C + from) * C + c]);
        G[(t * R + r) * C + c] = sum.total();
      }
  }
  const double log_partition = ring.sum(alpha.data() + T * C, C);
  if (gradients == nullptr) return log_partition;

  gradients->log_partition = log_partition;
  gradients->u.assign(low.log_u.size(), 0);
  gradients->A.assign(low.log_A.size(), 0);
  gradients->duration.assign(K * C, 0);
  gradients->starts.assign(T * C, 0);
  gradients->ends.assign(T * C, 0);
  std::vector<double> beta((T + 1) * C, 0.0), D(R * C);  // D_r(c): all that follows G_r(s, c)
  for (Index s = T; s-- > 0;) {
    for (Index r = 0; r < R; ++r)
      for (Index c = 0; c < C; ++c) {
        for (Index k = 1; k <= std::min(K, T - s); ++k) {
          const double rest =
              low.log_u[(r * K + k - 1) * C + c] + problem.segment(s + k, k, c) + beta[(s + k) * C + c];
          const double mu = std::exp(G[(s * R + r) * C + c] + rest - log_partition);
          gradients->u[(r * K + k - 1) * C + c] += mu;
          gradients->duration[(k - 1) * C + c] += mu;
          gradients->starts[s * C + c] += mu;
          gradients->ends[(s + k - 1) * C + c] += mu;
          sum.add(rest);
        }
        D[r * C + c] = sum.total();
      }
    for (Index from = 0; from < C; ++from) {
      for (Index r = 0; r < R; ++r)
        for (Index c = 0; c < C; ++c) {
          const double rest = low.log_A[(r * C + from) * C + c] + D[r * C + c];
          gradients->A[(r * C + from) * C + c] += std::exp(alpha[s * C + from] + rest - log_partition);
          sum.add(rest);
        }
      beta[s * C + from] = sum.total();
    }
  }
  return log_partition;
}

}  // namespace semicrf::lab
