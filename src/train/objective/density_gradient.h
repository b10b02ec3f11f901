// Derivatives by the numbers of densities that make the scores of labels.
#pragma once

#include <cstddef>
#include <vector>

#include "model/parameters.h"
#include "model/scores/density_slopes.h"
#include "train/data/training_data.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

class DensityGradient {
 public:
  // Parameters whose emissions are densities alone (has_only_densities).
  explicit DensityGradient(const Parameters& parameters);

  // Adds to gradient.densities, for each density the sum over bins and labels of the derivative by the
  // label's score times the density's weight times its slopes at the bin's values. `derivatives`: (T, C)
  // row-major; features of `piece`: those of the input tracks, NaN where one has no value. Sums run over
  // fixed stretches that are added in order: the result does not depend on `threads`.
  void add(const TrainingPiece& piece, const double* derivatives, int threads,
           ParameterGradient& gradient) const;

 private:
  struct Term {
    std::size_t label;
    double weight;
  };
  struct Column {
    std::size_t of, beside;  // input tracks
    DensitySlopes slopes;
    std::vector<Term> terms;
  };
  void add_bins(const TrainingPiece& piece, const double* derivatives, std::int64_t begin, std::int64_t end,
                double* sums) const;

  std::size_t labels_, inputs_ = 0;
  std::vector<Column> columns_;  // the densities in the order of the tracks
};

}  // namespace semicrf
