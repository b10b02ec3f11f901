// The step of a bigWig file: how coarse its values are.
#pragma once

#include "io/bigwig/bigwig_index.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/byte_view.h"

namespace semicrf {

// Reads at most kStepSections data blocks, spread evenly over the index from the first to the last, and takes
// the greatest common divisor of the edges of their intervals. A damaged block is passed over: whoever reads
// it says what is wrong with it.
inline constexpr std::uint64_t kStepSections = 16;
BigWigStep sample_step(const ByteView& view, const BigWigIndex& index);

}  // namespace semicrf
