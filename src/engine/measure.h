// Limits of this machine that the speed of engines is compared with.
#pragma once

#include <span>

#include "engine/options.h"

namespace semicrf {

// Pairs of single-precision operations per second that one thread of this processor does out of registers.
// Measuring takes a second.
struct ArithmeticPeaks {
  double add_max = 0;       // an addition and a maximum: the max semiring
  double multiply_add = 0;  // a multiplication and an addition: the log semiring
};
ArithmeticPeaks measure_arithmetic_peaks();

// Seconds to copy `bytes` to the engine's device as it copies scores there, or to read them where it computes
// in the host's memory. Nothing is computed.
double measure_copy_seconds(const EngineOptions& options, std::span<const unsigned char> bytes);

}  // namespace semicrf
