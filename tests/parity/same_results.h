// Equality of results to the bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/engine.h"

namespace semicrf::testing {

// The same bits; which NaN it is does not matter.
inline bool same_number(double a, double b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}
inline bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number);
}
inline bool same_report(const ChunkReport& a, const ChunkReport& b) {
  return a.fallbacks == b.fallbacks && a.repaired == b.repaired &&
         same_number(a.label_entropy, b.label_entropy) && same_number(a.boundary_mass, b.boundary_mass) &&
         same_number(a.boundary_plogp, b.boundary_plogp) &&
         same_number(a.max_normalization_error, b.max_normalization_error);
}
inline bool same_reports(const std::vector<ChunkReport>& a, const std::vector<ChunkReport>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_report);
}
inline bool same_state(const BoundaryState& a, const BoundaryState& b) {
  return a.boundary == b.boundary && a.whole == b.whole && same_number(a.offset, b.offset) &&
         same_numbers(a.ring, b.ring) && same_numbers(a.message, b.message) && same_numbers(a.tail, b.tail);
}

}  // namespace semicrf::testing
