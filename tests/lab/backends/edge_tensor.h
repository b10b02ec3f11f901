// Full edge tensor: potentials, messages and marginals all stored, as automatic differentiation does it.
//
//   alpha_t(c) = (+)_{k, c'} alpha_{t-k}(c') (x) psi(t, k, c, c')        alpha_0 = one    (App. B, Backend 3)
//   beta_s(c') = (+)_{k, c} psi(s+k, k, c, c') (x) beta_{s+k}(c)         beta_T = one
//   mu(t, k, c, c') = alpha_{t-k}(c') (x) psi(t, k, c, c') (x) beta_t(c)                  (D.16)
//
// Time O(T K C^2), memory O(T K C^2), twice when the marginals are wanted.
#pragma once

#include "lab/backends/backend.h"

namespace semicrf::lab {

struct EdgeTensorBackend {
  static constexpr const char* name = "edge-tensor";
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    const std::size_t messages = (s.T + 1) * s.C * value;
    return EdgeTensor::bytes(s) + messages + (outside ? messages + s.T * s.K * s.C * s.C * value : 0);
  }

  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    using Value = typename Ring::Value;
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(Value), wants_edges<Visit>));
    const Index T = problem.shape.T, K = problem.shape.K, C = problem.shape.C;
    const EdgeTensor psi(problem, memory);

    Array<Value> alpha(memory, (T + 1) * C, ring.zero());
    std::fill_n(alpha.data(), C, ring.one());
    for (Index t = 1; t <= T; ++t)
      for (Index k = 1; k <= std::min(K, t); ++k)
        for (Index c = 0; c < C; ++c)
          for (Index from = 0; from < C; ++from) {
            const Value term = ring.times(alpha[(t - k) * C + from], ring.lift(psi(t, k, from, c)));
            alpha[t * C + c] = ring.plus(alpha[t * C + c], term);
          }

    if constexpr (wants_edges<Visit>) {
      Array<Value> beta(memory, (T + 1) * C, ring.zero());
      std::fill_n(beta.data() + T * C, C, ring.one());
      Array<Value> mu(memory, T * K * C * C, ring.zero());
      const auto at = [&](Index t, Index k, Index c, Index from) {
        return (((t - 1) * K + (k - 1)) * C + c) * C + from;
      };
      for (Index s = T; s-- > 0;)
        for (Index k = 1; k <= std::min(K, T - s); ++k)
          for (Index c = 0; c < C; ++c)
            for (Index from = 0; from < C; ++from) {
              const Value rest = ring.times(ring.lift(psi(s + k, k, from, c)), beta[(s + k) * C + c]);
              beta[s * C + from] = ring.plus(beta[s * C + from], rest);
              mu[at(s + k, k, c, from)] = ring.times(alpha[s * C + from], rest);
            }
      for (Index t = 1; t <= T; ++t)
        for (Index k = 1; k <= std::min(K, t); ++k)
          for (Index c = 0; c < C; ++c)
            for (Index from = 0; from < C; ++from) visit(psi(t, k, from, c), mu[at(t, k, c, from)]);
    }
    return sum_of_labels(ring, alpha.data() + T * C, C);
  }
};

}  // namespace semicrf::lab
