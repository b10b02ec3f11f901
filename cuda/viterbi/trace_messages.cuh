// The stored messages as the traceback reads them. Positions are relative to the window's first one; values
// are logarithms in double.
#pragma once

#include "cuda/tables/numbers.cuh"
#include "cuda/viterbi/trace_launch.h"

namespace semicrf::cuda {

template <class Real>
__device__ double emission(const TraceParameters<Real>& p, std::int64_t at) {
  const DeviceScores& f = p.sequence.emissions;
  return f.f32 != nullptr ? static_cast<double>(f.f32[at]) : f.f64[at];
}
// Where the sequence of a block begins; 0 or less for a window.
template <class Real>
__device__ std::int64_t sequence_begin(const TraceParameters<Real>& p, int block) {
  return p.sequence_of == nullptr ? -p.range_begin : p.batch[p.sequence_of[block]].first_row;
}
template <class Real>
__device__ const double* baseline(const TraceParameters<Real>& p, int position) {
  return p.sequence_of == nullptr ? p.sequence.baseline : p.batch[p.sequence_of[position / kBlock]].baseline;
}
// Centred emission of one position, without its shift.
template <class Real>
__device__ double score(const TraceParameters<Real>& p, int position, int c) {
  const int labels = p.tables.labels;
  const std::int64_t row = (p.range_begin - p.sequence.begin + position) * labels;
  double value = emission(p, row + c);
  if (p.sequence.subtract_position_max) {
    double most = kNone;
    for (int other = 0; other < labels; ++other) most = fmax(most, emission(p, row + other));
    if (most != kNone) value -= most;
  }
  const double* const centre = baseline(p, position);
  if (centre != nullptr) value -= centre[c];
  return value - p.store.shift[position];
}
template <class Real>
__device__ std::int64_t entry(const TraceParameters<Real>& p, int row, int c) {
  return static_cast<std::int64_t>(row) * p.tables.labels + c;
}
// Puts values relative to `own` on the scale of the origin, which lies near.
__device__ inline double shift(const BlockOrigin& own, const BlockOrigin& origin) {
  return (own.whole - origin.whole) + (own.offset - origin.offset);
}
template <class Real>
__device__ std::int64_t pool_entry(const TraceParameters<Real>& p, int slot, int position, int c) {
  return (static_cast<std::int64_t>(slot - 1) * kBlock + position % kBlock) * p.tables.labels + c;
}
// A message on the scale of its block.
template <class Real>
__device__ double value_of(const TraceParameters<Real>& p, const MessageView<Real>& message, int position,
                           int c) {
  const int block = position / kBlock;
  const int exact = p.store.exact[block];
  if (exact != 0) return message.pool[pool_entry(p, exact, position, c)];
  return static_cast<double>(message.numbers[entry(p, position, c)]) + message.scale[entry(p, block, c)];
}

// --- out of line: rare where there are neither tails nor exact blocks ---

// The content of positions of one block.
template <class Real>
__device__ SEMICRF_NOINLINE double content(const TraceParameters<Real>& p, int begin, int end, int c) {
  double sum = 0;
#pragma unroll 1
  for (int position = begin; position < end; ++position) sum += score(p, position, c);
  return sum;
}
template <class Real>
__device__ SEMICRF_NOINLINE double content_sum(const TraceParameters<Real>& p, int begin, int end, int c) {
  double sum = 0;
  while (begin < end) {
    const int block = begin / kBlock;
    const int stop = (block + 1) * kBlock < end ? (block + 1) * kBlock : end;
    const bool whole = begin == block * kBlock && stop == (block + 1) * kBlock;
    sum += whole ? p.store.content[entry(p, block, c)] : content(p, begin, stop, c);
    begin = stop;
  }
  return sum;
}
// A segment that starts in an exact block, with its content up to `stop`, on the scale of the block.
template <class Real>
__device__ SEMICRF_NOINLINE double exact_start(const TraceParameters<Real>& p, int slot, int start, int stop,
                                               int c) {
  return p.store.gamma.pool[pool_entry(p, slot, start, c)] + content(p, start, stop, c);
}
// An entry of the state at the window's left edge.
template <class Real>
__device__ double left_entry(const TraceParameters<Real>& p, const BlockOrigin& origin, int row, int c) {
  return p.left_state[entry(p, row, c)] + shift(p.left, origin);
}
// The tail's share of alpha without the end score; where its block is not exact, without the content from the
// block's first boundary on. Not at the window's left edge.
template <class Real>
__device__ double tail_share(const TraceParameters<Real>& p, const BlockOrigin& origin, int boundary, int c) {
  return value_of(p, p.store.tail, boundary - 1, c) + shift(p.blocks[(boundary - 1) / kBlock], origin);
}
// The tail's share of alpha with all content up to the boundary.
template <class Real>
__device__ SEMICRF_NOINLINE double tail(const TraceParameters<Real>& p, BlockOrigin origin, int boundary,
                                        int c) {
  if (boundary == 0) return p.left_state == nullptr ? kNone : left_entry(p, origin, p.tables.duration + 1, c);
  const int block = (boundary - 1) / kBlock;
  const double share = tail_share(p, origin, boundary, c);
  if (p.store.exact[block] != 0) return share;
  return share + content(p, block * kBlock, boundary, c);
}
// Everything before a segment that starts at `boundary`, with its start score and, left of the window, its
// content up to the window's edge.
template <class Real>
__device__ SEMICRF_NOINLINE double started(const TraceParameters<Real>& p, BlockOrigin origin, int boundary,
                                           int c) {
  if (boundary < 0) return left_entry(p, origin, -boundary - 1, c);
  const int block = boundary / kBlock;
  const double value = value_of(p, p.store.gamma, boundary, c) + shift(p.blocks[block], origin);
  if (p.store.exact[block] != 0) return value;
  return value + content(p, block * kBlock, boundary, c);
}

}  // namespace semicrf::cuda
