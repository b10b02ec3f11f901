// What the backends have in common.
//
// A backend is a struct with
//   name                            for tables
//   bytes(shape, value, outside)   the peak of what run() takes, exactly: `value` bytes per semiring value
//   run(problem, ring, memory, visit)   the sum over all segmentations in the semiring `ring`
// run() refuses before it takes more than `memory` allows. Where `visit` is not ForwardOnly it runs the
// outside pass, too, and calls visit(edge, through) for every edge that lies in the sequence: `through` is
// the sum over the segmentations that contain the edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "lab/gradients.h"
#include "lab/memory.h"
#include "lab/problem.h"

namespace semicrf::lab {

struct ForwardOnly {};
template <class Visit>
inline constexpr bool wants_edges = !std::is_same_v<std::remove_cvref_t<Visit>, ForwardOnly>;

// Terms that are added all at once. A handful of values: not part of the memory that is counted.
template <class Ring>
class Terms {
 public:
  explicit Terms(Ring& ring) : ring_(ring) {}
  void add(const typename Ring::Value& term) { terms_.push_back(term); }
  typename Ring::Value total() {
    const auto sum = ring_.sum(terms_.data(), terms_.size());
    terms_.clear();
    return sum;
  }

 private:
  Ring& ring_;
  std::vector<typename Ring::Value> terms_;
};

// LSE_c alpha_T(c): the sum over the last label.
template <class Ring>
typename Ring::Value sum_of_labels(Ring& ring, const typename Ring::Value* row, Index C) {
  return ring.sum(row, C);
}

// Edge potentials as every backend of App. B but the fused kernel wants them: the tensor psi(t, k, c, c'),
// eq. (5), (T, K, C, C), computed before anything else. Entries with k > t stay -inf.
class EdgeTensor {
 public:
  static std::size_t bytes(const Shape& s) { return s.T * s.K * s.C * s.C * sizeof(double); }
  EdgeTensor(const Problem& problem, Memory& memory)
      : shape_(problem.shape), psi_(memory, bytes(shape_) / sizeof(double), kNegativeInfinity) {
    const auto [T, K, C] = shape_;
    for (Index t = 1; t <= T; ++t)
      for (Index k = 1; k <= std::min(K, t); ++k)
        for (Index to = 0; to < C; ++to)
          for (Index from = 0; from < C; ++from) psi_[at(t, k, to) + from] = problem.edge(t, k, from, to);
  }
  Edge operator()(Index t, Index k, Index from, Index to) const {
    return {t, k, from, to, psi_[at(t, k, to) + from]};
  }

 private:
  Index at(Index t, Index k, Index to) const {
    return (((t - 1) * shape_.K + (k - 1)) * shape_.C + to) * shape_.C;
  }
  Shape shape_;
  Array<double> psi_;
};

// The same computed where it is needed (section 3 of the paper): nothing is stored beyond S, B, T and P.
class OnTheFly {
 public:
  explicit OnTheFly(const Problem& problem) : problem_(problem) {}
  Edge operator()(Index t, Index k, Index from, Index to) const { return problem_.make_edge(t, k, from, to); }

 private:
  const Problem& problem_;
};

}  // namespace semicrf::lab
