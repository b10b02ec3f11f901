#include "pipeline/run/check_posteriors.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

namespace semicrf {
namespace {

// x - x is 0 for numbers, NaN for NaN and infinities; a sum of them takes a fraction of the time that it
// takes to print one value.
bool all_finite(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value - value;
  return sum == 0;
}

}  // namespace

void check_posteriors(const PosteriorBlock& block, const BinLocation& location) {
  for (const auto array : kPosteriorArrays) {
    const std::span<const double> values = block.*array;
    if (all_finite(values)) continue;
    const auto bad = std::find_if(values.begin(), values.end(), [](double p) { return !std::isfinite(p); });
    const auto width = static_cast<std::int64_t>(values.size()) / block.range.size();
    const std::int64_t t = block.range.begin + (bad - values.begin()) / width;
    throw std::logic_error(location.place(t, t + 1) + ": a posterior is " + std::to_string(*bad) +
                           " where it should be a probability");
  }
}

}  // namespace semicrf
