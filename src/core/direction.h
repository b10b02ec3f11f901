// The direction in which a recursion goes along a sequence.
#pragma once

namespace semicrf {

enum class Direction { kForward, kBackward };

}  // namespace semicrf
