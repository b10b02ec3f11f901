// Who works on a chunk: a team of lanes, lane = label. Reductions over a team's labels come back to all its
// lanes.
#pragma once

#include <cuda_runtime.h>

#include "cuda/tables/numbers.cuh"
#include "cuda/tables/tile_config.h"

namespace semicrf::cuda {

// The first `count` threads of the block, whole warps.
__device__ __forceinline__ void barrier_of(int id, int count) {
#if defined(SEMICRF_EMULATED_CUDA)
  emulation::named_barrier(id, count);
#else
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
#endif
}

// Keeps a value in a register that the compiler would rather read again from the constant bank, which takes
// longer than the instruction that waits for it.
__device__ __forceinline__ int in_register(int value) {
#if defined(__CUDA_ARCH__)
  asm volatile("mov.s32 %0, %0;" : "+r"(value));
#endif
  return value;
}

// The number of the thread, asked for anew.
__device__ __forceinline__ unsigned thread_here() {
#if defined(__CUDA_ARCH__)
  unsigned thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return threadIdx.x;
#endif
}

inline constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ int smaller(int a, int b) { return a < b ? a : b; }

// The largest of each `group` lanes of a warp.
template <class T>
__device__ __forceinline__ T most_of_group(T value, int group) {
  for (int step = group / 2; step > 0; step /= 2)
    value = larger(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

inline constexpr int kLeastInt = -2147483647 - 1;
#if defined(SEMICRF_EMULATED_CUDA) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
__device__ __forceinline__ int most_of_warp(int value) { return __reduce_max_sync(kAllLanes, value); }
__device__ __forceinline__ int least_of_warp(int value) { return __reduce_min_sync(kAllLanes, value); }
#else
__device__ __forceinline__ int most_of_warp(int value) { return most_of_group(value, 32); }
__device__ __forceinline__ int least_of_warp(int value) { return -most_of_group(-value, 32); }
#endif

// What lies in shared memory: the tables of durations with their bounds, and the ring; the bounds and the
// ring; the bounds and the ring's scales, but not its numbers; or what is known only when the kernel runs.
enum class MemoryPlace { kAllShared, kRingShared, kScalesShared, kAnywhere };

// Several teams in a warp, or one: kGroup lanes each, for at most kRows labels.
template <int kGroup, int kRows>
struct WarpLanes {
  static constexpr bool kTeam = false;
  static constexpr MemoryPlace kPlace = MemoryPlace::kAllShared;
  static constexpr int kWidth = kGroup;
  static constexpr int kGroups = 32 / kGroup;
  static constexpr bool kAlone = kGroups == 1;  // no other team's lanes are in the warp
  static constexpr bool kOneWarp = true;        // leads a team
  static constexpr bool kLoops = rolls_boundaries(kGroup);
  static constexpr bool kParks = parks_numbers(kGroup);
  // NOLINTBEGIN(bugprone-branch-clone): the two are the same for one of the shapes
  static constexpr int kTableWidth = kGroup < 32 ? kGroup : kRows;  // entries of a row of a table
  static constexpr int kRingWidth = kGroup < 32 ? 32 : kRows;       // entries of a row of the rings of a warp
  // NOLINTEND(bugprone-branch-clone)
  static constexpr bool leads = true;
  int c;       // label of this lane
  int group;   // team within the warp
  bool valid;  // the label exists

  __device__ __forceinline__ explicit WarpLanes(int labels) {
    // Else asked for anew wherever it is needed, which takes longer than a use of it.
    const int lane = in_register(static_cast<int>(threadIdx.x % 32));
    c = lane % kGroup;
    group = lane / kGroup;
    valid = c < labels;
  }
  // Slots of a block that are the lane's, where each slot is one lane's: every kSlotLanes-th from
  // first_slot() on.
  static constexpr int kSlotLanes = kGroup;
  __device__ __forceinline__ int first_slot() const { return c; }
  // Whether the lane has memory of its own: lanes without a label may share the last one's.
  __device__ __forceinline__ bool has_memory() const { return c < kTableWidth; }
  __device__ __forceinline__ bool has_alpha() const { return true; }
  __device__ __forceinline__ void sync() const { __syncwarp(); }
  // Whether p holds for any lane of the team.
  __device__ __forceinline__ bool any(bool p) const {
    const unsigned votes = __ballot_sync(kAllLanes, p);
    if constexpr (kGroup == 32) return votes != 0;
    return ((votes >> (group * kGroup)) & ((1u << (kGroup % 32)) - 1)) != 0;
  }
  // Whether p holds for any of the lanes that run together.
  __device__ __forceinline__ bool any_team(bool p) const { return __any_sync(kAllLanes, p) != 0; }
  // any_team() for a condition that is the same for all lanes of a team.
  __device__ __forceinline__ bool some_team(bool p) const { return any_team(p); }
  template <class T>
  __device__ __forceinline__ T most(T value) const {
#pragma unroll
    for (int step = kGroup / 2; step > 0; step /= 2)
      value = larger(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
  }
  // With few teams a reduction of the warp for each, in which the other teams' lanes do not count.
  __device__ __forceinline__ int most(int value) const {
    if constexpr (kGroups > 2) return most<int>(value);
    if constexpr (kGroups == 1) return most_of_warp(value);
    const int first = most_of_warp(group == 0 ? value : kLeastInt);
    const int second = most_of_warp(group == 0 ? kLeastInt : value);
    return group == 0 ? first : second;
  }
  // The largest value of the team's lanes in this warp, which has all of them.
  __device__ __forceinline__ int most_here(int value) const { return most(value); }
  __device__ __forceinline__ bool any_here(bool p) const { return __any_sync(kAllLanes, p) != 0; }
  // Whether p holds for any of the lanes that wait for each other.
  __device__ __forceinline__ bool some_here(bool p) const { return any_here(p); }
};

// One team in a block. The first `panels` warps lead: lane = label, 32 labels per warp. The others add up
// parts of the sums over durations for the block after the one that is led; with few labels the lanes of such
// a warp are several parts. kRows > 0: for at most so many labels; kFarRing: whose ring is in device memory.
template <int kRows, bool kFarRing = false>
struct BlockLanes {
  static constexpr bool kTeam = true;
  static constexpr bool kAlone = true;
  static constexpr bool kLoops = true;
  static constexpr bool kParks = false;
  static constexpr MemoryPlace kPlace =
      kRows == 0 ? MemoryPlace::kAnywhere
                 : (kFarRing ? MemoryPlace::kScalesShared : MemoryPlace::kRingShared);
  static constexpr int kPanels = (kRows + 31) / 32;  // 0: known at run time
  static constexpr bool kOneWarp = kPanels == 1;
  static constexpr int kGroup = kRows > 0 && kRows <= 8 ? 8 : (kRows > 0 && kRows <= 16 ? 16 : 32);
  int c, panels_at_run_time;
  int group_at_run_time;  // lanes of a part within a warp
  int part, parts;
  bool leads;  // the lane is in a leading warp
  bool valid;  // a leading lane with a label
  bool has_label;
  double* exchange;  // (32) shared

  __device__ __forceinline__ BlockLanes(int labels, int panels_, double* exchange_)
      : panels_at_run_time(panels_), exchange(exchange_) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int warps = static_cast<int>(blockDim.x / 32);
    group_at_run_time = 32;
    while (panels() == 1 && group_at_run_time / 2 >= labels) group_at_run_time /= 2;
    c = warp % panels() * 32 + lane % group();
    leads = warp < panels();
    has_label = c < labels;
    valid = has_label && leads && lane < group();
    parts = (warps / panels() - 1) * (32 / group());
    part = (warp / panels() - 1) * (32 / group()) + lane / group();
  }
  // Slots of a block that are the lane's, where each slot is one lane's: every kSlotLanes-th from
  // first_slot() on.
  static constexpr int kSlotLanes = 32;
  __device__ __forceinline__ int first_slot() const { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ int panels() const {
    if constexpr (kRows > 0) return kPanels;
    return panels_at_run_time;
  }
  __device__ __forceinline__ int group() const {
    if constexpr (kRows > 0) return kGroup;
    return group_at_run_time;
  }
  __device__ __forceinline__ bool has_helpers() const { return parts > 0; }
  __device__ __forceinline__ bool has_memory() const { return valid; }
  // Whether the lane's place in a row of alpha is written: sums over a fixed number of labels read it all.
  __device__ __forceinline__ bool has_alpha() const {
    if constexpr (kRows > 0) return leads && static_cast<int>(threadIdx.x % 32) < kGroup && c < kRows;
    return valid;
  }
  __device__ __forceinline__ void sync() const {
    if (panels() == 1) {
      __syncwarp();
    } else {
      barrier_of(1, panels() * 32);
    }
  }
  __device__ __forceinline__ double over_warps(double value) const {
    if (panels() == 1) return value;
    if (threadIdx.x % 32 == 0) exchange[threadIdx.x / 32] = value;
    sync();
    double result = exchange[0];
    for (int i = 1; i < panels(); ++i) result = larger(result, exchange[i]);
    sync();
    return result;
  }
  __device__ __forceinline__ bool any(bool p) const {
    const bool here = __any_sync(kAllLanes, p) != 0;
    return panels() == 1 ? here : over_warps(here ? 1.0 : 0.0) > 0;
  }
  __device__ __forceinline__ bool any_team(bool p) const { return any(p); }
  __device__ __forceinline__ bool some_team(bool p) const { return p; }
  template <class T>
  __device__ __forceinline__ T most(T value) const {
    const T here = most_of_group(value, 32);
    return panels() == 1 ? here : static_cast<T>(over_warps(static_cast<double>(here)));
  }
  // The largest value of the team's lanes that are in this warp.
  __device__ __forceinline__ int most_here(int value) const { return most_of_warp(value); }
  __device__ __forceinline__ bool any_here(bool p) const { return __any_sync(kAllLanes, p) != 0; }
  // Whether p holds for any of the lanes that wait for each other.
  __device__ __forceinline__ bool some_here(bool p) const { return any(p); }
};

}  // namespace semicrf::cuda
