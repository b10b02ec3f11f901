// Expected counts of durations as correlations of numbers (docs/algorithm.md, "Expected counts").
//
// A start in slot p of a block and an end in slot q of the block o blocks to its right are 16 o + 1 + q - p
// apart. Durations are counted in groups of 16: group m, 16 m + 1 .. 16 m + 16, joins each block to the
// blocks m and m + 1 to its right, so that a thread with 16 sums in registers does 256 multiply-adds for 32
// numbers it reads. Three steps: blocks are made numbers relative to a power of two (and what lies within one
// block is counted, in double), so are the states at the marks, then every thread counts one group of one
// label over an interval and over the mark at its right end.
#include <type_traits>

#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;

// --- numbers of a block, in vectors of four ---

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

// --- blocks as numbers ---

// Sixteen logarithms, less a content sum, as numbers in [0, 2).
template <class Real>
__device__ inline void store_logs(const BlockNumbers<Real>& to, std::int64_t block, int labels, int c,
                                  const double* logs, double high, double low, int forbidden) {
  double most = kNone;
  for (int slot = 0; slot < kBlock; ++slot) most = fmax(most, logs[slot]);
  Real numbers[kBlock];
  BlockScale scale{kNoNumber, forbidden, 0};
  if (most == kNone) {
    for (int slot = 0; slot < kBlock; ++slot) numbers[slot] = Real(0);
  } else {
    const PowerAndNumber top = split_power(most, high, low);
    scale.power = top.power;
    for (int slot = 0; slot < kBlock; ++slot)
      numbers[slot] = static_cast<Real>(exp(logs[slot] - most) * top.number);
  }
  store_numbers(to, block, labels, c, numbers, scale);
}

// Segments within one block from its logarithms: products of numbers where none of them can vanish, else one
// exponential each.
template <class Real>
__device__ inline void count_within(const CountsParameters<Real>& p, const BlockLogs& logs, int c,
                                    double* within) {
  constexpr double kWidest = 300;
  double start[kBlock], end[kBlock];  // relative to the block's left edge
  double most_start = kNone, most_end = kNone, least_start = -kNone, least_end = -kNone;
  for (int slot = 0; slot < kBlock; ++slot) {
    start[slot] = logs.start[slot] - (slot > 0 ? logs.content[slot - 1] : 0.0);
    end[slot] = logs.end[slot] + logs.content[slot];
    most_start = fmax(most_start, start[slot]);
    most_end = fmax(most_end, end[slot]);
    if (start[slot] > kNone) least_start = fmin(least_start, start[slot]);
    if (end[slot] > kNone) least_end = fmin(least_end, end[slot]);
  }
  if (most_start == kNone || most_end == kNone) return;
  const double scale = most_start + most_end + (p.bias_power[c] == kNoPower ? 0 : p.bias_power[c]) * kLog2;
  const bool products = most_start - least_start <= kWidest && most_end - least_end <= kWidest &&
                        scale <= kWidest && scale >= -2 * kWidest;
  if (products) {
    const double factor = exp(scale);
    for (int slot = 0; slot < kBlock; ++slot) {
      start[slot] = exp(start[slot] - most_start) * factor;
      end[slot] = exp(end[slot] - most_end);
    }
  }
  for (int k = 0; k < kBlock && k < p.tables.duration; ++k) {
    const double bias = p.tables.bias[static_cast<std::int64_t>(k) * p.tables.width + c];
    double sum = 0;
    for (int first = 0; first + k < kBlock; ++first) {
      if (logs.forbidden[first + k] != (first > 0 ? logs.forbidden[first - 1] : 0)) continue;
      sum += products ? start[first] * end[first + k] : exp(start[first] + end[first + k] + bias);
    }
    within[k] += products ? sum * p.weight[k * p.tables.labels + c] : sum;
  }
}

// Any block, from logarithms. Segments within it are added to within[16].
template <class Real>
__device__ SEMICRF_NOINLINE void prepare_logs(const CountsParameters<Real>& p, int index, int block, int c,
                                              CarriedContent* sum, double* within) {
  BlockLogs logs;
  read_logs(p, index, block, c, &logs);
  count_within(p, logs, c, within);
  double edge[kBlock];
  for (int slot = 0; slot < kBlock; ++slot) edge[slot] = end_at_edge(logs, slot);
  store_logs(p.ends, block_index(p.ends, index, block), p.tables.labels, c, edge, -sum->high, -sum->low,
             sum->forbidden);
  for (int slot = 0; slot < kBlock; ++slot) edge[slot] = start_at_edge(logs, slot);
  sum->add(logs.forbidden[kBlock - 1] != 0 ? kNone : logs.content[kBlock - 1]);
  store_logs(p.starts, block_index(p.starts, index, block), p.tables.labels, c, edge, sum->high, sum->low,
             sum->forbidden);
}

// What numbers below two, relative to exp(scale) and a power of two, are multiplied with, and what they are
// relative to then. kEmpty: all are zero.
struct NumbersScale {
  double by;
  BlockScale scale;
};
__device__ __forceinline__ NumbersScale numbers_scale(double scale, int power, double high, double low,
                                                      int forbidden) {
  if (is_empty(power) || scale == kNone) return {0.0, {kNoNumber, forbidden, 0}};
  const PowerAndNumber top = split_power(scale, high, low);
  return {top.number, {top.power + power, forbidden, 0}};
}

// Starts and ends of a block as numbers and powers of two, relative to its left edge.
template <class Real>
struct EdgeNumbers {
  Real starts[kBlock], ends[kBlock];
  int start_power[kBlock], end_power[kBlock];
};

// Segments within a block, added to `sums` (16, threads), which lack the weights of the durations. `scale`:
// what products of a start and an end are multiplied with, as a logarithm, and 2^bias_power besides.
//
// A start may lie behind an end, where they meet in no segment and their product may be of any size. In order
// they meet in one whose probability is the product times exp(bias) at most. So every start is relative to
// about the largest up to it, and products stay in the range of a Number but for durations that are ruled
// out. False where these take them out of it.
template <class Number, class Real>
__device__ __forceinline__ bool count_in_order(const EdgeNumbers<Real>& edges, double scale, int bias_power,
                                               double* sums) {
  constexpr int kRoom = sizeof(Number) == sizeof(float) ? 30 : 100;  // above the reference a start may be
  int units = near_int(scale * (1 / kLog2));
  const auto factor = static_cast<Number>(exp(fma(-static_cast<double>(units), kLog2, scale)));
  units += bias_power;
  const auto top_of = [](Real number, int power) {
    return number > Real(0) ? power + exponent_of(number) : kEmpty;
  };
  Number start[kBlock], part[kBlock];
  int largest = kEmpty, reference = kEmpty;
  bool wide = false;
#pragma unroll
  for (int k = 0; k < kBlock; ++k) part[k] = Number(0);
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    const int top = top_of(edges.starts[slot], edges.start_power[slot]);
    largest = larger(largest, top);
    if (top > reference + kRoom) {
      const Number by = power_of_two(reference - top, Number());
#pragma unroll
      for (int before = 0; before < slot; ++before) start[before] *= by;
      reference = top;
    }
    wide = wide || largest + top_of(edges.ends[slot], edges.end_power[slot]) + units > kMostPower<Number>;
    start[slot] =
        static_cast<Number>(edges.starts[slot]) * power_of_two(edges.start_power[slot] - reference, Number());
    const Number end = static_cast<Number>(edges.ends[slot]) *
                       power_of_two(edges.end_power[slot] + reference + units, Number()) * factor;
#pragma unroll
    for (int k = 0; k <= slot; ++k) part[k] = fused(start[slot - k], end, part[k]);
  }
  if (wide) return false;
#pragma unroll
  for (int k = 0; k < kBlock; ++k) sums[k * kThreads] += static_cast<double>(part[k]);
  return true;
}
// Starts and ends of a block as numbers, relative to its left edge throughout. kPlain: of IntervalMessages'
// is_plain; kLarge: scores of any size, and products in double. False when numbers leave the range where
// nothing can be lost.
template <bool kPlain, bool kLarge, class Real>
__device__ __forceinline__ bool prepare_numbers(const IntervalMessages<Real>& interval, int index, int block,
                                                int c, int bias_power, CarriedContent* sum, double* sums) {
  const CountsParameters<Real>& p = interval.p;
  const std::int64_t labels = p.tables.labels;
  const std::int64_t row = interval.first_row + static_cast<std::int64_t>(block) * kBlock;
  const std::int64_t scale_at = row / kBlock * labels + c;
  const int count = kPlain ? kBlock : interval.rows_of(block);
  EdgeNumbers<Real> edges;
  Real content[kBlock];
  int content_power[kBlock];
  load_block<kPlain>(p.forward.gamma, row, count, labels, c, edges.starts, edges.start_power);
  load_block<kPlain>(p.backward.gamma, row, count, labels, c, edges.ends, edges.end_power);
  if (!content_numbers<kPlain, kLarge>(interval, row, count, c, content, content_power)) return false;
  if constexpr (!kPlain) {
    if (!interval.template times_starts<kLarge>(row, count, c, edges.starts, edges.start_power) ||
        !interval.template times_ends<kLarge>(row, count, c, edges.ends, edges.end_power))
      return false;
  }
  int most_start = kEmpty, most_end = kEmpty;
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot) {
    if (slot > 0) {
      edges.starts[slot] *= reciprocal(content[slot - 1]);
      edges.start_power[slot] -= content_power[slot - 1];
    }
    edges.ends[slot] *= content[slot];
    edges.end_power[slot] += content_power[slot];
    if (edges.starts[slot] > Real(0))
      most_start = larger(most_start, edges.start_power[slot] + exponent_of(edges.starts[slot]));
    if (edges.ends[slot] > Real(0))
      most_end = larger(most_end, edges.end_power[slot] + exponent_of(edges.ends[slot]));
  }
  const double start_scale = p.forward.gamma.scale[scale_at] + interval.forward_level(row / kBlock);
  const double end_scale = p.backward.gamma.scale[scale_at] + interval.backward_level(row / kBlock);
  Real numbers[kBlock];
  const NumbersScale of_ends = numbers_scale(end_scale, most_end, -sum->high, -sum->low, sum->forbidden);
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot)
    numbers[slot] = edges.ends[slot] * power_of_two(edges.end_power[slot] - most_end, Real()) *
                    static_cast<Real>(of_ends.by);
  store_numbers(p.ends, block_index(p.ends, index, block), p.tables.labels, c, numbers, of_ends.scale);
  const NumbersScale of_starts = numbers_scale(start_scale, most_start, sum->high, sum->low, sum->forbidden);
#pragma unroll
  for (int slot = 0; slot < kBlock; ++slot)
    numbers[slot] = edges.starts[slot] * power_of_two(edges.start_power[slot] - most_start, Real()) *
                    static_cast<Real>(of_starts.by);
  store_numbers(p.starts, block_index(p.starts, index, block), p.tables.labels, c, numbers, of_starts.scale);
  using Number = std::conditional_t<kLarge, double, Real>;
  if (!is_empty(most_start) && !is_empty(most_end) &&
      !count_in_order<Number>(edges, start_scale + end_scale, bias_power, sums))
    return false;
  sum->add(interval.content_of(block, c));
  return true;
}
// Blocks with boundary scores, at an end of the sequence, or with fewer than 16 positions.
template <bool kLarge, class Real>
__device__ SEMICRF_NOINLINE bool prepare_other_numbers(const CountsParameters<Real>& p, int index, int block,
                                                       int c, int bias_power, CarriedContent* sum,
                                                       double* sums) {
  return prepare_numbers<false, kLarge>(IntervalMessages<Real>(p, index), index, block, c, bias_power, sum,
                                        sums);
}

// A thread per label and piece of an interval.
template <class Real>
__global__ void __launch_bounds__(kThreads, 3)
    prepare_kernel(const __grid_constant__ CountsParameters<Real> p) {
  __shared__ double all_sums[kBlock * kThreads];  // of a thread each, to spare its registers
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t teams = i / p.tables.labels;
  if (teams >= static_cast<std::int64_t>(p.num_tasks) * p.pieces) return;
  const int c = static_cast<int>(i % p.tables.labels);
  const int piece = static_cast<int>(teams % p.pieces);
  const int index = static_cast<int>(teams / p.pieces);
  const IntervalMessages<Real> interval(p, index);
  const int first = piece * kPieceBlocks;
  const int blocks = interval.is_feasible() ? interval.blocks : 0;
  const int last = first + kPieceBlocks < blocks ? first + kPieceBlocks : blocks;
  CarriedContent sum;
  if (first < last) {
    for (int block = 0; block < first; ++block) sum.add(interval.content_of(block, c));
  }
  const int bias_power = p.bias_power[c];
  const int known_power = bias_power == kNoPower ? 0 : bias_power;
  double within[kBlock];
  double* const sums = all_sums + threadIdx.x;
  for (int k = 0; k < kBlock; ++k) sums[k * kThreads] = 0;
  for (int k = 0; k < kBlock; ++k) within[k] = 0;
  for (int block = first; block < last; ++block) {
    if (interval.is_plain(block) &&
        prepare_numbers<true, false>(interval, index, block, c, known_power, &sum, sums))
      continue;
    if (!interval.has_numbers(block) ||
        (!prepare_other_numbers<false>(p, index, block, c, known_power, &sum, sums) &&
         !prepare_other_numbers<true>(p, index, block, c, known_power, &sum, sums)))
      prepare_logs(p, index, block, c, &sum, within);
  }
  double* out = p.within + teams * kBlock * p.tables.labels + c;
#pragma unroll
  for (int k = 0; k < kBlock; ++k)
    out[static_cast<std::int64_t>(k) * p.tables.labels] =
        fma(sums[k * kThreads], p.weight[k * p.tables.labels + c], within[k]);
}

// States at the marks: starts left of it at the blocks of virtual positions 0 .. 16 blocks - 1, the mark at
// their right end; ends right of it. Contents reach to the mark, so that nothing lies between.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    prepare_marks_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int c = static_cast<int>(i % p.tables.labels);
  const std::int64_t teams = i / p.tables.labels;
  const int sides = 2 * p.before.blocks;
  const int block = static_cast<int>(teams % sides) / 2;
  const int index = static_cast<int>(teams / sides);
  if (teams >= static_cast<std::int64_t>(p.num_tasks) * sides) return;
  const bool left = teams % 2 == 0;
  const IntervalMessages<Real> interval(p, index);
  const double* rows = left ? interval.before() : interval.after();
  double logs[kBlock];
  for (int slot = 0; slot < kBlock; ++slot) {
    const int position = block * kBlock + slot;
    const int distance = left ? p.before.blocks * kBlock - position : position + 1;
    logs[slot] = distance < p.tables.duration && !interval.task.at_sequence_end
                     ? rows[static_cast<std::int64_t>(distance - 1) * p.tables.labels + c]
                     : kNone;
  }
  const BlockNumbers<Real>& to = left ? p.before : p.after;
  store_logs(to, block_index(to, index, block), p.tables.labels, c, logs, left ? interval.z_log : 0.0, 0.0,
             0);
}

// --- the correlation ---

// Sums over p of start[p] times the number p + j ends on, of 32 in a row: 16 with the first factor, then 16
// with the second.
template <class Real>
__device__ __forceinline__ void correlate(const Real (&start)[kBlock], Real first, Real second,
                                          const Real (&near)[kBlock], const Real (&far)[kBlock],
                                          Real (&sums)[kBlock]) {
#pragma unroll
  for (int p = 0; p < kBlock; ++p) {
    const Real a = start[p] * first;
    const Real b = start[p] * second;
#pragma unroll
    for (int j = 0; j < kBlock; ++j) {
      sums[j] = p + j < kBlock ? fused(a, near[(p + j) % kBlock], sums[j])
                               : fused(b, far[(p + j) % kBlock], sums[j]);
    }
  }
}

// One pair of blocks over logarithms: the durations of group m of a start block and an end block. crossing:
// blocks of the states at the mark.
struct PairOfBlocks {
  int index, c, group, start, end;
  bool crossing;
};
template <class Real>
__device__ SEMICRF_NOINLINE void count_pair(const CountsParameters<Real>& p, PairOfBlocks pair,
                                            double* counts) {
  const IntervalMessages<Real> interval(p, pair.index);
  double start[kBlock], end[kBlock];
  int distance = pair.end - pair.start;
  double between = 0;
  if (pair.crossing) {
    distance += p.before.blocks;
    for (int slot = 0; slot < kBlock; ++slot) {
      const int left = (p.before.blocks - pair.start) * kBlock - slot;
      const int right = pair.end * kBlock + slot + 1;
      start[slot] = left < p.tables.duration
                        ? interval.before()[static_cast<std::int64_t>(left - 1) * p.tables.labels + pair.c]
                        : kNone;
      end[slot] = right < p.tables.duration
                      ? interval.after()[static_cast<std::int64_t>(right - 1) * p.tables.labels + pair.c]
                      : kNone;
    }
    between = -interval.z_log;
  } else {
    BlockLogs logs;
    read_logs(p, pair.index, pair.start, pair.c, &logs);
    for (int slot = 0; slot < kBlock; ++slot) start[slot] = start_at_edge(logs, slot);
    read_logs(p, pair.index, pair.end, pair.c, &logs);
    for (int slot = 0; slot < kBlock; ++slot) end[slot] = end_at_edge(logs, slot);
    for (int block = pair.start + 1; block < pair.end; ++block) between += interval.content_of(block, pair.c);
  }
  for (int j = 0; j < kBlock; ++j) {
    const int k = pair.group * kBlock + j + 1;
    if (k > p.tables.duration) break;
    const double bias = p.tables.bias[static_cast<std::int64_t>(k - 1) * p.tables.width + pair.c];
    if (bias == kNone) continue;
    for (int slot = 0; slot < kBlock; ++slot) {
      const int last = slot + k - 1 - distance * kBlock;
      if (last < 0 || last >= kBlock || start[slot] == kNone || end[last] == kNone) continue;
      counts[j] += exp(start[slot] + between + end[last] + bias);
    }
  }
}

__device__ __forceinline__ BlockScale no_scale() { return {kNoNumber, 0, 0}; }

// What the numbers of two blocks are multiplied with; 0 where that is negligible, and where it is so large
// that the pair is counted over logarithms.
template <class Real>
__device__ __forceinline__ Real factor_of(const BlockScale& start, const BlockScale& end, int bias_power,
                                          bool* wide) {
  const long long power = start.power + end.power + bias_power;
  if (start.forbidden != end.forbidden || power < kLeastPower) return Real(0);
  if (power <= kMostPower<Real>) return power_of_two(static_cast<int>(power), Real());
  *wide = true;
  return Real(0);
}

// Start blocks [from, to) of an interval or of the state at its mark: block b meets the end blocks b + shift
// and b + shift + 1 within [0, ends).
struct Walk {
  int index, group, c;
  int from, to, shift, ends;
  bool crossing;
};

// The pairs of a walk that are counted over logarithms.
template <class Real>
__device__ SEMICRF_NOINLINE void count_wide_pairs(const CountsParameters<Real>& p, Walk w, double* counts) {
  const BlockNumbers<Real>& starts = w.crossing ? p.before : p.starts;
  const BlockNumbers<Real>& ends = w.crossing ? p.after : p.ends;
  const int bias_power = p.bias_power[w.group * p.tables.labels + w.c];
  for (int b = w.from; b < w.to; ++b) {
    for (int end = b + w.shift; end <= b + w.shift + 1; ++end) {
      if (end < 0 || end >= w.ends || (!w.crossing && end == b)) continue;
      bool wide = false;
      factor_of<Real>(starts.scale[block_index(starts, w.index, b) * p.tables.labels + w.c],
                      ends.scale[block_index(ends, w.index, end) * p.tables.labels + w.c], bias_power, &wide);
      if (wide) count_pair(p, PairOfBlocks{w.index, w.c, w.group, b, end, w.crossing}, counts);
    }
  }
}

// A thread per group of durations and label of an interval.
template <class Real>
class GroupCounter {
 public:
  // sums: (16, threads), of this thread; they are rarely added to, so that they need not be registers.
  __device__ GroupCounter(const CountsParameters<Real>& p, int index, int group, int c, Wide<Real>* sums)
      : p_(p),
        index_(index),
        group_(group),
        c_(c),
        bias_power_(p.bias_power[group * p.tables.labels + c]),
        sums_(sums) {
#pragma unroll
    for (int j = 0; j < kBlock; ++j) {
      sums_[j * kThreads] = Wide<Real>::of(0);
      parts_[j] = Real(0);
    }
  }

  __device__ void run() {
    const IntervalMessages<Real> interval(p_, index_);
    Walk inside{index_, group_, c_, 0, interval.blocks - group_, group_, interval.blocks, false};
    // Counts cross the mark in a second walk.
    const int marks = interval.task.at_sequence_end ? 0 : p_.before.blocks;
    const int first = marks - group_ - 1 > 0 ? marks - group_ - 1 : 0;
    Walk across{index_, group_, c_, first, marks, group_ - marks, marks, true};
    if (bias_power_ == kNoPower || !interval.is_feasible()) inside.to = across.to = 0;
    const bool wide_inside = walk(p_.starts, p_.ends, inside);
    const bool wide_across = walk(p_.before, p_.after, across);
    double* out =
        p_.parts + index_ * p_.entries + static_cast<std::int64_t>(group_) * kBlock * p_.tables.labels + c_;
    const double* weight = p_.weight + static_cast<std::int64_t>(group_) * kBlock * p_.tables.labels + c_;
#pragma unroll
    for (int j = 0; j < kBlock; ++j)
      out[j * p_.tables.labels] = sums_[j * kThreads].value() * weight[j * p_.tables.labels];
    if (wide_inside || wide_across) {
      double counts[kBlock];
      for (int j = 0; j < kBlock; ++j) counts[j] = 0;
      if (wide_inside) count_wide_pairs(p_, inside, counts);
      if (wide_across) count_wide_pairs(p_, across, counts);
      for (int j = 0; j < kBlock; ++j) out[j * p_.tables.labels] += counts[j];
    }
    if (group_ != 0) return;
    for (int piece = 0; piece < p_.pieces; ++piece) {
      const double* within =
          p_.within + (static_cast<std::int64_t>(index_) * p_.pieces + piece) * kBlock * p_.tables.labels +
          c_;
      for (int j = 0; j < kBlock; ++j) out[j * p_.tables.labels] += within[j * p_.tables.labels];
    }
  }

 private:
  static constexpr int kBatch = 8;  // blocks whose products are added up in Real

  // Ends of one block in registers: numbers are read when a factor asks for them.
  struct EndBlock {
    Real numbers[kBlock];
    BlockScale scale;
    bool loaded;
  };

  // Whether there are pairs for count_wide_pairs.
  __device__ __forceinline__ bool walk(const BlockNumbers<Real>& starts, const BlockNumbers<Real>& ends,
                                       const Walk& w) {
    if (w.from >= w.to) return false;
    const std::int64_t first_start = block_index(starts, index_, 0);
    const std::int64_t first_end = block_index(ends, index_, 0);
    bool wide = false;
    EndBlock one, other;
    find_end(ends, first_end, w.from + w.shift, w.ends, one);
    const auto step = [&](int b, EndBlock& near, EndBlock& far) {
      find_end(ends, first_end, b + w.shift + 1, w.ends, far);
      const BlockScale scale = starts.scale[(first_start + b) * p_.tables.labels + c_];
      // Segments within a block were counted before.
      const bool same = !w.crossing && w.shift == 0;
      const Real first = same ? Real(0) : factor_of<Real>(scale, near.scale, bias_power_, &wide);
      const Real second = factor_of<Real>(scale, far.scale, bias_power_, &wide);
      if (first > Real(0) || second > Real(0)) {
        Real start[kBlock];
        load_numbers(starts, first_start + b, p_.tables.labels, c_, start);
        load_end(ends, first_end, b + w.shift + 1, w.ends, far);
        if (!near.loaded) load_end(ends, first_end, b + w.shift, w.ends, near);
        correlate(start, first, second, near.numbers, far.numbers, parts_);
      }
      if ((b - w.from) % kBatch == kBatch - 1) flush();
    };
    for (int b = w.from; b < w.to; b += 2) {
      step(b, one, other);
      if (b + 1 < w.to) step(b + 1, other, one);
    }
    flush();
    return wide;
  }
  __device__ __forceinline__ void find_end(const BlockNumbers<Real>& ends, std::int64_t first, int block,
                                           int count, EndBlock& to) const {
    to.loaded = false;
    to.scale = block >= 0 && block < count ? ends.scale[(first + block) * p_.tables.labels + c_] : no_scale();
  }
  __device__ __forceinline__ void load_end(const BlockNumbers<Real>& ends, std::int64_t first, int block,
                                           int count, EndBlock& to) const {
    to.loaded = true;
    if (block >= 0 && block < count) {
      load_numbers(ends, first + block, p_.tables.labels, c_, to.numbers);
    } else {
#pragma unroll
      for (int j = 0; j < kBlock; ++j) to.numbers[j] = Real(0);
    }
  }
  __device__ __forceinline__ void flush() {
#pragma unroll
    for (int j = 0; j < kBlock; ++j) {
      Wide<Real> sum = sums_[j * kThreads];
      sum.add(Wide<Real>::exactly(parts_[j]));
      sums_[j * kThreads] = sum;
      parts_[j] = Real(0);
    }
  }

  const CountsParameters<Real>& p_;
  const int index_, group_, c_, bias_power_;
  Wide<Real>* const sums_;
  Real parts_[kBlock];
};

template <class Real>
__global__ void __launch_bounds__(kThreads, 4)
    count_kernel(const __grid_constant__ CountsParameters<Real> p) {
  __shared__ Wide<Real> all_sums[kBlock * kThreads];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int c = static_cast<int>(i % p.tables.labels);
  const std::int64_t teams = i / p.tables.labels;
  const int group = static_cast<int>(teams % p.groups);
  const int index = static_cast<int>(teams / p.groups);
  if (index < p.num_tasks) GroupCounter<Real>(p, index, group, c, all_sums + threadIdx.x).run();
}

template <class Real>
__global__ void __launch_bounds__(kThreads)
    level_kernel(const __grid_constant__ CountsParameters<Real> p, std::int64_t mark, double* level) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i / mark >= p.num_tasks) return;
  const AnchorTask& task = p.tasks[i / mark];
  const std::int64_t token = task.begin + i % mark;
  if (token >= task.end) return;
  const SequenceView& s = p.sequences[task.sequence];
  const std::int64_t row = task.first_row + i % mark;
  double most = kNone;
  for (int c = 0; c < p.tables.labels; ++c)
    most = fmax(most, score_at(s.emissions, (token - s.begin) * p.tables.labels + c));
  level[row] = p.forward.shift[row] + (most == kNone ? 0.0 : most);
}

__global__ void __launch_bounds__(kThreads)
    add_kernel(const RowGroups groups, const double* rows, std::int64_t entries, double* sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= groups.sums * entries) return;
  const std::int64_t entry = i % entries;
  const std::int64_t target = groups.first_sum + i / entries;
  std::int64_t begin = groups.begins[target] - groups.first;
  std::int64_t end = groups.begins[target + 1] - groups.first;
  if (begin < 0) begin = 0;
  if (end > groups.count) end = groups.count;
  double sum = sums[target * entries + entry];
  for (std::int64_t row = begin; row < end; ++row) sum += rows[row * entries + entry];
  sums[target * entries + entry] = sum;
}

}  // namespace

template <class Real>
void find_levels(const CountsParameters<Real>& parameters, std::int64_t mark, double* level,
                 cudaStream_t stream) {
  const LaunchShape shape = shape_for(parameters.num_tasks * mark, kThreads);
  SEMICRF_CUDA_CHECK(launch(level_kernel<Real>, shape, stream, parameters, mark, level));
}

template <class Real>
void count_durations(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const auto run = [&](auto kernel, int threads) {  // per interval and label
    const std::int64_t lanes = static_cast<std::int64_t>(parameters.num_tasks) * parameters.tables.labels;
    SEMICRF_CUDA_CHECK(launch(kernel, shape_for(lanes * threads, kThreads), stream, parameters));
  };
  run(prepare_kernel<Real>, parameters.pieces);
  run(prepare_marks_kernel<Real>, 2 * parameters.before.blocks);
  run(count_kernel<Real>, parameters.groups);
}

void add_rows(const RowGroups& groups, const double* rows, std::int64_t entries, double* sums,
              cudaStream_t stream) {
  const LaunchShape shape = shape_for(groups.sums * entries, kThreads);
  SEMICRF_CUDA_CHECK(launch(add_kernel, shape, stream, groups, rows, entries, sums));
}

template void find_levels<float>(const CountsParameters<float>&, std::int64_t, double*, cudaStream_t);
template void find_levels<double>(const CountsParameters<double>&, std::int64_t, double*, cudaStream_t);
template void count_durations<float>(const CountsParameters<float>&, cudaStream_t);
template void count_durations<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
