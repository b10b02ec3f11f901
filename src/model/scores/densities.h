// Log densities of the values of a track (Density in model/parameters.h), as features of the heads.
#pragma once

#include <cstddef>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// The log density of one Density. Holds the terms that do not depend on the values.
class DensityFunction {
 public:
  explicit DensityFunction(const Density& density);

  // How a value came about: log densities of it as it is and mirrored (-inf where the density is not
  // mirrored), each with its share of the values that are no outliers, and of an outlier with its share.
  struct Parts {
    double straight = 0, mirror = 0, outlier = 0;
    double inlier() const;  // log of the sum of the first two
    double total() const;   // log of the sum of all
  };
  // The parts of x and the value `beside` it. kBetaBinomial: the number of trials, which need not be whole; x
  // counts as 0 below 0, and as all trials above them. kNegativeBinomial: the exposure, where a track has it;
  // x counts as 0 below 0.
  Parts parts(double x, double beside) const;
  // The log density; 0 where x is NaN, or without a trial or exposure.
  double operator()(double x, double beside) const;

  const Density& density() const { return density_; }

 private:
  // ln Gamma(x + start) - ln Gamma(start), by a table where x is a small whole number.
  struct RisingFactorial {
    void prepare(double first);
    double operator()(double x) const;
    double start = 1, log_gamma_start = 0;
    std::vector<double> table;
  };
  double log_student(double x) const;
  double log_beta_binomial(double successes, double trials) const;
  double log_negative_binomial(double count, double exposure) const;

  Density density_;
  double log_inlier_ = 0, log_outlier_ = 0;  // logs of the shares; and of the outliers' density
  double log_norm_ = 0, inverse_scale_ = 1;
  RisingFactorial successes_, failures_, trials_, factorial_;
};

// Scores of labels from rows of input tracks, in models whose emissions are densities alone (below).
class DensityScores {
 public:
  explicit DensityScores(const Parameters& parameters);
  // `row`: the input tracks' features, NaN where one has no value; `scores`: (C), as the heads make them of
  // the densities as features of the type Score. `features`: room for a number per density.
  template <class Score>
  void score(const float* row, std::vector<double>& features, Score* scores) const {
    features.resize(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i)
      features[i] =
          static_cast<Score>(functions_[i].function(row[functions_[i].of], row[functions_[i].beside]));
    for (std::size_t c = 0; c + 1 < ends_.size(); ++c) {
      double sum = 0;
      for (std::size_t i = ends_[c]; i < ends_[c + 1]; ++i)
        sum += features[terms_[i].density] * terms_[i].weight;
      scores[c] = static_cast<Score>(sum);
    }
  }
  std::size_t inputs() const { return inputs_; }

 private:
  struct Column {
    std::size_t of, beside;
    DensityFunction function;
  };
  struct Term {
    std::size_t density;
    double weight;
  };
  std::size_t inputs_ = 0;
  std::vector<Column> functions_;
  std::vector<Term> terms_;        // label by label
  std::vector<std::size_t> ends_;  // (C + 1): where those of a label begin
};

// Whether the emission score of each label is the sum of log densities of the input tracks and nothing else,
// so that a track that is missing says nothing: densities have weights, input tracks and biases are 0.
bool has_only_densities(const Parameters& parameters);

}  // namespace semicrf
