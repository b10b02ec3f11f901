#include "model/scores/density_slopes.h"

#include <algorithm>
#include <cmath>

namespace semicrf {
namespace {

double Density::*number_of(const Density& density, DensityPart part) {
  if (part == DensityPart::kMean) return &Density::mean;
  if (part == DensityPart::kScale) return &Density::scale;
  return density.family == DensityFamily::kStudent ? &Density::degrees : &Density::size;
}

}  // namespace

double digamma(double x) {
  double below = 0;
  for (; x < 10; x += 1) below += 1 / x;
  const double y = 1 / (x * x);
  const double series = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
  return std::log(x) - 0.5 / x - series - below;
}

bool has_part(const Density& density, DensityPart part) {
  if (part == DensityPart::kScale && density.family != DensityFamily::kStudent) return false;
  return std::isfinite(density.*number_of(density, part));
}

double coordinate(const Density& density, DensityPart part) {
  const double value = density.*number_of(density, part);
  if (part != DensityPart::kMean || density.family == DensityFamily::kNegativeBinomial)
    return std::log(value);
  return density.family == DensityFamily::kStudent ? value : std::log(value) - std::log1p(-value);
}

void set_coordinate(Density& density, DensityPart part, double value) {
  double& number = density.*number_of(density, part);
  if (part != DensityPart::kMean || density.family == DensityFamily::kNegativeBinomial) {
    number = std::exp(value);
  } else {
    number = density.family == DensityFamily::kStudent ? value : 1 / (1 + std::exp(-value));
  }
}

DensitySlopes::DensitySlopes(const Density& density)
    : function_(density), has_size_(has_part(density, DensityPart::kSize)) {
  if (!has_size_) return;
  if (density.family == DensityFamily::kStudent) {
    first_ = digamma((density.degrees + 1) / 2) - digamma(density.degrees / 2) - 1 / density.degrees;
    return;
  }
  both_ = digamma(density.size);
  if (density.family == DensityFamily::kNegativeBinomial) return;
  first_ = digamma(density.mean * density.size);
  second_ = digamma((1 - density.mean) * density.size);
}

DensitySlopes::By DensitySlopes::student(double x) const {
  const Density& density = function_.density();
  const double z = (x - density.mean) / density.scale, degrees = density.degrees;
  if (!has_size_) return {z / density.scale, z * z - 1, 0};
  const double pull = (degrees + 1) * z / (degrees + z * z);
  return {pull / density.scale, pull * z - 1,
          0.5 * (degrees * (first_ - std::log1p(z * z / degrees)) + pull * z)};
}

DensitySlopes::By DensitySlopes::beta_binomial(double successes, double trials) const {
  const Density& density = function_.density();
  const double mean = density.mean, size = density.size, failures = trials - successes;
  if (!has_size_) return {successes - trials * mean, 0, 0};
  const double more = digamma(mean * size + successes) - first_,
               less = digamma((1 - mean) * size + failures) - second_, all = digamma(size + trials) - both_;
  return {size * mean * (1 - mean) * (more - less), 0, size * (mean * more + (1 - mean) * less - all)};
}

DensitySlopes::By DensitySlopes::negative_binomial(double count, double exposure) const {
  const Density& density = function_.density();
  const double mean = density.mean * exposure, size = density.size;
  if (!has_size_) return {count - mean, 0, 0};
  const double share = size / (size + mean);
  return {(count - mean) * share, 0,
          size * (digamma(count + size) - both_ - std::log1p(mean / size)) - (count - mean) * share};
}

DensitySlopes::Slopes DensitySlopes::operator()(double x, double beside) const {
  const Density& density = function_.density();
  if (std::isnan(x) || (!density.beside.empty() && !(beside > 0))) return {};
  const DensityFunction::Parts parts = function_.parts(x, beside);
  Slopes found;
  found.log_density = parts.total();
  const auto add = [&](double part, const By& by) {
    const double share = std::exp(part - found.log_density);
    for (std::size_t i = 0; i < kPartCount; ++i) found.by[i] += share * by[i];
  };
  switch (density.family) {
    case DensityFamily::kStudent:
      add(parts.straight, student(x));
      if (density.mirrored) add(parts.mirror, student(-x));
      break;
    case DensityFamily::kBetaBinomial: {
      const double successes = std::clamp(x, 0.0, beside);
      add(parts.straight, beta_binomial(successes, beside));
      if (density.mirrored) add(parts.mirror, beta_binomial(beside - successes, beside));
      break;
    }
    case DensityFamily::kNegativeBinomial:
      add(parts.straight, negative_binomial(std::max(x, 0.0), density.beside.empty() ? 1 : beside));
      break;
  }
  return found;
}

}  // namespace semicrf
