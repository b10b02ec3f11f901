// Where a team keeps what does not fit into registers.
#pragma once

#include "cuda/run_types.h"

namespace semicrf::cuda {

// Memory of one team. Pointers but `alpha` and `part*` are offset to the lane's label.
template <class Real>
struct TeamMemory {
  const Real* offset_table;  // stride table_width
  const Real* near_table;
  const double* offset_bound;
  int table_width;
  Real* ring;          // (ring_blocks, 16) stride ring_width
  double* ring_scale;  // (ring_blocks) stride ring_width
  int ring_width;
  Real* alpha;  // (2, alpha_width) of all labels, rows aligned to 16 bytes
  int alpha_width;
  // Block teams: what the parts of the ring found.
  double* part_bound;  // (splits, labels)
  Real* part_sum;      // (splits, 16, labels)
  double* broadcast;   // (2, labels): pending content, then the scale of alpha
  int team;
  // Exact path; those but has_log are found again when they are needed.
  double *logs, *near, *far, *started, *alpha_row;
  int* has_log;
};

template <class Real>
__device__ __forceinline__ void exact_memory(const RunParameters<Real>& p, int team, int c,
                                             TeamMemory<Real>& m) {
  const TablesView<Real>& t = p.tables;
  const int label = c < t.labels ? c : t.labels - 1;
  const std::int64_t labels = t.labels;
  m.logs = p.exact_logs + static_cast<std::int64_t>(team) * t.ring_blocks * kBlock * labels + label;
  double* rows = p.exact_rows + static_cast<std::int64_t>(team) * (3 * kBlock + 1) * labels;
  m.near = rows + label;
  m.far = rows + kBlock * labels + label;
  m.started = rows + 2 * kBlock * labels + label;
  m.alpha_row = rows + 3 * kBlock * labels;
  m.has_log = p.ring_has_log + static_cast<std::int64_t>(team) * t.ring_blocks;
}

}  // namespace semicrf::cuda
