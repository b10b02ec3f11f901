// Edge marginals to gradients of log Z: equations (D.16) to (D.20) of the paper.
#pragma once

#include <cmath>
#include <vector>

#include "lab/problem.h"

namespace semicrf::lab {

// Sums of mu(t, k, c, c') = P(the segmentation contains this edge). Each is the gradient of log Z by the
// score it is named after.
struct Gradients {
  std::vector<double> S;           // (T+1, C), (D.18): ends at t less starts at t
  std::vector<double> transition;  // as Problem::transition, (D.19)
  std::vector<double> duration;    // (K, C), (D.20)
  std::vector<double> start, end;  // (T, C): a segment of c starts at t; has its last position at t

  explicit Gradients(const Problem& problem)
      : S(problem.S.size()),
        transition(problem.transition.size()),
        duration(problem.duration.size()),
        start(problem.shape.T * problem.shape.C),
        end(start.size()),
        labels_(problem.shape.C),
        by_duration_(problem.by_duration) {}

  void add(const Edge& edge, double log_mass, double log_partition) {
    const double mu = std::exp(log_mass - log_partition);  // (D.16)
    S[edge.t * labels_ + edge.to] += mu;
    S[(edge.t - edge.k) * labels_ + edge.to] -= mu;
    const Index row = by_duration_ ? (edge.k - 1) * labels_ : 0;
    transition[(row + edge.from) * labels_ + edge.to] += mu;
    duration[(edge.k - 1) * labels_ + edge.to] += mu;
    start[(edge.t - edge.k) * labels_ + edge.to] += mu;
    end[(edge.t - 1) * labels_ + edge.to] += mu;
  }

  // P(c|t) (T, C): the gradient by the emissions; segments of c that started at or before t less those that
  // ended.
  std::vector<double> labels() const {
    std::vector<double> covered(start.size());
    for (Index i = 0; i < covered.size(); ++i)
      covered[i] = start[i] + (i < labels_ ? 0.0 : covered[i - labels_] - end[i - labels_]);
    return covered;
  }

 private:
  Index labels_;
  bool by_duration_;
};

}  // namespace semicrf::lab
