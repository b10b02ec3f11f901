// Messages of one interval as the counting kernels read them: numbers of whole blocks where both directions
// were fast, logarithms in double otherwise.
#pragma once

#include "cuda/counts/counts_launch.h"
#include "cuda/recursion/block/exact_block.cuh"
#include "cuda/recursion/stored_message.cuh"
#include "cuda/tables/numbers.cuh"

namespace semicrf::cuda {

inline constexpr long long kNoNumber = -(1ll << 61);  // power of a block that holds zeros

// Products of a start and an end relative to their powers: above e^40 (double: e^600) numbers that vanished
// could be missed; below e^-75 nothing is.
template <class Real>
inline constexpr int kMostPower = sizeof(Real) == sizeof(float) ? 57 : 865;
inline constexpr int kLeastPower = -109;

// What is carried over a block and label of an interval, left to right: content in about twice the precision
// of double, since masks make it large; blocks that hold a forbidden position count instead.
struct CarriedContent {
  double high = 0, low = 0;
  int forbidden = 0;
  __device__ __forceinline__ void add(double content) {
    if (content == kNone) {
      ++forbidden;
      return;
    }
    const double sum = high + content;
    const double part = sum - high;
    low += (high - (sum - part)) + (content - part);
    high = sum;
  }
};

// exp(x - sum) = 2^power x number, the number in [1, 2).
struct PowerAndNumber {
  long long power;
  double number;
};
__device__ __forceinline__ PowerAndNumber split_power(double x, double high, double low) {
  const double difference = x - high;
  const double part = difference - x;
  const double error = (x - (difference - part)) - (high + part);
  const double n = floor(difference * (1 / kLog2));
  double rest = fma(-n, kLog2, difference);
  rest = fma(-n, kLog2Rest, rest) + (error - low);
  return {static_cast<long long>(n), exp(rest)};
}

// Logarithms of one block and label. Slots outside of the sequence are impossible.
struct BlockLogs {
  double start[kBlock];    // what comes before a segment that starts there, with its start score, less log Z
  double end[kBlock];      // what follows a segment whose last position it is, with its end score
  double content[kBlock];  // sum up to and with the slot, forbidden positions left out
  int forbidden[kBlock];   // and their number
};

// exp(x) for |x| up to widest_exponent(), or 0 of -inf. Without large scores it costs a third.
template <bool kLarge>
__device__ constexpr double widest_exponent() {
  return kLarge ? kMostContent * kLog2 : 8000;
}
template <bool kLarge, class Real>
__device__ __forceinline__ Scaled<Real> number_of(double x) {
  if constexpr (kLarge) {
    return Ops<Real, LogSemiring>::scaled_from_log(x);
  } else {
    if (x == kNone) return {Real(0), 0};
    return scaled<Real, LogSemiring>(ExponentSum<Real>::of(x));
  }
}

// Numbers of starts or of ends in the `count` positions of a block times their boundary scores (`at`: of the
// first, `step`: to the next), in slot `edge` with what the model adds at the sequence's end. False when one
// of these is out of range.
template <bool kLarge, class Real>
__device__ __forceinline__ bool times_boundary_scores(const DeviceScores& scores, std::int64_t at,
                                                      std::int64_t step, int count, int edge, double added,
                                                      Real (&number)[kBlock], int (&power)[kBlock]) {
  double size = 0;
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    const double score =
        (slot < count ? score_at(scores, at + slot * step) : 0.0) + (slot == edge ? added : 0.0);
    const Scaled<Real> factor = number_of<kLarge, Real>(score);
    number[slot] *= factor.number;
    power[slot] += factor.units;
    size = fmax(size, score == kNone ? 0.0 : fabs(score));
  }
  return size <= widest_exponent<kLarge>();
}

template <class Real>
struct IntervalMessages {
  const CountsParameters<Real>& p;
  const AnchorTask task;
  const SequenceView& sequence;
  std::int64_t first_row, rows;  // rows of the stores
  int blocks;
  double z_whole, z_offset, z_log;

  __device__ IntervalMessages(const CountsParameters<Real>& parameters, int index)
      : p(parameters),
        task(p.tasks[index]),
        sequence(p.sequences[task.sequence]),
        first_row(task.first_row),
        rows(task.end - task.begin),
        blocks(static_cast<int>((rows + kBlock - 1) / kBlock)),
        z_whole(p.z.whole[index]),
        z_offset(p.z.offset[index]),
        z_log(p.z.log[index]) {}

  // Nothing is counted where no segmentation has a finite score.
  __device__ bool is_feasible() const { return z_log > kNone; }
  __device__ bool at_sequence_begin() const { return task.begin == 0; }
  __device__ std::int64_t token_of(std::int64_t row) const { return task.begin + (row - first_row); }
  __device__ std::int64_t score_index(std::int64_t row, int c) const {
    return (token_of(row) - sequence.begin) * p.tables.labels + c;
  }
  __device__ const double* before() const {
    return p.forward_states.entries + task.forward_state * p.forward_states.stride;
  }
  __device__ const double* after() const {
    return p.backward_states.entries + task.backward_state * p.backward_states.stride;
  }

  __device__ double stored(const MessageStore<Real>& store, const MessageView<Real>& message,
                           std::int64_t row, int c) const {
    return stored_log(store, message, row, c, p.tables.labels);
  }
  // Level of the forward messages of a block less log Z, and of the backward ones. Positions are divided by
  // the sum of their label posteriors, as these are.
  __device__ double forward_level(std::int64_t block) const {
    return ((p.forward.base[block] - z_whole) - z_offset) - p.norm_log[block];
  }
  __device__ double backward_level(std::int64_t block) const { return p.backward.base[block]; }

  __device__ double score(std::int64_t row, int c) const {
    double x = score_at(sequence.emissions, score_index(row, c)) - p.level[row];
    if (sequence.baseline != nullptr) x -= sequence.baseline[c];
    return is_mask(p.tables, sequence, x) ? kNone : x;
  }
  __device__ double start_log(std::int64_t row, int c) const {
    double start =
        stored(p.forward, p.forward.gamma, row, c) + score_at(sequence.starts, score_index(row, c));
    if (token_of(row) == 0) start += p.tables.first_scores[c];
    return start + forward_level(row / kBlock);
  }
  __device__ double end_log(std::int64_t row, int c) const {
    double end = stored(p.backward, p.backward.gamma, row, c) + score_at(sequence.ends, score_index(row, c));
    if (token_of(row) + 1 == sequence.length) end += p.tables.last_scores[c];
    return end + backward_level(row / kBlock);
  }
  // Numbers of starts and of ends in the `count` positions from `row` on times the scores that start_log and
  // end_log add. False when one of these is out of range.
  template <bool kLarge>
  __device__ __forceinline__ bool times_starts(std::int64_t row, int count, int c, Real (&number)[kBlock],
                                               int (&power)[kBlock]) const {
    const int edge = token_of(row) == 0 ? 0 : kBlock;
    return times_boundary_scores<kLarge>(sequence.starts, score_index(row, c), p.tables.labels, count, edge,
                                         p.tables.first_scores[c], number, power);
  }
  template <bool kLarge>
  __device__ __forceinline__ bool times_ends(std::int64_t row, int count, int c, Real (&number)[kBlock],
                                             int (&power)[kBlock]) const {
    const int edge = token_of(row) + count == sequence.length ? count - 1 : kBlock;
    return times_boundary_scores<kLarge>(sequence.ends, score_index(row, c), p.tables.labels, count, edge,
                                         p.tables.last_scores[c], number, power);
  }
  // At the position's right boundary; and what follows a start there.
  __device__ double alpha_log(std::int64_t row, int c) const {
    return stored(p.forward, p.forward.alpha, row, c) + forward_level(row / kBlock);
  }
  __device__ double delta_log(std::int64_t row, int c) const {
    return stored(p.backward, p.backward.alpha, row, c) + backward_level(row / kBlock);
  }
  __device__ double content_of(int block, int c) const {
    return p.forward.content[(first_row / kBlock + block) * p.tables.labels + c];
  }

  // Positions of a block that lie inside.
  __device__ int rows_of(int block) const {
    const std::int64_t left = rows - static_cast<std::int64_t>(block) * kBlock;
    return left < kBlock ? static_cast<int>(left) : kBlock;
  }
  // Whether both directions did a block fast, so that its messages are numbers.
  __device__ bool has_numbers(int block) const {
    const std::int64_t at = first_row / kBlock + block;
    return (p.forward.exact[at] | p.backward.exact[at]) == 0;
  }
  // Such blocks lie inside with all their positions, with nothing but emissions on them: [first, last).
  struct PlainBlocks {
    int first, last;
    __device__ bool has(int block) const { return block >= first && block < last; }
  };
  __device__ PlainBlocks plain_blocks() const {
    if (sequence.starts.f32 != nullptr || sequence.starts.f64 != nullptr || sequence.ends.f32 != nullptr ||
        sequence.ends.f64 != nullptr)
      return {0, 0};
    const std::int64_t ends = task.end < sequence.length ? rows : rows - 1;
    return {at_sequence_begin() ? 1 : 0, static_cast<int>(ends / kBlock)};
  }
};

template <class Real>
__device__ SEMICRF_NOINLINE void read_logs(const CountsParameters<Real>& p, int index, int block, int c,
                                           BlockLogs* out) {
  const IntervalMessages<Real> interval(p, index);
  double sum = 0;
  int forbidden = 0;
  for (int slot = 0; slot < kBlock; ++slot) {
    const std::int64_t i = static_cast<std::int64_t>(block) * kBlock + slot;
    const bool inside = i < interval.rows;
    const std::int64_t row = interval.first_row + i;
    out->start[slot] = inside ? interval.start_log(row, c) : kNone;
    out->end[slot] = inside ? interval.end_log(row, c) : kNone;
    const double content = inside ? interval.score(row, c) : 0.0;
    if (content == kNone) {
      ++forbidden;
    } else {
      sum += content;
    }
    out->content[slot] = sum;
    out->forbidden[slot] = forbidden;
  }
}
// A start as seen from the block's right edge, an end as seen from its left one.
__device__ inline double start_at_edge(const BlockLogs& logs, int slot) {
  const int before = slot > 0 ? logs.forbidden[slot - 1] : 0;
  if (logs.forbidden[kBlock - 1] != before) return kNone;
  return logs.start[slot] + (logs.content[kBlock - 1] - (slot > 0 ? logs.content[slot - 1] : 0.0));
}
__device__ inline double end_at_edge(const BlockLogs& logs, int slot) {
  return logs.forbidden[slot] != 0 ? kNone : logs.end[slot] + logs.content[slot];
}

// Contents up to and with each slot of a block as numbers near one and powers of two; behind its `count`
// positions they stay the same. False when one is out of range.
template <bool kPlain, bool kLarge, class Real>
__device__ __forceinline__ bool content_numbers(const IntervalMessages<Real>& interval, std::int64_t row,
                                                int count, int c, Real (&number)[kBlock],
                                                int (&power)[kBlock]) {
  const SequenceView& s = interval.sequence;
  const std::int64_t labels = interval.p.tables.labels;
  const std::int64_t at = interval.score_index(row, c);
  const double baseline = s.baseline != nullptr ? s.baseline[c] : 0.0;
  double value[kBlock];
  if (s.emissions.f32 != nullptr) {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot)
      value[slot] = kPlain || slot < count ? static_cast<double>(s.emissions.f32[at + slot * labels]) : 0.0;
  } else {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot)
      value[slot] = kPlain || slot < count ? s.emissions.f64[at + slot * labels] : 0.0;
  }
  double sum = 0, size = 0;
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    if (kPlain || slot < count) sum += value[slot] - interval.p.level[row + slot] - baseline;
    size = fmax(size, fabs(sum));
    const Scaled<Real> content = number_of<kLarge, Real>(sum);
    number[slot] = content.number;
    power[slot] = content.units;
  }
  return size <= widest_exponent<kLarge>();
}

// A message in the `count` positions of a block, and its levels; zeros behind them.
template <bool kPlain, class Real>
__device__ __forceinline__ void load_block(const MessageView<Real>& message, std::int64_t row, int count,
                                           std::int64_t labels, int c, Real (&number)[kBlock],
                                           int (&level)[kBlock]) {
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot)
    number[slot] = kPlain || slot < count ? message.numbers[(row + slot) * labels + c] : Real(0);
  if constexpr (kPlain) {
#pragma unroll
    for (int slot = 0; slot < kBlock; slot += 4) load4(message.level + row + slot, level + slot);
  } else {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) level[slot] = slot < count ? message.level[row + slot] : 0;
  }
}

// The numbers of blocks of 16 starts or ends, in vectors of four.
//
// Index of a block and label among the blocks of all tasks.
template <class Real>
__device__ __forceinline__ std::int64_t block_index(const BlockNumbers<Real>& b, std::int64_t task,
                                                    int block) {
  return task * b.blocks + block;
}
template <class Real>
__device__ __forceinline__ void load_numbers(const BlockNumbers<Real>& b, std::int64_t block, int labels,
                                             int c, Real (&out)[kBlock]) {
  const Real* from = b.numbers + block * kBlock * labels + 4 * c;
#pragma unroll
  for (int i = 0; i < kBlock; i += 4) load4(from + static_cast<std::int64_t>(i) * labels, out + i);
}
template <class Real>
__device__ __forceinline__ void store_numbers(const BlockNumbers<Real>& b, std::int64_t block, int labels,
                                              int c, const Real (&numbers)[kBlock], BlockScale scale) {
  Real* to = b.numbers + block * kBlock * labels + 4 * c;
#pragma unroll
  for (int i = 0; i < kBlock; i += 4)
    store4(to + static_cast<std::int64_t>(i) * labels, numbers[i], numbers[i + 1], numbers[i + 2],
           numbers[i + 3]);
  b.scale[block * labels + c] = scale;
}

}  // namespace semicrf::cuda
