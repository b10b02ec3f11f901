// Derivatives of log densities by their numbers, on scales where these have no ends or few: what fits climb.
#pragma once

#include <array>
#include <cstddef>

#include "model/scores/densities.h"

namespace semicrf {

// The numbers of a Density that can be learned.
enum class DensityPart { kMean, kScale, kSize };
inline constexpr std::array kDensityParts{DensityPart::kMean, DensityPart::kScale, DensityPart::kSize};
inline constexpr std::size_t kPartCount = kDensityParts.size();
// In kDensityParts.
constexpr std::size_t place_of(DensityPart part) { return static_cast<std::size_t>(part); }

// Whether the density has the number, and a finite one. kScale: Student's alone; kSize: degrees of freedom,
// or the size.
bool has_part(const Density& density, DensityPart part);
// Its coordinate: a mean (Student), log odds of one (beta-binomial), or the logarithm.
double coordinate(const Density& density, DensityPart part);
void set_coordinate(Density& density, DensityPart part, double value);

class DensitySlopes {
 public:
  explicit DensitySlopes(const Density& density);
  // The log density and its derivatives by the coordinates, in the order of kDensityParts; those of parts
  // that the density has not are 0. As DensityFunction says, all are 0 where the density says nothing.
  struct Slopes {
    double log_density = 0;
    std::array<double, kPartCount> by{};
  };
  Slopes operator()(double x, double beside) const;

 private:
  using By = std::array<double, kPartCount>;
  By student(double x) const;
  By beta_binomial(double successes, double trials) const;
  By negative_binomial(double count, double exposure) const;

  DensityFunction function_;
  bool has_size_;
  double first_ = 0, second_ = 0, both_ = 0;  // digammas that do not depend on the values
};

// The logarithmic derivative of the gamma function, x > 0; to 1e-12 of the larger of it and 1.
double digamma(double x);

}  // namespace semicrf
