// Which lanes of a warp hold the largest score.
#pragma once

#include "cuda/recursion/lanes.cuh"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

// Doubles in the order of whole numbers: the upper half and, where that is equal, the lower one. -0 is less
// than 0 where it is not said to be 0.
__device__ __forceinline__ int upper_key_but_zero(double x) {
  const int high = static_cast<int>(__double_as_longlong(x) >> 32);
  return high ^ (high >> 31 & 0x7fffffff);
}
// -0 as 0.
__device__ __forceinline__ int upper_key(double x) { return upper_key_but_zero(x + 0.0); }
__device__ __forceinline__ int lower_key(double x) {
  const long long bits = __double_as_longlong(x + 0.0);
  const unsigned low = static_cast<unsigned>(bits) ^ static_cast<unsigned>(bits >> 63);
  return static_cast<int>(low ^ 0x80000000u);
}

__device__ __forceinline__ int first_of(unsigned lanes) { return __ffs(static_cast<int>(lanes)) - 1; }

struct Largest {
  int upper;       // key of the largest score
  unsigned lanes;  // bit i: lane i has it
};
__device__ __forceinline__ Largest largest_of_warp(double score) {
  const int key = upper_key(score);
  Largest largest;
  largest.upper = most_of_warp(key);
  largest.lanes = __ballot_sync(kAllLanes, key == largest.upper);
  if ((largest.lanes & (largest.lanes - 1)) != 0) {
    const bool tied = key == largest.upper;
    const int rest = tied ? lower_key(score) : static_cast<int>(0x80000000u);
    const int most = most_of_warp(rest);
    largest.lanes = __ballot_sync(kAllLanes, tied && rest == most);
  }
  return largest;
}

// The largest of a warp by one reduction, for scores that are not -0: the lowest bits of a key make room for
// the lane, the smallest of equals.
struct Winner {
  static constexpr int kLaneBits = 31;
  int upper;      // key of the largest score, without those bits
  unsigned lane;  // that has it
  bool sure;      // no other lane's key differs in those bits alone
};
__device__ __forceinline__ Winner winner_of_warp(double score, bool asked) {
  const int lane = static_cast<int>(threadIdx.x) & Winner::kLaneBits;
  const int key = (upper_key_but_zero(asked ? score : kNone) | Winner::kLaneBits) - lane;
  const int most = most_of_warp(key);
  const unsigned differing = static_cast<unsigned>(key ^ most);
  const bool near = differing - 1 < Winner::kLaneBits;
  return {most & ~Winner::kLaneBits, static_cast<unsigned>(~most & Winner::kLaneBits),
          __any_sync(kAllLanes, near) == 0};
}

}  // namespace semicrf::cuda
