// The smallest duration that some label of a chain allows.
#pragma once

#include "core/chain_model.h"

namespace semicrf {

// In positions; 0: every duration is forbidden.
inline int shortest_duration(const ChainModel& model) {
  for (int k = 1; k <= model.max_duration; ++k)
    for (int c = 0; c < model.num_labels; ++c)
      if (model.duration_score(k, c) > kNegativeInfinity) return k;
  return 0;
}

}  // namespace semicrf
