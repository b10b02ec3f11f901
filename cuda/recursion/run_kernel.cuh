// The kernels around BlockRun: where a team's memory lies, and which task it takes next.
#pragma once

#include "cuda/recursion/block/block_run.cuh"
#include "cuda/recursion/run_launch.h"

namespace semicrf::cuda {

template <class T>
__device__ __forceinline__ SharedPointer<T> slice(unsigned& at, std::size_t count) {
  const SharedPointer<T> result{at};
  at += static_cast<unsigned>(aligned_bytes(count * sizeof(T)));
  return result;
}

// Eight reads of a thread are on their way at a time.
template <class T>
__device__ void copy_all(const T* from, std::size_t count, T* to) {
  constexpr unsigned kAhead = 8;
  for (std::size_t i = threadIdx.x; i < count; i += kAhead * blockDim.x) {
    T ahead[kAhead];
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k)
      if (i + k * blockDim.x < count) ahead[k] = __ldg(from + i + k * blockDim.x);
#pragma unroll
    for (unsigned k = 0; k < kAhead; ++k)
      if (i + k * blockDim.x < count) to[i + k * blockDim.x] = ahead[k];
  }
}

// Warps of a block: the tables and the rings of all warps in shared memory.
template <class Real, class Semiring, int kGroup, int kRows, int kMaxThreads>
__global__ void __launch_bounds__(kMaxThreads, 1)
    run_warps(const __grid_constant__ RunParameters<Real> p,
              const __grid_constant__ RunParameters<Real> p_aside) {
  using Lanes = WarpLanes<kGroup, kRows>;
  const TablesView<Real>& t = p.tables;
  const Lanes lanes(t.labels);
  int* const bounds = SharedPointer<int>{0};
  std::uint16_t* const spreads = SharedPointer<std::uint16_t>{p.layout.spreads};
  Real* const table = SharedPointer<Real>{p.layout.table};
  copy_all(t.duration_bound, bound_entries(t.offsets, Lanes::kTableWidth), bounds);
  copy_all(t.duration_spread, bound_entries(t.offsets, Lanes::kTableWidth), spreads);
  copy_all(t.duration_table, distance_entries(t.offsets, Lanes::kTableWidth), table);
  if constexpr (Lanes::kLoops) {
    Real* const near = SharedPointer<Real>{p.layout.near};
    for (int i = static_cast<int>(threadIdx.x); i < kBlock * Lanes::kTableWidth;
         i += static_cast<int>(blockDim.x))
      near[(i % kBlock / 4 * Lanes::kTableWidth + i / kBlock) * 4 + i % 4] = t.near_table[i];
  }
  const auto m = warp_memory<Real, Lanes>(p, threadIdx.x);
  __syncthreads();
  RunAside aside;
  BlockRun<RunConfig<Real, Semiring, Lanes, kRows, kMaxThreads == kFewThreads>> run(p, p_aside, lanes, m,
                                                                                    aside);
  const int first = m.team - lanes.group;
  for (int queue = first; queue < p.num_queues; queue += p.teams) {
    const bool active = queue + lanes.group < p.num_queues;
    run.run_queue(active ? queue + lanes.group : queue, active);
  }
}

// One chunk per block: many labels, or a ring too large for a warp. kRows, kFarRing: see BlockLanes.
template <class Real, class Semiring, int kRows, bool kFarRing = false>
__global__ void __launch_bounds__(block_threads(kRows), 1)
    run_block(const __grid_constant__ RunParameters<Real> p,
              const __grid_constant__ RunParameters<Real> p_aside) {
  const TablesView<Real>& t = p.tables;
  const auto labels = static_cast<std::size_t>(t.labels);
  const auto parts = static_cast<std::size_t>(p.parts);
  const auto blocks = static_cast<std::size_t>(t.ring_blocks);
  unsigned at = 0;
  const SharedPointer<double> exchange = slice<double>(at, 32);
  using Lanes = BlockLanes<kRows, kFarRing>;
  const Lanes lanes(t.labels, p.panels, exchange);
  TeamMemory<Real, Lanes::kPlace> m;
  m.regauge = slice<int>(at, 4);
  m.levels = slice<int>(at, 2 * kMostPanels);
  m.parts = p.parts;
  m.part_bound = slice<int>(at, 2 * labels * parts);
  m.part_sum = slice<Real>(at, 2 * labels * parts * kBlock);
  m.alpha_width = kRows > 0 ? kRows : (t.labels + 3) / 4 * 4;
  m.alpha = slice<Real>(at, 2 * static_cast<std::size_t>(m.alpha_width));
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  if constexpr (kRows > 0) {
    m.start_numbers = slice<Real>(at, kBlock * labels).from(label * kBlock);
    m.start_units = slice<int>(at, kBlock * labels).from(label * kBlock);
  }
  const int team = static_cast<int>(blockIdx.x);
  m.table_width = t.width;
  m.transitions = t.transition;
  if (kRows == 0 && p.transitions_in_shared) {
    Real* transitions = slice<Real>(at, labels * labels);
    copy_all(t.transition, labels * labels, transitions);
    m.transitions = transitions;
  }
  const Real* table = t.duration_table;
  const std::size_t bound_count = bound_entries(t.offsets, t.width);
  if constexpr (kRows > 0) {
    const SharedPointer<int> bounds = slice<int>(at, bound_count);
    copy_all(t.duration_bound, bound_count, static_cast<int*>(bounds));
    m.duration_bound = {bounds.from(label).offset};
    const SharedPointer<std::uint16_t> spreads = slice<std::uint16_t>(at, bound_count);
    copy_all(t.duration_spread, bound_count, static_cast<std::uint16_t*>(spreads));
    m.duration_spread = {spreads.from(label).offset};
  } else {
    m.duration_bound = t.duration_bound + label;
    m.duration_spread = t.duration_spread + label;
    if (p.table_in_shared) {
      int* bounds = slice<int>(at, bound_count);
      std::uint16_t* spreads = slice<std::uint16_t>(at, bound_count);
      Real* table_here = slice<Real>(at, group_entries(t.offsets, t.width));
      copy_all(t.duration_bound, bound_count, bounds);
      copy_all(t.duration_spread, bound_count, spreads);
      copy_all(table, group_entries(t.offsets, t.width), table_here);
      m.duration_bound = bounds + label;
      m.duration_spread = spreads + label;
      table = table_here;
    }
  }
  m.duration_table = table + label * kBlock;
  m.table_turn = turn_of(label);
  m.ring.width = t.labels;
  m.ring.turn = turn_of(label);
  // The rows of the ring in device memory.
  const std::int64_t rows = static_cast<std::int64_t>(team) * t.ring_blocks * t.labels + label;
  if constexpr (kRows > 0) {
    m.ring.scales = slice<int>(at, blocks * labels).from(label);
    if constexpr (kFarRing) {
      m.ring.numbers = p.ring + rows * kBlock;
    } else {
      m.ring.numbers = slice<Real>(at, blocks * labels * kBlock).from(label * kBlock);
    }
  } else if (p.ring_in_shared) {
    m.ring.scales = static_cast<int*>(slice<int>(at, blocks * labels)) + label;
    m.ring.numbers = static_cast<Real*>(slice<Real>(at, blocks * labels * kBlock)) + label * kBlock;
  } else {
    m.ring.scales = p.ring_scale + rows;
    m.ring.numbers = p.ring + rows * kBlock;
  }
  m.team = team;
  __syncthreads();
  RunAside aside;
  BlockRun<RunConfig<Real, Semiring, Lanes, kRows>> run(p, p_aside, lanes, m, aside);
  for (int queue = team; queue < p.num_queues; queue += p.teams) run.run_queue(queue, true);
}

template <class Real, class Semiring, int kThreads>
RunKernel<Real> warp_kernel(const TileConfig& tile) {
  if (tile.group == 4) return run_warps<Real, Semiring, 4, 4, kThreads>;
  if (tile.group == 8) return run_warps<Real, Semiring, 8, 8, kThreads>;
  if (tile.group == 16) return run_warps<Real, Semiring, 16, 16, kThreads>;
  if (tile.rows == 24) return run_warps<Real, Semiring, 32, 24, kThreads>;
  return run_warps<Real, Semiring, 32, 32, kThreads>;
}

template <class Real, class Semiring>
RunKernel<Real> block_kernel(const TileConfig& tile) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (!tile.ring_in_shared && tile.rows == 16) return run_block<Real, Semiring, 16, true>;
    if (!tile.ring_in_shared && tile.rows == 32) return run_block<Real, Semiring, 32, true>;
    if (!tile.ring_in_shared && tile.rows == 64) return run_block<Real, Semiring, 64, true>;
    if (tile.rows == 8) return run_block<Real, Semiring, 8>;
    if (tile.rows == 16) return run_block<Real, Semiring, 16>;
    if (tile.rows == 32) return run_block<Real, Semiring, 32>;
    if (tile.rows == 48) return run_block<Real, Semiring, 48>;
    if (tile.rows == 64) return run_block<Real, Semiring, 64>;
  }
  return run_block<Real, Semiring, 0>;
}

}  // namespace semicrf::cuda
