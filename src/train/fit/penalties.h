// What is added to the total negative log-likelihood to keep the parameters small and the durations smooth.
#pragma once

#include "model/parameters.h"
#include "train/objective/parameter_gradient.h"
#include "train/train_options.h"

namespace semicrf {

class Penalties {
 public:
  // `first` are the parameters the training starts from; start and end scores are drawn to theirs.
  Penalties(const PenaltyOptions& options, const Parameters& first);

  // 1/2 l2 |weights|^2 + 1/2 l2_boundary |boundary weights|^2
  // + 1/2 l2_transition (|finite transitions|^2 + |start - first start|^2 + |end - first end|^2)
  // + 1/2 smoothness sum over labels and inner durations k of k^3 (B[k+1] - 2 B[k] + B[k-1])^2,
  // the last for tables only and where the three scores are finite;
  // + smoothness sum over labels with a tail of their own of -(m log q + log(1 - q)), m the mean excess of
  // the first q: as if one more segment had been seen there. Biases and the parameters of formulas are free.
  // The derivatives are added to `gradient` unless it is null.
  double value(const Parameters& parameters, ParameterGradient* gradient) const;

 private:
  PenaltyOptions options_;
  std::vector<double> start_, end_;
  std::vector<double> tail_;  // (C) q of the first parameters, or empty
};

}  // namespace semicrf
