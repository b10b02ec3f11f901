// Starts and ends of blocks as numbers, for the counts of durations (docs/algorithm.md, "Expected counts"):
// relative to a power of two per block and label. Segments that lie within one block are counted here. The
// states at the marks become such blocks, too.
#include <type_traits>

#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;

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
// plain_blocks; kLarge: scores of any size, and products in double. False when numbers leave the range where
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

// Asks for the numbers and scores of a block that is prepared soon.
template <class Real>
__device__ __forceinline__ void ask_for_messages(const IntervalMessages<Real>& interval, int block, int c) {
  const CountsParameters<Real>& p = interval.p;
  const std::int64_t row = interval.first_row + static_cast<std::int64_t>(block) * kBlock;
  ask_for_block(p.forward.gamma.numbers, row / kBlock, p.tables.labels, c);
  ask_for_block(p.backward.gamma.numbers, row / kBlock, p.tables.labels, c);
  ask_for_line(p.level + row);
  const std::int64_t entry = row / kBlock * p.tables.labels + c;
  ask_for_line(p.forward.gamma.scale + entry);
  ask_for_line(p.backward.gamma.scale + entry);
  ask_for_line(p.forward.content + entry);
  const DeviceScores& scores = interval.sequence.emissions;
  if (scores.f32 != nullptr) ask_for_line(scores.f32 + (interval.score_index(row, 0) + c * kBlock));
}

// A thread per label and piece of an interval.
template <class Real>
__global__ void __launch_bounds__(kThreads, 3)
    prepare_kernel(const __grid_constant__ CountsParameters<Real> p) {
  __shared__ double all_sums[kBlock * kThreads];  // sums of a thread each, to spare its registers
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
#pragma unroll 8
    for (int block = 0; block < first; ++block) sum.add(interval.content_of(block, c));
  }
  const auto plain = interval.plain_blocks();
  const int bias_power = p.bias_power[c];
  const int known_power = bias_power == kNoPower ? 0 : bias_power;
  double within[kBlock];
  double* const sums = all_sums + threadIdx.x;
  for (int k = 0; k < kBlock; ++k) sums[k * kThreads] = 0;
  for (int k = 0; k < kBlock; ++k) within[k] = 0;
  for (int block = first; block < last; ++block) {
    if (block + 1 < last) ask_for_messages(interval, block + 1, c);
    const bool has_numbers = interval.has_numbers(block);
    if (has_numbers && plain.has(block) &&
        prepare_numbers<true, false>(interval, index, block, c, known_power, &sum, sums))
      continue;
    if (!has_numbers || (!prepare_other_numbers<false>(p, index, block, c, known_power, &sum, sums) &&
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

}  // namespace

template <class Real>
void prepare_blocks(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t lanes = static_cast<std::int64_t>(parameters.num_tasks) * parameters.tables.labels;
  SEMICRF_CUDA_CHECK(
      launch(prepare_kernel<Real>, shape_for(lanes * parameters.pieces, kThreads), stream, parameters));
  SEMICRF_CUDA_CHECK(launch(prepare_marks_kernel<Real>,
                            shape_for(lanes * 2 * parameters.before.blocks, kThreads), stream, parameters));
}

template void prepare_blocks<float>(const CountsParameters<float>&, cudaStream_t);
template void prepare_blocks<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
