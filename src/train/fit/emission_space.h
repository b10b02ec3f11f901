// The numbers of distributions of tracks as free coordinates, in the place of weights and biases of heads.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/density_emissions.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

class EmissionSpace {
 public:
  virtual ~EmissionSpace() = default;
  virtual std::size_t size() const = 0;
  // As those of ParameterSpace: coordinates (size()) of parameters, what coordinates make of parameters, and
  // derivatives by coordinates of those by parameters.
  virtual void pack(const Parameters& parameters, std::span<double> coordinates) const = 0;
  virtual void unpack(std::span<const double> coordinates, Parameters& parameters) const = 0;
  virtual void chain(const Parameters& parameters, const ParameterGradient& derivatives,
                     std::span<double> gradient) const = 0;
};

// Densities (density_emissions.h). Numbers stay within their ranges, within a thousand times of where they
// begin and means of Student's within 30 scales: each is the logistic function of its coordinate. `l2`: the
// weight of Penalties.
std::unique_ptr<EmissionSpace> density_space(const Parameters& first, std::vector<FreeNumber> numbers,
                                             double l2);

// Heads that hold log probabilities of 0 and 1, or of categories, whose indicators `data` have: log odds of
// 1, and logarithms of the categories' probabilities up to a constant. `data` hold the features of the heads.
std::unique_ptr<EmissionSpace> probability_space(const Parameters& first, const TrainingData& data,
                                                 const PathCounts& counts);

// What the penalty of a density's number is measured in: a mean of Student's in scales, others in 1.
double penalty_unit(const Density& first, DensityPart part);

}  // namespace semicrf
