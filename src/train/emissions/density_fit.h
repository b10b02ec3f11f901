// The M-step of log densities: the numbers of densities under which weighted values are most likely.
//
// Newton's method with the sum of outer products of the slopes in place of the second derivatives, and a line
// search: the weighted log likelihood never falls. Where numbers are tied, several densities are one problem.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "model/scores/density_slopes.h"

namespace semicrf {

// Values that may be a density's, each with its weight.
struct WeightedValue {
  double x, beside, weight;
};

struct PartSet {
  std::array<bool, kPartCount> parts{};  // in the order of kDensityParts
  bool operator[](DensityPart part) const { return parts[place_of(part)]; }
  bool& operator[](DensityPart part) { return parts[place_of(part)]; }
  bool any() const { return parts[0] || parts[1] || parts[2]; }
};

struct DensityFitOptions {
  PartSet tied;            // the same number in all densities
  PartSet frozen;          // stays as it is
  bool ordered = false;    // the means grow from each density to the next, or stay; not tied or frozen then
  double least_scale = 0;  // Student's densities have at least this, > 0 where there are some
  int max_steps = 6;
  double tolerance = 1e-9;  // stops where a step promises less than this, nats per weight
  int threads = 1;
};

// The coordinates between which a number stays.
struct CoordinateRange {
  double low, high;
};
CoordinateRange coordinate_range(const Density& density, DensityPart part, double least_scale);

// Sum over values of weight times log density.
double weighted_log_density(const Density& density, std::span<const WeightedValue> values);

// Improves `densities`, all of one family, whose values are `values[i]`; at most max_steps steps. Tied
// numbers are equal before (tie_parts) and after. A density whose values weigh less than a millionth keeps
// its numbers, but for tied ones. With `ordered`, means are the likeliest that grow, given the other numbers
// (pool adjacent violators: of normal densities the weighted isotonic regression, exactly), and these the
// likeliest given the means, in turn. The same bits for any number of threads.
void fit_densities(std::span<Density* const> densities, std::span<const std::vector<WeightedValue>> values,
                   const DensityFitOptions& options);

// Makes the means grow, as little as can be: the isotonic regression of their coordinates.
void restore_order(std::span<Density* const> densities);

// Means of all densities as a function of a few numbers.
struct MeanLaw {
  std::vector<double> numbers;          // as they are
  std::vector<CoordinateRange> ranges;  // between which each stays; one without any room is not learned
  // The mean of each density, in the order of the model's tracks.
  std::function<std::vector<double>(std::span<const double>)> means;

  void set_means(std::span<Density* const> densities) const;
};

// Improves the numbers of `law`, and gives `densities` their means: Gauss and Newton's method with the line
// search of fit_densities, so that the weighted log likelihood never falls.
void fit_law(MeanLaw& law, std::span<Density* const> densities,
             std::span<const std::vector<WeightedValue>> values, int threads);

// Gives tied parts the mean of their coordinates, each density weighing as much as its values.
void tie_parts(std::span<Density* const> densities, std::span<const double> weights, const PartSet& tied);

}  // namespace semicrf
