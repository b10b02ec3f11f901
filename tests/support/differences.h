// How far two lists of numbers are apart.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace semicrf::testing {

// Largest absolute difference of entries; equal infinities do not differ. Infinite for lists of different
// sizes, NaN where an entry is NaN.
inline double largest_difference(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = found[i] == expected[i] ? 0.0 : std::fabs(found[i] - expected[i]);
    largest = difference <= largest ? largest : difference;  // a NaN gets through
  }
  return largest;
}

}  // namespace semicrf::testing
