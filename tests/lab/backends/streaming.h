// The paper's streaming algorithm, line by line (Alg. 1 "Streaming Semi-CRF Forward Scan", Alg. A.1
// "Streaming Semi-CRF Backward Pass"): ring buffers of K and 2K messages, checkpoints of the ring every Delta
// ~ sqrt(T K) positions with a running normaliser N, forward messages computed again from them.
//
// Time O(T K C^2), a third of it for the second forward run; memory O(K C + sqrt(T/K) K C), independent of
// the edge tensor. Works for every K >= 1: the special cases K = 1 and K = 2 of App. D are not needed.
//
// The ring scan (App. B, "Backend 4") is the same without normalisers, over a stored edge tensor.
#pragma once

#include "lab/backends/backend.h"

namespace semicrf::lab {

inline Index checkpoint_interval(const Shape& s) {
  const double interval = std::round(std::sqrt(static_cast<double>(s.T * s.K)));
  return std::clamp(static_cast<Index>(interval), Index{1}, s.T);
}

// Rings, checkpoints and the messages computed again.
inline std::size_t streaming_bytes(const Shape& s, std::size_t value, bool outside) {
  const Index interval = checkpoint_interval(s), count = (s.T + interval - 1) / interval;
  const std::size_t ring = s.K * s.C * value;
  return ring + (outside ? count * (ring + sizeof(double)) + 2 * ring + interval * s.C * value : 0);
}

// Source: EdgeTensor or OnTheFly.
template <class Ring, class Source>
class Streaming {
 public:
  using Value = typename Ring::Value;
  Streaming(const Shape& shape, const Source& psi, Ring& ring, Memory& memory, bool normalise, bool outside)
      : shape_(shape), psi_(psi), ring_(ring), memory_(memory), normalise_(normalise) {
    interval_ = checkpoint_interval(shape);
    const Index count = outside ? (shape.T + interval_ - 1) / interval_ : 0;
    omega_ = Array<Value>(memory, count * shape.K * shape.C, ring.zero());
    log_norm_ = Array<double>(memory, count, 0.0);
    alpha_ = Array<Value>(memory, shape.K * shape.C, ring.zero());
  }

  // Alg. 1. Returns the total; fills the checkpoints (Omega, N) if they are wanted.
  Value forward() {
    const auto [T, K, C] = shape_;
    std::fill_n(alpha_.data(), C, ring_.one());  // alpha[0, :] <- 0, all else -inf
    double accumulated = 0;                      // N_accum
    save(0, accumulated);
    for (Index t = 1; t <= T; ++t) {
      step(t);
      if (t % interval_ != 0) continue;
      if (normalise_) accumulated += subtract_largest(t);
      save(t / interval_, accumulated);
    }
    return ring_.scaled(sum_of_labels(ring_, alpha_.data() + T % K * C, C), accumulated);
  }

  // Alg. A.1. visit(edge, alpha (x) psi (x) beta (x) e^N).
  // `rings` of K slots: the paper has 2, because t + K is read where t is written. Here the row of t is
  // finished before it is written, so that 1 is enough, too.
  template <class Visit>
  void backward(Visit&& visit, Index rings = 2) {
    const auto [T, K, C] = shape_;
    const Index slots = rings * K;
    Array<Value> beta(memory_, slots * C, ring_.zero());
    std::fill_n(beta.data() + T % slots * C, C, ring_.one());
    Array<Value> local(memory_, interval_ * C, ring_.zero());
    Terms<Ring> sum(ring_);
    for (Index i = log_norm_.size(); i-- > 0;) {
      const Index begin = i * interval_, end = std::min((i + 1) * interval_, T);
      recompute_alpha(i, begin, end, local);
      for (Index t = end; t-- > begin;) {
        next_.assign(C, ring_.zero());
        for (Index from = 0; from < C; ++from) {
          const Value& before = local[(t - begin) * C + from];
          for (Index k = 1; k <= std::min(K, T - t); ++k)
            for (Index c = 0; c < C; ++c) {
              const Edge edge = psi_(t + k, k, from, c);
              const Value rest = ring_.times(ring_.lift(edge), beta[(t + k) % slots * C + c]);
              visit(edge, ring_.scaled(ring_.times(before, rest), log_norm_[i]));
              sum.add(rest);
            }
          next_[from] = sum.total();
        }
        std::copy(next_.begin(), next_.end(), beta.data() + t % slots * C);
      }
    }
  }

 private:
  // Lines 4 to 12 of Alg. 1: v_t from the ring, which then holds it in slot t mod K.
  void step(Index t) {
    const auto [T, K, C] = shape_;
    next_.assign(C, ring_.zero());
    Terms<Ring> sum(ring_);
    for (Index c = 0; c < C; ++c) {
      for (Index k = 1; k <= std::min(K, t); ++k)
        for (Index from = 0; from < C; ++from)
          sum.add(ring_.times(alpha_[(t - k) % K * C + from], ring_.lift(psi_(t, k, from, c))));
      next_[c] = sum.total();
    }
    std::copy(next_.begin(), next_.end(), alpha_.data() + t % K * C);
  }
  // s_b = max_c v_t(c); alpha <- alpha - s_b. No normaliser where nothing is possible.
  double subtract_largest(Index t) {
    const auto [T, K, C] = shape_;
    double largest = kNegativeInfinity;
    for (Index c = 0; c < C; ++c) largest = std::max(largest, ring_.magnitude(alpha_[t % K * C + c]));
    if (largest == kNegativeInfinity) return 0;
    for (Index j = 0; j < alpha_.size(); ++j) alpha_[j] = ring_.scaled(alpha_[j], -largest);
    return largest;
  }
  void save(Index checkpoint, double accumulated) {
    if (checkpoint >= log_norm_.size()) return;
    std::copy_n(alpha_.data(), alpha_.size(), omega_.data() + checkpoint * alpha_.size());
    log_norm_[checkpoint] = accumulated;
  }
  // Forward messages of boundaries begin .. end-1 from checkpoint i.
  void recompute_alpha(Index i, Index begin, Index end, Array<Value>& local) {
    const auto [T, K, C] = shape_;
    std::copy_n(omega_.data() + i * alpha_.size(), alpha_.size(), alpha_.data());
    for (Index t = begin; t < end; ++t) {
      if (t > begin) step(t);
      std::copy_n(alpha_.data() + t % K * C, C, local.data() + (t - begin) * C);
    }
  }

  Shape shape_;
  const Source& psi_;
  Ring& ring_;
  Memory& memory_;
  bool normalise_;
  Index interval_ = 1;
  Array<Value> omega_;       // (N, K, C)
  Array<double> log_norm_;   // (N)
  Array<Value> alpha_;       // (K, C)
  std::vector<Value> next_;  // (C), the row that is being computed
};

struct StreamingBackend {
  static constexpr const char* name = "streaming";
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    return streaming_bytes(s, value, outside);
  }
  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(typename Ring::Value), wants_edges<Visit>));
    const OnTheFly psi(problem);
    Streaming<Ring, OnTheFly> scan(problem.shape, psi, ring, memory, true, wants_edges<Visit>);
    const auto total = scan.forward();
    if constexpr (wants_edges<Visit>) scan.backward(visit);
    return total;
  }
};

struct RingScanBackend {
  static constexpr const char* name = "ring-scan";
  static std::size_t bytes(const Shape& s, std::size_t value, bool outside) {
    return EdgeTensor::bytes(s) + streaming_bytes(s, value, outside);
  }
  template <class Ring, class Visit>
  static typename Ring::Value run(const Problem& problem, Ring& ring, Memory& memory, Visit&& visit) {
    memory.refuse_more_than_limit(bytes(problem.shape, sizeof(typename Ring::Value), wants_edges<Visit>));
    const EdgeTensor psi(problem, memory);
    Streaming<Ring, EdgeTensor> scan(problem.shape, psi, ring, memory, false, wants_edges<Visit>);
    const auto total = scan.forward();
    if constexpr (wants_edges<Visit>) scan.backward(visit);
    return total;
  }
};

}  // namespace semicrf::lab
