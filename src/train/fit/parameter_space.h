// Parameters as the free coordinates that an optimiser moves.
//
// Every finite score and every parameter of the durations has a coordinate, unless its part is frozen; what
// is forbidden (-inf) stays so. Bounded parameters are unconstrained in their coordinate: probabilities
// as log odds, other parameters of formulas as logarithms, from the last to the first. Coordinates are scaled
// so that the likelihood bends about equally along each.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/fit/table_coordinates.h"
#include "train/objective/parameter_gradient.h"
#include "train/train_options.h"

namespace semicrf {

// The parts that --freeze names.
enum class ParameterPart { kWeights, kBias, kBoundary, kTransition, kDuration, kTail, kStart, kEnd };
std::string_view part_name(ParameterPart part);

// UsageError for a name that is no part; "emission" is weights and bias.
std::set<ParameterPart> parse_parts(const std::vector<std::string>& names);

class ParameterSpace {
 public:
  // `first` fixes shapes, what is forbidden and what is frozen. Under `mean` centring the bias has no effect
  // and is frozen; so are durations of kind `uniform`.
  ParameterSpace(const Parameters& first, const std::set<ParameterPart>& frozen, const PathCounts& counts,
                 const PenaltyOptions& penalty);

  std::size_t size() const { return size_; }
  bool is_free(ParameterPart part) const { return !frozen_.contains(part); }

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
  std::vector<Plain> plain_;
  std::vector<TableStretch> stretches_;  // stretches of a free table
  std::vector<double> formula_scale_;    // (C) where the parameters of a formula are free, else empty
  std::vector<std::size_t> free_tails_;  // labels whose log odds of q have a coordinate of their own
  std::vector<double> tail_scale_;       // like free_tails_
  std::size_t size_ = 0;
};

}  // namespace semicrf
