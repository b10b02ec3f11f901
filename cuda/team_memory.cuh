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
  // Exact path.
  double *logs, *near, *far, *started, *alpha_row;
  int* has_log;
};

}  // namespace semicrf::cuda
