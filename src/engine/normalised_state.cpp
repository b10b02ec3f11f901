#include "engine/normalised_state.h"

#include <algorithm>

namespace semicrf {

BoundaryState normalised(BoundaryState state) {
  double largest = kNegativeInfinity;
  for (const auto* part : {&state.ring, &state.message, &state.tail}) {
    for (const double entry : *part) largest = std::max(largest, entry);
  }
  if (largest == kNegativeInfinity) return state;
  state.offset += largest;
  for (auto* part : {&state.ring, &state.message, &state.tail}) {
    for (double& entry : *part) entry -= largest;
  }
  return state;
}

}  // namespace semicrf
