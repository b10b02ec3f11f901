// Expected counts of transitions: per interval the product of a (C, positions) by a (positions, C) matrix,
// alpha before each position and what follows a start there (docs/algorithm.md, "Expected counts").
//
// A warp takes in 16 positions at a time as numbers, alpha relative to one label's, through shared memory,
// and adds up their products in registers, a tile of the matrix per lane. More than 32 labels come in panels
// of at most 32: a block of threads per pair of panels. Positions whose numbers leave their range are counted
// over logarithms.
#include <algorithm>

#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kMostWarps = 8;

// One boundary over logarithms: between position `row` and the next, before the first one, or at the mark.
enum class RowKind { kInside, kFirst, kMark };
struct RowOfTile {
  RowKind kind;
  int index, from, to;
  std::int64_t row;
};
template <int kFrom, int kTo, class Real>
__device__ SEMICRF_NOINLINE void count_row(const CountsParameters<Real>& p, RowOfTile at, double* counts) {
  const IntervalMessages<Real> interval(p, at.index);
  const std::int64_t of_state = static_cast<std::int64_t>(p.tables.duration) * p.tables.labels;
  for (int i = 0; i < kFrom * kTo; ++i) {
    const int from = at.from + i / kTo;
    const int to = at.to + i % kTo;
    if (from >= p.tables.labels || to >= p.tables.labels) continue;
    const double score = p.tables.transition_log[static_cast<std::int64_t>(from) * p.tables.width + to];
    if (score == kNone) continue;
    double left = 0, right = 0;
    if (at.kind == RowKind::kInside) {
      left = interval.alpha_log(at.row, from);
      right = interval.delta_log(at.row + 1, to);
    } else if (at.kind == RowKind::kFirst) {
      left = -interval.z_whole - interval.z_offset;
      right = interval.delta_log(at.row, to);
    } else {
      left = interval.before()[of_state + from];
      right = interval.after()[of_state + to] - interval.z_log;
    }
    counts[i] += exp(left + right + score);
  }
}

// exp(score of a transition) over the bounds of its labels.
template <class Real>
__device__ inline double weight_of(const CountsParameters<Real>& p, int from, int to) {
  if (from >= p.tables.labels || to >= p.tables.labels) return 0;
  const double score = p.tables.transition_log[static_cast<std::int64_t>(from) * p.tables.width + to];
  return score == kNone ? 0.0 : exp(score - (p.tables.source_bound[from] + p.tables.transition_bound[to]));
}

// Powers of two that numbers may be multiplied by: beyond them a block is counted over logarithms.
template <class Real>
inline constexpr int kMostFactor = sizeof(Real) == sizeof(float) ? 127 : 1023;

// Counts transitions of kWidth sources from `first_from` on and as many targets from `first_to` on (kPanels;
// else from 0 on). The lanes of a warp are kStep rows of kGroup labels when they take positions in, and 4 x 8
// tiles when they multiply.
template <class Real, int kWidth, bool kPanels>
class WarpCounter {
 public:
  static constexpr int kGroup = kWidth <= 8 ? 8 : (kWidth <= 16 ? 16 : 32);
  static constexpr int kStep = 32 / kGroup;
  static constexpr int kSteps = kBlock / kStep;
  static constexpr int kFrom = kWidth / 4;  // sources of a tile
  static constexpr int kTo = kWidth / 8;
  static constexpr int kEntries = kFrom * kTo;

  // rows: (2, 16, kWidth) shared. sums, exact: (kEntries) zeros, which are rarely added to: memory of the
  // caller, so that they take no registers.
  __device__ WarpCounter(const CountsParameters<Real>& p, int index, int first_from, int first_to, Real* rows,
                         double* sums, double* exact)
      : p_(p),
        interval_(p, index),
        index_(index),
        first_from_(first_from),
        first_to_(first_to),
        label_(static_cast<int>(threadIdx.x % 32) % kGroup),
        first_row_(static_cast<int>(threadIdx.x % 32) / kGroup),
        from_(static_cast<int>(threadIdx.x % 32) / 8 * kFrom),
        to_(static_cast<int>(threadIdx.x % 32) % 8 * kTo),
        alpha_(rows),
        delta_(rows + kBlock * kWidth),
        sums_(sums),
        exact_(exact) {}

  __device__ __forceinline__ void run(int first, int last) {
#pragma unroll
    for (int i = 0; i < kEntries; ++i) parts_[i] = Real(0);
    ask_for_rows(first, last);
    for (int block = first; block < last; ++block) {
      ask_for_rows(block + 1, last);
      __syncwarp();
      const unsigned wide = load_rows(block);
      __syncwarp();
      multiply();
      for (int r = 0; wide != 0 && r < kBlock; ++r) {
        if ((wide >> r & 1) == 0) continue;
        const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock + r;
        count_exactly(RowKind::kInside, row);
      }
      if ((block - first) % 4 == 3) flush();
    }
    flush();
  }
  // The boundary at the mark, and before the first position.
  __device__ void count_edges() {
    if (interval_.at_sequence_begin() && p_.tables.initial_transition != 0)
      count_exactly(RowKind::kFirst, interval_.first_row);
    if (!interval_.task.at_sequence_end) count_exactly(RowKind::kMark, 0);
  }
  __device__ __forceinline__ void write_to(double* counts) const {  // (kWidth, kWidth)
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      const int from = from_ + i / kTo;
      const int to = to_ + i % kTo;
      counts[from * kWidth + to] =
          fma(sums_[i], weight_of(p_, first_from_ + from, first_to_ + to), exact_[i]);
    }
  }

 private:
  // Whether this lane has a label of the panel that begins at `first`.
  __device__ __forceinline__ bool is_label(int first) const {
    return (!kPanels || label_ < kWidth) && first + label_ < p_.tables.labels;
  }
  __device__ __forceinline__ void count_exactly(RowKind kind, std::int64_t row) {
    count_row<kFrom, kTo>(p_, RowOfTile{kind, index_, first_from_ + from_, first_to_ + to_, row}, exact_);
  }
  // Asks for a block that is loaded soon.
  __device__ __forceinline__ void ask_for_rows(int block, int last) const {
    const std::int64_t at = interval_.first_row / kBlock + block;
    const int labels = p_.tables.labels;
    if (block >= last) return;
    for (int label = static_cast<int>(threadIdx.x % 32); label < labels; label += 32) {
      ask_for_block(p_.forward.alpha.numbers, at, labels, label);
      ask_for_block(p_.backward.alpha.numbers, at, labels, label);
    }
  }
  // Row r: alpha at the right boundary of position 16 block + r, delta of the position after it. Alpha is
  // relative to the level of its row, and to what all labels have in common; all else goes with delta.
  // Returns the rows that are counted over logarithms: all, with zeros in their place, when one is.
  __device__ __forceinline__ unsigned load_rows(int block) {
    const std::int64_t at = interval_.first_row / kBlock + block;
    const bool next = block + 1 < interval_.blocks;
    const std::int64_t labels = p_.tables.labels;
    const bool is_source = is_label(first_from_), is_target = is_label(first_to_);
    const std::int64_t source = is_source ? first_from_ + label_ : 0;
    const std::int64_t target = is_target ? first_to_ + label_ : 0;
    const std::int64_t left = interval_.rows - 1 - static_cast<std::int64_t>(block) * kBlock;
    const int count = left < kBlock ? static_cast<int>(left) : kBlock;  // rows inside
    bool bad =
        p_.forward.exact[at] != 0 || p_.backward.exact[at] != 0 || (next && p_.backward.exact[at + 1] != 0);
    Real alpha[kSteps], delta[kSteps];
    const std::int64_t first = (at * kBlock + first_row_) * labels;
    const Real* const alphas = p_.forward.alpha.numbers + (first + source);
    const Real* const deltas = p_.backward.alpha.numbers + (first + labels + target);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const bool inside = count == kBlock || first_row_ + i * kStep < count;
      alpha[i] = inside ? alphas[i * kStep * labels] : Real(0);
      delta[i] = inside ? deltas[i * kStep * labels] : Real(0);
    }
    // What both numbers of the row whose number is the lane's are relative to.
    const int lane = static_cast<int>(threadIdx.x % 32);
    const std::int64_t row = at * kBlock + lane;
    const int levels = lane < count ? p_.forward.alpha.level[row] + p_.backward.alpha.level[row + 1] : 0;
    const double* const own = p_.forward.alpha.scale + at * labels;
    const double* const scale = p_.backward.alpha.scale + at * labels + target;
    const double level = own[0] + interval_.forward_level(at) + p_.tables.transition_bound[target];
    using O = Ops<Real, LogSemiring>;
    const Scaled<Real> by_alpha = O::scaled_from_log(own[source] + p_.tables.source_bound[source] - own[0]);
    const Scaled<Real> by_delta = O::scaled_from_log(scale[0] + interval_.backward_level(at) + level);
    Scaled<Real> by_next = by_delta;
    if (next) by_next = O::scaled_from_log(scale[labels] + interval_.backward_level(at + 1) + level);
    // Lanes without a label have another's numbers, times zero.
    const Real alpha_factor = is_source ? by_alpha.number * power_of_two(by_alpha.units, Real()) : Real(0);
    const Real delta_factor = is_target ? by_delta.number : Real(0);
    const Real next_factor = is_target ? by_next.number : Real(0);
    Real most = Real(0);
    int most_units = kEmpty;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int r = first_row_ + i * kStep;
      const bool is_next = i == kSteps - 1 && r == kBlock - 1;
      const int units = (is_next ? by_next.units : by_delta.units) + __shfl_sync(kAllLanes, levels, r);
      const Real scaled = delta[i] * (is_next ? next_factor : delta_factor);
      // Where there is nothing, the units may be any.
      const Real number = scaled * power_of_two(units, Real());
      most = larger(most, number);
      most_units = larger(most_units, scaled > Real(0) ? units : kEmpty);
      if (label_ < kWidth) {
        alpha_[r * kWidth + label_] = alpha[i] * alpha_factor;
        delta_[r * kWidth + label_] = number;
      }
    }
    bad = bad || by_alpha.units > kMostPower<Real> || most > power_of_two(kMostPower<Real>, Real()) ||
          most_units > kMostFactor<Real>;
    if (!__any_sync(kAllLanes, bad)) return 0;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int entry = (first_row_ + i * kStep) * kWidth + label_;
      if (label_ < kWidth) alpha_[entry] = delta_[entry] = Real(0);
    }
    return (1u << count) - 1;
  }

  __device__ __forceinline__ void multiply() {
#pragma unroll
    for (int r = 0; r < kBlock; ++r) {
      Real alpha[kFrom], delta[kTo];
#pragma unroll
      for (int i = 0; i < kFrom; ++i) alpha[i] = alpha_[r * kWidth + from_ + i];
#pragma unroll
      for (int j = 0; j < kTo; ++j) delta[j] = delta_[r * kWidth + to_ + j];
#pragma unroll
      for (int i = 0; i < kEntries; ++i) parts_[i] = fused(alpha[i / kTo], delta[i % kTo], parts_[i]);
    }
  }
  __device__ __forceinline__ void flush() {
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      sums_[i] += static_cast<double>(parts_[i]);
      parts_[i] = Real(0);
    }
  }

  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const int index_, first_from_, first_to_, label_, first_row_, from_, to_;
  Real *alpha_, *delta_;  // (16, kWidth)
  double *sums_, *exact_;
  Real parts_[kEntries];
};

// Warps that share an interval of so many blocks.
SEMICRF_BOTH constexpr int warps_along(int blocks) {
  return blocks < 16 ? 1 : (blocks < 128 ? 4 : kMostWarps);
}

// Shared memory of a warp: the rows that it multiplies, then what it has counted.
template <class Real, int kWidth>
inline constexpr int kWarpDoubles =
    std::max(kWidth, 2 * kBlock * static_cast<int>(sizeof(Real)) / static_cast<int>(sizeof(double))) * kWidth;

// A block of threads per interval and pair of panels, its warps one after the other along the interval.
template <class Real, int kWidth, bool kPanels>
__global__ void __launch_bounds__(kMostWarps * 32, 2)
    transitions_kernel(const __grid_constant__ CountsParameters<Real> p) {
  using Counter = WarpCounter<Real, kWidth, kPanels>;
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  double* const of_warps = reinterpret_cast<double*>(shared_memory);
  double* const own = of_warps + warp * kWarpDoubles<Real, kWidth>;
  int index = static_cast<int>(blockIdx.x), first_from = 0, first_to = 0;
  if constexpr (kPanels) {
    const int panels = (p.tables.labels + kWidth - 1) / kWidth;
    first_to = index % panels * kWidth;
    first_from = index / panels % panels * kWidth;
    index /= panels * panels;
  }
  double sums[Counter::kEntries], exact[Counter::kEntries];
  for (int i = 0; i < Counter::kEntries; ++i) sums[i] = exact[i] = 0;
  Counter counter(p, index, first_from, first_to, reinterpret_cast<Real*>(own), sums, exact);
  const AnchorTask& task = p.tasks[index];
  const int blocks = static_cast<int>((task.end - task.begin + kBlock - 1) / kBlock);
  // The warps follow from the interval's own length, so that those beside it change no digit.
  const int working = warps_along(blocks);
  const int each = (blocks + working - 1) / working;
  const int begin = warp * each;
  const bool feasible = p.z.log[index] > kNone;
  counter.run(begin, !feasible ? begin : (begin + each < blocks ? begin + each : blocks));
  if (warp == 0 && feasible) counter.count_edges();
  __syncwarp();
  counter.write_to(own);
  __syncthreads();
  double* counts =
      p.parts + index * p.entries + static_cast<std::int64_t>(p.groups) * kBlock * p.tables.labels;
  const int sources = smaller(p.tables.labels - first_from, kWidth);
  const int targets = smaller(p.tables.labels - first_to, kWidth);
  for (int i = static_cast<int>(threadIdx.x); i < sources * targets; i += static_cast<int>(blockDim.x)) {
    const int from = i / targets, to = i % targets;
    double total = 0;
    for (int w = 0; w < warps; ++w) total += of_warps[w * kWarpDoubles<Real, kWidth> + from * kWidth + to];
    counts[static_cast<std::int64_t>(first_from + from) * p.tables.labels + first_to + to] = total;
  }
}

template <class Real, int kWidth, bool kPanels>
void launch_warps(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  // A warp should have a dozen blocks to itself.
  const int warps = warps_along(parameters.starts.blocks);
  const std::int64_t panels = (parameters.tables.labels + kWidth - 1) / kWidth;
  const std::size_t shared = static_cast<std::size_t>(warps * kWarpDoubles<Real, kWidth>) * sizeof(double);
  const LaunchShape shape{parameters.num_tasks * panels * panels, warps * 32, shared};
  SEMICRF_CUDA_CHECK(launch(transitions_kernel<Real, kWidth, kPanels>, shape, stream, parameters));
}

}  // namespace

template <class Real>
void count_transitions(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const int labels = parameters.tables.labels;
  const int panels = (labels + 31) / 32;
  if (panels > 1) {
    labels <= 24 * panels ? launch_warps<Real, 24, true>(parameters, stream)
                          : launch_warps<Real, 32, true>(parameters, stream);
  } else if (labels <= 8) {
    launch_warps<Real, 8, false>(parameters, stream);
  } else if (labels <= 16) {
    launch_warps<Real, 16, false>(parameters, stream);
  } else if (labels <= 24) {
    launch_warps<Real, 24, false>(parameters, stream);
  } else {
    launch_warps<Real, 32, false>(parameters, stream);
  }
}

template void count_transitions<float>(const CountsParameters<float>&, cudaStream_t);
template void count_transitions<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
