// The two scans of the traceback, compiled for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace semicrf::cpu {

// Messages of the blocks of one chunk and scores of the model, both as cpu/viterbi/path_tracer.h has them.
template <class Number>
struct FastMessages {
  const Number* alpha = nullptr;
  const double* starts = nullptr;
  const double* start_bound = nullptr;
  const double* content = nullptr;
  const double* source_offset = nullptr;
  const std::uint16_t* cuts = nullptr;  // null: there are none
  std::size_t capacity = 0;
  const double* reversed_bias = nullptr;  // (C, K)
  const double* largest_bias = nullptr;
  const double* into = nullptr;
  int labels = 0;
  std::int64_t longest = 0;  // K
  bool first_chunk = false;  // nothing lies left of it
};

// One path on its way to the left. Positions count from the chunk's begin.
struct Walk {
  struct Piece {
    std::uint32_t length = 0;
    std::int32_t label = 0;
  };
  std::int64_t boundary = 0;
  std::int64_t stop = 0;  // the walk may end where boundary <= stop
  int label = 0;
  bool find_start = true;  // a segment of `label` ends at the boundary; else one starts there
  bool walking = true;
  std::vector<Piece> pieces;  // right to left
};

// Number: alpha as the messages keep it, int32 (units of 2^-22) or double. Sums are formed in double, the
// same on every instruction set.
template <class Number>
struct TraceScans {
  // The largest of starts[slot * stride] + bias[slot] over slots [first, last) of a block, into *score, and
  // the last slot that has it, the shortest duration. Reads all 16 of both.
  int (*best_slot)(const double* starts, std::size_t stride, const double* bias, int first, int last,
                   double* score) = nullptr;
  // The first of `labels` with the largest alpha + offset + into; offset null: none. All may be read up to
  // the next multiple of 8; sums: (labels rounded up to a multiple of 8) scratch.
  int (*best_source)(const Number* alpha, const double* offset, const double* into, int labels,
                     double* sums) = nullptr;
  // Follows the walks side by side, which hides the latency of each, until they reach their stop or a block
  // that is exact or lies left of the chunk. Models without a tail.
  void (*follow)(const FastMessages<Number>& messages, Walk* walks, int count, double* sums) = nullptr;
};

struct AllTraceScans {
  TraceScans<std::int32_t> single;
  TraceScans<double> wide;
};

// For the best instruction set that is enabled (cpu/instruction_set.h).
AllTraceScans trace_scans();

}  // namespace semicrf::cpu
