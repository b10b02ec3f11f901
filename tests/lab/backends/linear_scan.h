// Linear scan (App. B, "Backend 3"): the textbook recursion left to right over a stored edge tensor, one
// term after the other; messages alpha and beta stored, marginals handed out edge by edge.
//
// Time O(T K C^2); memory O(T C) for messages beside the tensor's O(T K C^2).
//
// The joint scan is the same recursion with the terms of a sum collected first and added at once (LSE over k
// and c' together: one exponential per term instead of one exponential and one logarithm). It has no vectors
// and no batches, so that it is not the paper's vectorised scan; that one is timed by peers.py.
#pragma once

#include "lab/backends/backend.h"

namespace semicrf::lab {

template <bool kJoint>
struct LinearScanBackend {
  static constexpr const char* name = kJoint ? "joint-scan" : "linear-scan";
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    return EdgeTensor::bytes(s) + (outside ? 2 : 1) * (s.T + 1) * s.C * value;
  }

  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    using Value = typename Ring::Value;
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(Value), wants_edges<Visit>));
    const auto [T, K, C] = problem.shape;
    const EdgeTensor psi(problem, memory);

    Array<Value> alpha(memory, (T + 1) * C, ring.zero());
    std::fill_n(alpha.data(), C, ring.one());
    Sum<Ring> sum(ring);
    for (Index t = 1; t <= T; ++t)
      for (Index c = 0; c < C; ++c) {  // alpha_t(c) = LSE_{k,c'} [alpha_{t-k}(c') + psi(t,k,c,c')]
        for (Index k = 1; k <= std::min(K, t); ++k)
          for (Index from = 0; from < C; ++from)
            sum.add(ring.times(alpha[(t - k) * C + from], ring.lift(psi(t, k, from, c))));
        alpha[t * C + c] = sum.total();
      }

    if constexpr (wants_edges<Visit>) {
      Array<Value> beta(memory, (T + 1) * C, ring.zero());
      std::fill_n(beta.data() + T * C, C, ring.one());
      for (Index s = T; s-- > 0;)
        for (Index from = 0; from < C; ++from) {  // beta_s(c') = LSE_{k,c} [psi(s+k,k,c,c') + beta_{s+k}(c)]
          for (Index k = 1; k <= std::min(K, T - s); ++k)
            for (Index c = 0; c < C; ++c) {
              const Edge edge = psi(s + k, k, from, c);
              const Value rest = ring.times(ring.lift(edge), beta[(s + k) * C + c]);
              visit(edge, ring.times(alpha[s * C + from], rest));
              sum.add(rest);
            }
          beta[s * C + from] = sum.total();
        }
    }
    return sum_of_labels(ring, alpha.data() + T * C, C);
  }

 private:
  // Term by term, as LSE(v, s_k) in Alg. 1.
  template <class Ring>
  class Running {
   public:
    explicit Running(Ring& ring) : ring_(ring), value_(ring.zero()) {}
    void add(const typename Ring::Value& term) { value_ = ring_.plus(value_, term); }
    typename Ring::Value total() { return std::exchange(value_, ring_.zero()); }

   private:
    Ring& ring_;
    typename Ring::Value value_;
  };
  template <class Ring>
  using Sum = std::conditional_t<kJoint, Terms<Ring>, Running<Ring>>;
};

}  // namespace semicrf::lab
