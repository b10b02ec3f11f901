// Which kernel serves a model, and in what shape. A pure function of the model, the precision and the shared
// memory a block may have; tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/tables/limits.h"

namespace semicrf::cuda {

// Where things lie in the shared memory of run_warps, in bytes: first the bounds of durations, their spreads
// and their table, and durations within a block where boundaries are a loop, then a part for every warp,
// which begins with its ring's scales.
struct WarpLayout {
  unsigned spreads = 0;
  unsigned table = 0;
  unsigned near = 0;
  unsigned warps = 0;  // the first warp's part
  unsigned each = 0;   // bytes of a part
  // From where a part begins: the ring's numbers; starts of the block at hand and their units, where
  // boundaries are a loop; alpha, and behind it numbers of every lane, see parks_numbers.
  unsigned numbers = 0, start_numbers = 0, start_units = 0, alpha = 0;
};

struct TileConfig {
  bool block_team = false;  // one chunk per block of threads; else one or more per warp
  int group = 32;           // warp teams: lanes per chunk
  int rows = 32;            // labels the kernel is unrolled for; 0: any
  int warps = 1;            // per block
  int panels = 1;           // block teams: warps of 32 labels each
  int parts = 0;            // and parts of the ring that other warps sum up, per label; 0: there are none
  bool table_in_shared = true;
  bool ring_in_shared = true;
  bool transitions_in_shared = true;
  std::size_t shared_bytes = 0;
  int table_width = 1;  // entries of a row of the tables
  int teams_per_block = 1;
  int resident = 1;   // blocks of threads that share a multiprocessor
  WarpLayout layout;  // warp teams
};

// Bytes of shared memory, as the kernels slice it: a label's 16 floats begin at a multiple of their size.
inline constexpr std::size_t kSharedAlignment = kBlock * sizeof(float);
SEMICRF_BOTH inline std::size_t aligned_bytes(std::size_t n) {
  return (n + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}
// Entries of the durations' bounds and spreads, and of the durations by distance and by group.
SEMICRF_BOTH inline std::size_t bound_entries(int offsets, int width) {
  return static_cast<std::size_t>(offsets + 1) * static_cast<std::size_t>(width);
}
SEMICRF_BOTH inline std::size_t distance_entries(int offsets, int width) {
  return static_cast<std::size_t>(offsets) * static_cast<std::size_t>(width) * kDistanceRow;
}
SEMICRF_BOTH inline std::size_t group_entries(int offsets, int width) {
  return bound_entries(offsets, width) * kBlock;
}
inline constexpr int kAlphaWidth = 32;  // warp teams: every lane has a place in a row of alpha
SEMICRF_BOTH inline std::size_t ring_bytes(int ring_blocks, int width, std::size_t real) {
  const std::size_t cells = static_cast<std::size_t>(ring_blocks) * static_cast<std::size_t>(width);
  return aligned_bytes(cells * sizeof(int)) + aligned_bytes(cells * kBlock * real);
}
// Whether teams of so many lanes that share a warp, or have it alone, do the boundaries of a block in a loop,
// for which the starts of one block lie in shared memory.
SEMICRF_BOTH constexpr bool rolls_boundaries(int group) { return group >= 16; }
// Whether numbers that the recursion of a block does not want wait in shared memory, as local memory is far
// away. Several teams in a warp were slower with it.
SEMICRF_BOTH constexpr bool parks_numbers(int group) { return group == 32; }
inline constexpr int kParkedNumbers = 6;  // numbers of a lane that wait in shared memory
SEMICRF_BOTH inline std::size_t starts_bytes(int width) {
  return static_cast<std::size_t>(width) * kBlock * (sizeof(float) + sizeof(int));
}
SEMICRF_BOTH inline std::size_t alpha_bytes(int width, std::size_t real) {
  return aligned_bytes(2 * static_cast<std::size_t>(width) * real);
}

// Threads of a block of threads that is a team, at most: what its registers allow. `rows`: of its TileConfig.
SEMICRF_BOTH constexpr int block_threads(int rows) { return rows == 0 ? 512 : 256; }

TileConfig choose_tile(int labels, int max_duration, std::size_t real_bytes, std::size_t shared_limit,
                       bool cut_right = false);
// The tile with fewer warps per block where there are too few tasks for full blocks on every multiprocessor.
TileConfig spread(const TileConfig& tile, std::size_t tasks, int multiprocessors);

// How sequences are cut into runs, in positions. All multiples of 16.
struct RunGrid {
  std::int64_t warmup = 256;
  std::int64_t unit = 64;     // shortest run
  std::int64_t run = 4096;    // usual one
  std::int64_t chunk = 8192;  // chunk of the engine's grid, about: see cut_into_runs()
};
RunGrid run_grid(int max_duration);
// Positions that a run warms up for. What runs differ by after them shrinks with their number, by what was
// measured (docs/algorithm.md, "Parallel in time") to less than the tolerance of floats after 6K, of doubles
// after 8K; runs that are not there yet are repaired.
std::int64_t run_warmup(const RunGrid& grid, std::size_t real_bytes);
// Multiprocessors of a large card, for which sequences are cut.
inline constexpr int kMultiprocessors = 132;
// How the work is divided, whatever device there is. Tests take smaller numbers.
struct WorkRules {
  int multiprocessors = kMultiprocessors;
  // Positions that the truth may come forward while runs are repaired side by side (ChunkPass).
  std::int64_t repair_reach = std::int64_t{1} << 18;
};
// Teams that run at a time on such a card; of these as many as a warp scheduler has no other for.
struct Teams {
  int at_once = 0, alone = 0;
};
Teams teams_of(const TileConfig& tile, int multiprocessors = kMultiprocessors);
// How a sequence is cut: a function of the model and T alone, so that windows change nothing.
struct RunCut {
  std::int64_t run = 0;    // positions; what is repaired where a start was not warmed up enough
  std::int64_t mark = 0;   // from one state that posteriors keep to the next: at most a warm-up
  std::int64_t chunk = 0;  // chunk of the engine's grid
  int queue = 1;           // runs that a team does one after the other: the first of them warms up

  std::int64_t queue_positions() const { return run * queue; }
};
// Such that all teams have work, about the same, and few warm-ups. Whole marks make a run, whole queues of
// runs a chunk, of more than half of grid.chunk positions; of more than all of them only where a queue has
// more.
RunCut cut_into_runs(const RunGrid& grid, std::int64_t length, Teams teams);
// Whether a sequence leaves most of a card idle, so that it is cut little and computed together with others.
bool is_short(const RunGrid& grid, std::int64_t length, Teams teams);
// Whether it leaves two thirds of a card idle, so that all but its path is computed together with others.
bool leaves_room(const RunGrid& grid, std::int64_t length, Teams teams);

}  // namespace semicrf::cuda
