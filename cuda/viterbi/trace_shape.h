// How the traceback through a window is cut up. Pure functions, tested without a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/tables/limits.h"

namespace semicrf::cuda {

// Positions per piece of a traceback, and how far right of it a path that is not known yet begins: functions
// of the model and the window.
struct TraceCut {
  std::int64_t piece = 0, halo = 0;
};
TraceCut trace_cut(std::int64_t positions, int max_duration);

// Pieces go out in so many batches: while the path through one is copied to the host, the next ones are
// followed.
inline constexpr std::size_t kMostTraceBatches = 4;
std::size_t trace_batches(std::size_t pieces);

// Threads and shared memory of the traceback. Not staged: what a warp reads of the newest blocks comes from
// memory step by step.
struct TraceShape {
  bool staged = false;
  int warps = 8;   // per block of threads, a piece each
  int newest = 0;  // durations 1 .. newest are looked at in shared memory
  // Bytes of the scores that all warps share, and of a block of positions
  int table_bytes = 0, slot_bytes = 0;
  std::size_t shared_bytes = 0;
};
// Bytes per block of a BlockOrigin and a BlockLink.
inline constexpr std::size_t kTracePlaceBytes = 32;
inline constexpr int kTraceSlots = 3;  // blocks of positions per warp
// Bytes of what a slot holds per label, before the link.
SEMICRF_BOTH constexpr unsigned slot_link(unsigned labels) { return (labels * 36 + 7) / 8 * 8; }
TraceShape trace_shape(int labels, int max_duration, bool tail, std::size_t real_bytes,
                       std::size_t shared_limit);

}  // namespace semicrf::cuda
