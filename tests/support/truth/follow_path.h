// The one loop around a traceback.
#pragma once

#include <vector>

#include "engine/engine.h"

namespace semicrf::testing {

// Follows the best path from the cursor as far as the messages reach; appends its segments right to left.
inline void follow(ViterbiMessages& messages, TraceCursor& cursor, std::vector<Segment>& reversed) {
  while (messages.trace(cursor, reversed)) {
  }
}

}  // namespace semicrf::testing
