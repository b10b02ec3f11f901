// The two semirings as the kernels represent them, and what their fast path may trust (docs/algorithm.md,
// "The certificate"). Plain C++: the tables are built on the host with the same definitions.
//
// Log semiring: numbers are linear relative to a scale, "times, plus" is a multiply-add; scales of a label
// differ by whole powers of two, so that moving a number between them rounds nothing. Max semiring: numbers
// are logarithms relative to a scale, the pair is add, max; scales differ by whole numbers, so that sums of
// dyadic scores stay exact.
#pragma once

#include <cmath>
#include <limits>

#include "engine/certificate_limits.h"

#if defined(__CUDACC__) || defined(SEMICRF_EMULATED_CUDA)
#define SEMICRF_BOTH __host__ __device__
#else
#define SEMICRF_BOTH
#endif

// Device functions that are rarely called and must not take registers from those that are.
#if defined(__CUDACC__)
#define SEMICRF_NOINLINE __noinline__
#else
#define SEMICRF_NOINLINE
#endif

namespace semicrf::cuda {

inline constexpr int kBlock = 16;  // positions per block; block edges are multiples of this in the sequence
// Blocks of starts that are kept: of the last K positions at the boundary between two blocks; at any boundary
// where the sequence's right edge is a cut, which need not lie between blocks.
inline int ring_blocks_for(int max_duration, bool cut_right) {
  return (max_duration + (cut_right ? kBlock - 1 : 0) + kBlock - 1) / kBlock;
}
// A label's durations between two blocks at a given distance, and what makes such rows start in different
// banks (see ChainTables).
inline constexpr int kDistanceEntries = 2 * kBlock - 1;
inline constexpr int kDistanceRow = 36;
// The 16 numbers that a label has side by side in a ring or in a table of durations lie in four parts of 16
// bytes, in an order that depends on the label, so that eight lanes that read a part each meet eight times
// four banks.
SEMICRF_BOTH constexpr int turn_of(int lane) { return lane / 2 % 4; }
SEMICRF_BOTH constexpr int turned(int entry, int turn) { return ((entry / 4) ^ turn) * 4 + entry % 4; }
// Units between the largest and the least duration of a distance, as many or more; forbidden ones count, too.
// No sum that lies so far below the largest is certified.
inline constexpr int kWidestSpread = 65535;
inline constexpr int kMostPanels = 32;             // leading warps of a block of threads
inline constexpr int kExactRows = 2 * kBlock + 3;  // doubles per label that the exact path works on
inline constexpr double kLog2 = 0.69314718055994530942;
inline constexpr double kLog2Rest = 2.3190468138462996e-17;  // log 2 less that
inline constexpr double kNone = -std::numeric_limits<double>::infinity();

struct LogSemiring {
  static constexpr bool kIsLog = true;
  static constexpr double kUnit = kLog2;  // scales are whole multiples of this
  static constexpr double kUnitRest = kLog2Rest;
};
struct MaxSemiring {
  static constexpr bool kIsLog = false;
  static constexpr double kUnit = 1.0;
  static constexpr double kUnitRest = 0.0;
};

template <class Semiring, class Real>
using Limits = CertificateLimits<Semiring::kIsLog, Real>;

// A bound rounded down to a whole multiple of the semiring's unit; -inf stays.
template <class Semiring>
SEMICRF_BOTH inline double quantized(double bound) {
  if constexpr (Semiring::kIsLog) {
    return floor(bound * (1 / kLog2)) * kLog2;
  } else {
    return floor(bound);
  }
}

// Scales as whole numbers of units. Two stand for what has no such number: nothing at all, and what lies so
// far below everything else that only the exact path looks at it. Sums of two scales tell the three apart.
inline constexpr int kEmpty = -(3 << 28);
inline constexpr int kFarBelow = -(1 << 28);
inline constexpr int kWidestScale = 1 << 26;
inline constexpr int kMostContent = 1 << 22;  // units of the content of a block, either way
SEMICRF_BOTH inline bool is_empty(int scale) { return scale < kEmpty + (1 << 27); }
SEMICRF_BOTH inline bool is_far_below(int scale) { return scale < kFarBelow / 2; }
template <class Semiring>
SEMICRF_BOTH inline int units_of(double bound) {
  if (!(bound > kNone)) return kEmpty;
  const double units = floor(bound * (1 / Semiring::kUnit));
  return units < -kWidestScale ? kFarBelow : static_cast<int>(units);
}

}  // namespace semicrf::cuda
