// Expected counts of durations as correlations of numbers (docs/algorithm.md, "Expected counts").
//
// A start in slot p of a block and an end in slot q of the block o blocks to its right are 16 o + 1 + q - p
// apart. Durations are counted in groups of 16: group m, 16 m + 1 .. 16 m + 16, joins each block to the
// blocks m and m + 1 to its right, so that a thread with 16 sums in registers does 256 multiply-adds for 32
// numbers it reads. Every thread counts one group of one label over an interval and over the mark at its
// right end, from the numbers that prepare_blocks.cu has made.
#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"
#include "cuda/recursion/lanes.cuh"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;

// Sums over p of start[p] times `factor` times the number p + j ends on, of those of a first block, or of the
// one after it (kFar).
template <bool kFar, class Real>
__device__ __forceinline__ void correlate(const Real (&start)[kBlock], Real factor,
                                          const Real (&ends)[kBlock], Real (&sums)[kBlock]) {
#pragma unroll
  for (int p = 0; p < kBlock; ++p) {
    const Real a = start[p] * factor;
#pragma unroll
    for (int j = kFar ? kBlock - p : 0; j < (kFar ? kBlock : kBlock - p); ++j)
      sums[j] = fused(a, ends[(p + j) % kBlock], sums[j]);
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

// Blocks [from, to) of starts, or of ends, of one interval and label; zeros beyond them.
template <class Real>
class BlockReader {
 public:
  __device__ __forceinline__ BlockReader(const BlockNumbers<Real>& blocks, int index, int from, int to,
                                         int labels, int c)
      : blocks_(blocks),
        first_(block_index(blocks, index, 0)),
        from_(from),
        to_(to),
        labels_(labels),
        c_(c) {}
  __device__ __forceinline__ BlockScale scale(int block) const {
    return has(block) ? blocks_.scale[(first_ + block) * labels_ + c_] : no_scale();
  }
  __device__ __forceinline__ void load(int block, Real (&numbers)[kBlock]) const {
    if (has(block)) {
      load_numbers(blocks_, first_ + block, labels_, c_, numbers);
    } else {
#pragma unroll
      for (int j = 0; j < kBlock; ++j) numbers[j] = Real(0);
    }
  }
  __device__ __forceinline__ void ask_for(int block) const {
    if (has(block)) ask_for_block(blocks_.numbers, first_ + block, labels_, c_);
  }

 private:
  __device__ __forceinline__ bool has(int block) const { return block >= from_ && block < to_; }
  const BlockNumbers<Real>& blocks_;
  const std::int64_t first_;
  const int from_, to_, labels_, c_;
};

// Intervals whose threads of one group of durations are neighbours. Often only the first groups have anything
// to count, and few warps have more than one group then; but threads of all groups read the same blocks, and
// must not be too far from each other.
SEMICRF_BOTH constexpr int intervals_together(int groups) { return groups <= 64 ? 8 : 1; }

// A thread per group of durations and label of an interval; all threads of a warp together.
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

  // `counts`: whether anything is to be counted, and written.
  __device__ void run(bool counts) {
    const IntervalMessages<Real> interval(p_, index_);
    Walk inside{index_, group_, c_, 0, interval.blocks - group_, group_, interval.blocks, false};
    // Counts cross the mark in a second walk.
    const int marks = interval.task.at_sequence_end ? 0 : p_.before.blocks;
    const int first = marks - group_ - 1 > 0 ? marks - group_ - 1 : 0;
    Walk across{index_, group_, c_, first, marks, group_ - marks, marks, true};
    // What was not prepared must not be read.
    if (!counts || bias_power_ == kNoPower || !interval.is_feasible())
      inside.to = inside.ends = across.to = across.ends = 0;
    const bool wide_inside = walk(p_.starts, p_.ends, inside);
    const bool wide_across = walk(p_.before, p_.after, across);
    if (!counts) return;
    double* out =
        p_.parts + index_ * p_.entries + static_cast<std::int64_t>(group_) * kBlock * p_.tables.labels + c_;
    const double* weight = p_.weight + static_cast<std::int64_t>(group_) * kBlock * p_.tables.labels + c_;
    double counted[kBlock];
#pragma unroll
    for (int j = 0; j < kBlock; ++j) counted[j] = sums_[j * kThreads].value() * weight[j * p_.tables.labels];
    for (int piece = 0; group_ == 0 && piece < p_.pieces; ++piece) {
      const double* within =
          p_.within + (static_cast<std::int64_t>(index_) * p_.pieces + piece) * kBlock * p_.tables.labels +
          c_;
#pragma unroll
      for (int j = 0; j < kBlock; ++j) counted[j] += within[j * p_.tables.labels];
    }
#pragma unroll
    for (int j = 0; j < kBlock; ++j) out[j * p_.tables.labels] = counted[j];
    if (!wide_inside && !wide_across) return;
    double logs[kBlock];
    for (int j = 0; j < kBlock; ++j) logs[j] = 0;
    if (wide_inside) count_wide_pairs(p_, inside, logs);
    if (wide_across) count_wide_pairs(p_, across, logs);
    for (int j = 0; j < kBlock; ++j) out[j * p_.tables.labels] += logs[j];
  }

 private:
  static constexpr int kBatch = 8;  // blocks whose products are added up in Real

  static constexpr int kLinesAhead = 3;  // steps

  // A start block with the two blocks that its segments end in.
  struct Factors {
    Real near, far;
    __device__ __forceinline__ bool wanted() const {
      return __any_sync(kAllLanes, near > Real(0) || far > Real(0)) != 0;
    }
  };
  // What is known beforehand of the start blocks at hand: whether a step is wanted is known one step before,
  // so that its numbers are under way meanwhile, and the scales that say so two steps before.
  struct Ahead {
    Factors factors;              // factors of this step
    bool wanted;                  // by a lane of the warp: its start and its farther end have been asked for,
    bool has_near;                // and its nearer end, too
    BlockScale start, near, far;  // scales of the next step
  };

  // Whether there are pairs for count_wide_pairs. The warp goes along together, each lane as far as it has
  // blocks: start block b meets the end blocks b + shift and b + shift + 1.
  __device__ __forceinline__ bool walk(const BlockNumbers<Real>& start_blocks,
                                       const BlockNumbers<Real>& end_blocks, const Walk& w) {
    const int steps = most_of_warp(w.to > w.from ? w.to - w.from : 0);
    if (steps == 0) return false;
    const int labels = p_.tables.labels;
    const BlockReader<Real> starts(start_blocks, index_, w.from, w.to, labels, c_);
    const BlockReader<Real> ends(end_blocks, index_, 0, w.ends, labels, c_);
    // Segments within a block were counted before.
    const bool same = !w.crossing && w.shift == 0;
    bool wide = false;
    const auto factors_of = [&](const BlockScale& start, const BlockScale& near, const BlockScale& far) {
      return Factors{same ? Real(0) : factor_of<Real>(start, near, bias_power_, &wide),
                     factor_of<Real>(start, far, bias_power_, &wide)};
    };
    Ahead ahead;
    const BlockScale first = ends.scale(w.from + w.shift);
    ahead.near = ends.scale(w.from + w.shift + 1);
    ahead.factors = factors_of(starts.scale(w.from), first, ahead.near);
    ahead.wanted = ahead.factors.wanted();
    ahead.has_near = false;
    ahead.start = starts.scale(w.from + 1);
    ahead.far = ends.scale(w.from + w.shift + 2);
    Real start[kBlock], next_start[kBlock], near[kBlock], far[kBlock];
    if (ahead.wanted) {
      starts.load(w.from, start);
      ends.load(w.from + w.shift + 1, far);
    }
    const auto step = [&](int b, Real(&start_here)[kBlock], Real(&near_here)[kBlock], Real(&far_here)[kBlock],
                          Real(&start_next)[kBlock]) {
      const Factors next = factors_of(ahead.start, ahead.near, ahead.far);
      const bool next_wanted = next.wanted();
      ahead.start = starts.scale(b + 2);
      ahead.near = ahead.far;
      ahead.far = ends.scale(b + w.shift + 3);
      if (next_wanted) starts.load(b + 1, start_next);
      if (ahead.wanted) {
        starts.ask_for(b + kLinesAhead);
        ends.ask_for(b + w.shift + 1 + kLinesAhead);
        if (!ahead.has_near) ends.load(b + w.shift, near_here);
        correlate<false>(start_here, ahead.factors.near, near_here, parts_);
      }
      if (next_wanted) ends.load(b + w.shift + 2, near_here);
      if (ahead.wanted) correlate<true>(start_here, ahead.factors.far, far_here, parts_);
      if ((b - w.from) % kBatch == kBatch - 1) flush();
      ahead.factors = next;
      ahead.has_near = ahead.wanted;
      ahead.wanted = next_wanted;
    };
    for (int i = 0; i < steps; i += 2) {
      step(w.from + i, start, near, far, next_start);
      if (i + 1 < steps) step(w.from + i + 1, next_start, far, near, start);
    }
    flush();
    return wide;
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
  const int intervals = intervals_together(p.groups);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int c = static_cast<int>(i % p.tables.labels);
  const std::int64_t teams = i / p.tables.labels;
  const int group = static_cast<int>(teams / intervals % p.groups);
  const int index = static_cast<int>(teams / (intervals * p.groups) * intervals + teams % intervals);
  const bool counts = index < p.num_tasks;
  GroupCounter<Real>(p, counts ? index : 0, group, c, all_sums + threadIdx.x).run(counts);
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
  const int together = intervals_together(parameters.groups);
  const std::int64_t intervals = ceil_div(parameters.num_tasks, together) * together;
  const std::int64_t counters = intervals * parameters.groups * parameters.tables.labels;
  SEMICRF_CUDA_CHECK(launch(count_kernel<Real>, shape_for(counters, kThreads), stream, parameters));
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
