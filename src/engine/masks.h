// Masks: scores like -1e9, which stand for "impossible".
#pragma once

#include "core/chain_model.h"

namespace semicrf {

// Masks are this far below the largest score of their position, or further.
inline constexpr double kMaskDepth = 1 << 16;

// Whether masks may count as -inf where there are no start and end scores: the results are the same to the
// last digit. Every segment of such a model can give a masked position to the position's best label, at a
// cost below kMaskDepth / 2, so that all segmentations with masked positions together have less than e^-30000
// of the probability (docs/algorithm.md, section 4, "Masks"). Not so where durations or transitions are
// forbidden.
bool masks_forbid(const ChainModel& model);

}  // namespace semicrf
