// The scale of a boundary state.
#pragma once

#include "engine/boundary_state.h"

namespace semicrf {

// The state with its largest entry moved into the offset, so that the largest entry is 0; unchanged
// where all are -inf.
BoundaryState normalised(BoundaryState state);

}  // namespace semicrf
