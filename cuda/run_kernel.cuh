// The kernels around BlockRun: where a team's memory lies, and which task it takes next.
#pragma once

#include "cuda/block_run.cuh"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

// Bytes of shared memory, laid out as the kernels below slice it.
template <class Real>
struct SharedLayout {
  // Warp teams: tables of the block, then every warp's ring.
  static SEMICRF_BOTH std::size_t aligned(std::size_t n) { return (n + 15) / 16 * 16; }
  static SEMICRF_BOTH std::size_t tables(int offsets, int width) {
    return aligned(static_cast<std::size_t>(offsets + 1) * width * sizeof(double)) +
           aligned((static_cast<std::size_t>(offsets) * 31 + kBlock) * width * sizeof(Real));
  }
  static SEMICRF_BOTH std::size_t ring(int ring_blocks, int width) {
    return aligned(static_cast<std::size_t>(ring_blocks) * width * sizeof(double)) +
           aligned(static_cast<std::size_t>(ring_blocks) * kBlock * width * sizeof(Real));
  }
  static SEMICRF_BOTH std::size_t alpha(int labels, int groups) {
    return aligned(2 * static_cast<std::size_t>(groups) * ((labels + 3) / 4 * 4) * sizeof(Real));
  }
  static SEMICRF_BOTH std::size_t parts(int labels, int splits) {
    return aligned(2 * 32 * sizeof(double)) + aligned(2 * static_cast<std::size_t>(labels) * sizeof(double)) +
           aligned(static_cast<std::size_t>(labels) * splits * sizeof(double)) +
           aligned(static_cast<std::size_t>(labels) * splits * kBlock * sizeof(Real));
  }
};

template <class T>
__device__ __forceinline__ T* slice(unsigned char*& at, std::size_t count) {
  T* result = reinterpret_cast<T*>(at);
  at += (count * sizeof(T) + 15) / 16 * 16;
  return result;
}

// The tables, copied by the whole block.
template <class Real>
__device__ void copy_tables(const TablesView<Real>& t, double* bounds, Real* table) {
  const int entries = t.offsets * kOffsetEntries * t.width;
  for (int i = static_cast<int>(threadIdx.x); i < (t.offsets + 1) * t.width;
       i += static_cast<int>(blockDim.x)) {
    bounds[i] = t.offset_bound[i];
  }
  for (int i = static_cast<int>(threadIdx.x); i < entries; i += static_cast<int>(blockDim.x))
    table[i] = t.offset_table[i];
  for (int i = static_cast<int>(threadIdx.x); i < kBlock * t.width; i += static_cast<int>(blockDim.x)) {
    table[entries + i] = t.near_table[i];
  }
}

// Warps of a block: the tables and the rings of all warps in shared memory.
template <class Real, class Semiring, int kGroup, int kRows, int kMaxThreads>
__global__ void __launch_bounds__(kMaxThreads, 1) run_warps(const __grid_constant__ RunParameters<Real> p) {
  using Lanes = WarpLanes<kGroup, kRows>;
  const TablesView<Real>& t = p.tables;
  const Lanes lanes(t.labels);
  TeamMemory<Real> m;
  unsigned char* at = shared_memory;
  double* bounds = slice<double>(at, static_cast<std::size_t>(t.offsets + 1) * Lanes::kTableWidth);
  Real* table =
      slice<Real>(at, (static_cast<std::size_t>(t.offsets) * kOffsetEntries + kBlock) * Lanes::kTableWidth);
  copy_tables(t, bounds, table);
  const int column = lanes.c < Lanes::kTableWidth ? lanes.c : 0;
  m.offset_bound = bounds + column;
  m.offset_table = table + column;
  m.near_table = table + t.offsets * kOffsetEntries * Lanes::kTableWidth + column;
  m.table_width = Lanes::kTableWidth;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  at += static_cast<std::size_t>(warp) * (SharedLayout<Real>::ring(t.ring_blocks, Lanes::kRingWidth) +
                                          SharedLayout<Real>::alpha(kRows, Lanes::kGroups));
  m.ring_width = Lanes::kRingWidth;
  const int lane = lanes.group * kGroup + column;
  m.ring_scale = slice<double>(at, static_cast<std::size_t>(t.ring_blocks) * Lanes::kRingWidth) + lane;
  m.ring = slice<Real>(at, static_cast<std::size_t>(t.ring_blocks) * kBlock * Lanes::kRingWidth) + lane;
  m.alpha_width = kRows * Lanes::kGroups;
  m.alpha = slice<Real>(at, 2 * static_cast<std::size_t>(kRows) * Lanes::kGroups) + lanes.group * kRows;
  m.part_bound = m.broadcast = nullptr;
  m.part_sum = nullptr;
  const int team = (static_cast<int>(blockIdx.x) * warps + warp) * Lanes::kGroups + lanes.group;
  m.team = team;
  exact_memory(p, team, lanes.c, m);
  __syncthreads();
  BlockRun<Real, Semiring, Lanes, kRows> run(p, lanes, m);
  const int first = team - lanes.group;
  for (int index = first; index < p.num_tasks; index += p.teams) {
    const bool active = index + lanes.group < p.num_tasks;
    run.run(active ? index + lanes.group : index, active);
  }
}

// One chunk per block: many labels, a ring too large for a warp, or few chunks.
template <class Real, class Semiring>
__global__ void __launch_bounds__(512, 1) run_block(const __grid_constant__ RunParameters<Real> p) {
  const TablesView<Real>& t = p.tables;
  const auto labels = static_cast<std::size_t>(t.labels);
  const auto splits = static_cast<std::size_t>(p.splits);
  unsigned char* at = shared_memory;
  double* exchange = slice<double>(at, 64);
  const BlockLanes lanes(t.labels, p.panels, exchange);
  TeamMemory<Real> m;
  m.broadcast = slice<double>(at, 2 * labels);
  m.part_bound = slice<double>(at, labels * splits);
  m.part_sum = slice<Real>(at, labels * splits * kBlock);
  m.alpha_width = (t.labels + 3) / 4 * 4;
  m.alpha = slice<Real>(at, 2 * static_cast<std::size_t>(m.alpha_width));
  const int label = lanes.c < t.labels ? lanes.c : t.labels - 1;
  const int team = static_cast<int>(blockIdx.x);
  m.table_width = t.width;
  if (p.table_in_shared) {
    double* bounds = slice<double>(at, static_cast<std::size_t>(t.offsets + 1) * labels);
    Real* table = slice<Real>(at, (static_cast<std::size_t>(t.offsets) * kOffsetEntries + kBlock) * labels);
    copy_tables(t, bounds, table);
    m.offset_bound = bounds + label;
    m.offset_table = table + label;
    m.near_table = table + static_cast<std::int64_t>(t.offsets) * kOffsetEntries * t.width + label;
  } else {
    m.offset_bound = t.offset_bound + label;
    m.offset_table = t.offset_table + label;
    m.near_table = t.near_table + label;
  }
  m.ring_width = t.labels;
  if (p.ring_in_shared) {
    m.ring_scale = slice<double>(at, static_cast<std::size_t>(t.ring_blocks) * labels) + label;
    m.ring = slice<Real>(at, static_cast<std::size_t>(t.ring_blocks) * kBlock * labels) + label;
  } else {
    const std::int64_t rows = static_cast<std::int64_t>(team) * t.ring_blocks;
    m.ring_scale = p.ring_scale + rows * t.labels + label;
    m.ring = p.ring + rows * kBlock * t.labels + label;
  }
  m.team = team;
  exact_memory(p, team, lanes.c, m);
  __syncthreads();
  BlockRun<Real, Semiring, BlockLanes, 0> run(p, lanes, m);
  for (int index = team; index < p.num_tasks; index += p.teams) run.run(index, true);
}

}  // namespace semicrf::cuda
