// Parts of a model that a fit leaves as they are.
#pragma once

namespace semicrf {

struct FrozenParts {
  bool start = false, transition = false, duration = false, emission = false;
};

}  // namespace semicrf
