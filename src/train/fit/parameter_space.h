// Parameters as the free coordinates that an optimiser moves.
//
// Every finite score and every parameter of the durations has a coordinate, unless its part is frozen; what
// is forbidden (-inf) stays so. Bounded parameters are unconstrained in their coordinate: probabilities
// as log odds, other parameters of formulas as logarithms, from the last to the first. Coordinates are scaled
// so that the likelihood bends about equally along each.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/fit/emission_space.h"
#include "train/objective/parameter_gradient.h"
#include "train/train_options.h"

namespace semicrf {

// Free coordinates of a column of a duration table in which the objective bends about equally along each.
//
// With n_k segments of duration k seen, the negative log-likelihood of a column B bends about like
// 1/2 sum n_k B[k]^2, its smoothness penalty is a sum of squared second differences (training_problem.h).
// Together they are 1/2 B' A B with a matrix A of five diagonals; A = L L' (Cholesky), and the coordinates
// are L' B.
//
// A stretch of consecutive durations first..first+count-1 with finite scores in column `label` of a (K, C)
// table with `labels` columns.
class TableStretch {
 public:
  // `seen`: segments of every duration of the stretch.
  TableStretch(int first, std::span<const double> seen, std::size_t label, std::size_t labels,
               double smoothness);

  std::size_t size() const { return diagonal_.size(); }

  // Coordinates of the scores of the stretch, scores of coordinates, and derivatives by coordinates from
  // those by scores. Spans have size() entries; tables are (K, C).
  void pack(std::span<const double> table, std::span<double> coordinates) const;
  void unpack(std::span<const double> coordinates, std::span<double> table) const;
  void chain(std::span<const double> table_gradient, std::span<double> gradient) const;

 private:
  std::size_t entry(std::size_t i) const { return ((first_ - 1) + i) * labels_ + label_; }

  int first_;
  std::size_t label_, labels_;
  // L by diagonals: L[i][i], L[i+1][i] and L[i+2][i]; size() entries each, the last of them 0.
  std::vector<double> diagonal_, below_, second_below_;
};

// The stretches of finite entries of every column, label by label. `seen` (K, C) are segments of a duration;
// row K-1 holds the longer ones, too.
std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> seen, double smoothness);

// The parts that --freeze names.
enum class ParameterPart { kWeights, kBias, kBoundary, kTransition, kDuration, kTail, kStart, kEnd };
std::string_view part_name(ParameterPart part);

// UsageError for a name that is no part; "emission" is weights and bias. Those of densities
// (emission_choice.h) are passed over.
std::set<ParameterPart> parse_parts(const std::vector<std::string>& names);

class ParameterSpace {
 public:
  // `first` fixes shapes, what is forbidden and what is frozen. Under `mean` centring the bias has no effect
  // and is frozen; so are durations of kind `uniform`. `emissions`: the coordinates of weights, biases and
  // densities, where these are no heads of their own; or null.
  ParameterSpace(const Parameters& first, const std::set<ParameterPart>& frozen, const PathCounts& counts,
                 const PenaltyOptions& penalty, std::shared_ptr<const EmissionSpace> emissions = nullptr);

  std::size_t size() const { return size_; }
  bool is_free(ParameterPart part) const { return !frozen_.contains(part); }
  bool learns_emissions() const {
    return emissions_ ? emissions_->size() > 0
                      : is_free(ParameterPart::kWeights) || is_free(ParameterPart::kBias);
  }

  std::vector<double> pack(const Parameters& parameters) const;
  Parameters unpack(std::span<const double> coordinates) const;
  // Derivatives by the coordinates at `parameters` (= unpack(coordinates)), (size()).
  std::vector<double> chain(const Parameters& parameters, const ParameterGradient& gradient) const;

 private:
  // Numbers that are their own coordinate, up to a scale.
  struct Plain {
    std::vector<std::size_t> entries;  // entries of the list
    std::vector<double> scale;
    std::function<std::vector<double>*(Parameters&)> list;
    std::vector<double> ParameterGradient::*gradient;
  };
  void add_plain(std::function<std::vector<double>*(Parameters&)> list,
                 std::vector<double> ParameterGradient::*gradient,
                 const std::function<double(std::size_t)>& scale);
  void add_scores(const PathCounts& counts, const PenaltyOptions& penalty);
  void add_durations(const PathCounts& counts, const PenaltyOptions& penalty);

  Parameters first_;
  std::set<ParameterPart> frozen_;
  std::shared_ptr<const EmissionSpace> emissions_;
  std::vector<Plain> plain_;
  std::vector<TableStretch> stretches_;  // stretches of a free table
  std::vector<double> formula_scale_;    // (C) where the parameters of a formula are free, else empty
  std::vector<std::size_t> free_tails_;  // labels whose log odds of q have a coordinate of their own
  std::vector<double> tail_scale_;       // like free_tails_
  std::size_t size_ = 0;
};

}  // namespace semicrf
