// Expected counts of transitions: per interval the product of a (C, positions) by a (positions, C) matrix,
// alpha before each position and what follows a start there (docs/algorithm.md, "Expected counts").
//
// 16 positions at a time go to shared memory as numbers, alpha relative to the largest of its position, and
// are added up in tiles of registers: of a warp up to 32 labels, of a block of threads (4 x 4 each, those
// left over share the positions) beyond. Positions whose numbers leave their range are counted over
// logarithms.
#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"
#include "cuda/recursion/lanes.cuh"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kThreads = 128;
constexpr int kTile = 4;
constexpr int kTileEntries = kTile * kTile;
constexpr int kFlush = 64;  // positions that are added up in Real
constexpr int kMostWarps = 8;

__host__ __device__ inline int padded(int labels) { return (labels + kTile - 1) / kTile * kTile; }
__host__ __device__ inline int tiles_of(int labels) {
  return padded(labels) / kTile * (padded(labels) / kTile);
}
__host__ __device__ inline int tile_groups(int labels) {
  return (tiles_of(labels) + kThreads - 1) / kThreads;
}
// Threads that share a tile, each with some of the 16 positions.
__host__ __device__ inline int splits_of(int labels) {
  const int splits = kThreads / tiles_of(labels);
  return splits < 1 ? 1 : (splits > kBlock ? kBlock : splits);
}

__device__ __forceinline__ void load_tile(const float* from, float (&to)[kTile]) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void load_tile(const double* from, double (&to)[kTile]) {
#pragma unroll
  for (int i = 0; i < kTile; ++i) to[i] = from[i];
}

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

// --- up to 32 labels: a warp by itself ---

// A positive number as a mantissa in [1, 2) times a power of two.
template <class Real>
struct Parts {
  Real mantissa;
  int exponent;
};
inline constexpr int kZero = -100000;  // exponent of 0
__device__ __forceinline__ Parts<float> parts_of(float x) {
  if (!(x > 0)) return {1.0f, kZero};
  return {__int_as_float((__float_as_int(x) & 0x7fffff) | 0x3f800000), exponent_of(x)};
}
__device__ __forceinline__ Parts<double> parts_of(double x) {
  if (!(x > 0)) return {1.0, kZero};
  const long long bits = (__double_as_longlong(x) & 0xfffffffffffffll) | 0x3ff0000000000000ll;
  return {__longlong_as_double(bits), exponent_of(x)};
}
// exp(x), the mantissa in [0.7, 1.5).
template <class Real>
__device__ __forceinline__ Parts<Real> parts_of_log(double x) {
  if (!(x > -1e8)) return {Real(1), kZero};
  const int n = near_int(x * (1 / kLog2));
  return {Ops<Real, LogSemiring>::from_log(fma(static_cast<double>(-n), kLog2, x)), n};
}

// The lanes of a warp are kStep rows of kGroup labels when they take positions in, and 4 x 8 tiles when they
// multiply.
template <class Real, int kWidth>
class WarpCounter {
 public:
  static constexpr int kGroup = kWidth <= 8 ? 8 : (kWidth <= 16 ? 16 : 32);
  static constexpr int kStep = 32 / kGroup;
  static constexpr int kSteps = kBlock / kStep;
  static constexpr int kFrom = kWidth / 4;  // of a tile
  static constexpr int kTo = kWidth / 8;
  static constexpr int kEntries = kFrom * kTo;

  // rows: (2, 16, kWidth) shared; exact: (kEntries) of the caller, so that the sums stay in registers.
  __device__ WarpCounter(const CountsParameters<Real>& p, int index, Real* rows, double* exact)
      : p_(p),
        interval_(p, index),
        index_(index),
        label_(static_cast<int>(threadIdx.x % 32) % kGroup),
        first_row_(static_cast<int>(threadIdx.x % 32) / kGroup),
        from_(static_cast<int>(threadIdx.x % 32) / 8 * kFrom),
        to_(static_cast<int>(threadIdx.x % 32) % 8 * kTo),
        alpha_(rows),
        delta_(rows + kBlock * kWidth),
        exact_(exact) {}

  __device__ __forceinline__ void run(int first, int last) {
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      sums_[i] = Wide<Real>::of(0);
      parts_[i] = Real(0);
    }
    for (int block = first; block < last; ++block) {
      __syncwarp();
      const unsigned wide = load_rows(block);
      __syncwarp();
      multiply();
      for (int r = 0; wide != 0 && r < kBlock; ++r) {
        if ((wide >> r & 1) == 0) continue;
        const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock + r;
        count_row<kFrom, kTo>(p_, RowOfTile{RowKind::kInside, index_, from_, to_, row}, exact_);
      }
      if ((block - first) % 4 == 3) flush();
    }
    flush();
  }
  // The boundary at the mark, and before the first position.
  __device__ void count_edges() {
    const RowOfTile at{RowKind::kFirst, index_, from_, to_, interval_.first_row};
    if (interval_.at_sequence_begin() && p_.tables.initial_transition != 0)
      count_row<kFrom, kTo>(p_, at, exact_);
    if (interval_.task.at_sequence_end) return;
    count_row<kFrom, kTo>(p_, RowOfTile{RowKind::kMark, index_, from_, to_, 0}, exact_);
  }
  __device__ __forceinline__ void add_to(double* totals) const {
#pragma unroll
    for (int i = 0; i < kEntries; ++i) {
      const int from = from_ + i / kTo;
      const int to = to_ + i % kTo;
      totals[from * kWidth + to] += fma(sums_[i].value(), weight_of(p_, from, to), exact_[i]);
    }
  }

 private:
  // Row r: alpha at the right boundary of position 16 block + r, delta of the position after it. Returns the
  // rows that are counted over logarithms: all, with zeros in their place, when one is.
  __device__ __forceinline__ unsigned load_rows(int block) {
    const std::int64_t at = interval_.first_row / kBlock + block;
    const bool next = block + 1 < interval_.blocks;
    const bool has_label = label_ < p_.tables.labels;
    const std::int64_t c = has_label ? label_ : 0;
    const std::int64_t left = interval_.rows - 1 - static_cast<std::int64_t>(block) * kBlock;
    const int count = left < kBlock ? static_cast<int>(left) : kBlock;  // rows inside
    const bool exact =
        p_.forward.exact[at] != 0 || p_.backward.exact[at] != 0 || (next && p_.backward.exact[at + 1] != 0);
    const unsigned all = (1u << count) - 1;
    Real alpha[kSteps], delta[kSteps];
    const std::int64_t first = (at * kBlock + first_row_) * p_.tables.labels + c;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const bool inside = has_label && !exact && first_row_ + i * kStep < count;
      alpha[i] = inside ? p_.forward.alpha.numbers[first + i * kStep * p_.tables.labels] : Real(0);
      delta[i] = inside ? p_.backward.alpha.numbers[first + (i * kStep + 1) * p_.tables.labels] : Real(0);
    }
    const std::int64_t scale = at * p_.tables.labels + c;
    // Powers of two are relative to the alpha of one label, that of the largest scale: it is never far below
    // the largest. Labels that nothing leads to have zeros throughout.
    const double mine =
        alpha[0] > Real(0) ? p_.forward.alpha.scale[scale] + p_.tables.source_bound[c] : kNone;
    double top = mine;
#pragma unroll
    for (int step = kGroup / 2; step > 0; step /= 2) top = fmax(top, __shfl_xor_sync(kAllLanes, top, step));
    const unsigned tops = __ballot_sync(kAllLanes, mine == top) >> (first_row_ * kGroup);
    const int reference = __ffs(static_cast<int>(tops)) - 1;
    Parts<Real> by_alpha{Real(1), kZero}, by_delta = by_alpha, by_next = by_alpha;
    if (mine > kNone) by_alpha = parts_of_log<Real>(mine - top);
    if (top > kNone) {
      const double level = p_.tables.transition_bound[c] + top + interval_.forward_level(at);
      by_delta = parts_of_log<Real>(p_.backward.alpha.scale[scale] + interval_.backward_level(at) + level);
      if (next) {
        by_next = parts_of_log<Real>(p_.backward.alpha.scale[scale + p_.tables.labels] +
                                     interval_.backward_level(at + 1) + level);
      }
    }
    bool bad = false;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int r = first_row_ + i * kStep;
      const Parts<Real> from = parts_of(alpha[i]);
      const Parts<Real> to = parts_of(delta[i]);
      const Parts<Real>& by = i == kSteps - 1 && r == kBlock - 1 ? by_next : by_delta;
      const int exponent = from.exponent + by_alpha.exponent;
      const int base = __shfl_sync(kAllLanes, exponent, reference, kGroup);
      const int power = to.exponent + by.exponent + base;
      const bool some = base > kZero / 2;
      bad = bad || power > kMostPower<Real> || exponent - base > kMostPower<Real> ||
            (!some && exponent > kZero / 2);
      if (label_ < kWidth) {
        alpha_[r * kWidth + label_] =
            some ? from.mantissa * by_alpha.mantissa * power_of_two(exponent - base, Real()) : Real(0);
        delta_[r * kWidth + label_] =
            some ? to.mantissa * by.mantissa * power_of_two(power, Real()) : Real(0);
      }
    }
    if (!__any_sync(kAllLanes, bad)) return exact ? all : 0;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if (label_ < kWidth) alpha_[(first_row_ + i * kStep) * kWidth + label_] = Real(0);
    }
    return all;
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
      sums_[i].add(Wide<Real>::exactly(parts_[i]));
      parts_[i] = Real(0);
    }
  }

  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const int index_, label_, first_row_, from_, to_;
  Real *alpha_, *delta_;  // (16, kWidth)
  double* exact_;
  Wide<Real> sums_[kEntries];
  Real parts_[kEntries];
};

// Warps that share an interval of so many blocks.
SEMICRF_BOTH constexpr int warps_along(int blocks) {
  return blocks < 16 ? 1 : (blocks < 128 ? 4 : kMostWarps);
}

// A block of threads per interval, its warps one after the other along it.
template <class Real, int kWidth>
__global__ void __launch_bounds__(kMostWarps * 32)
    warp_kernel(const __grid_constant__ CountsParameters<Real> p) {
  using Counter = WarpCounter<Real, kWidth>;
  double* const totals = reinterpret_cast<double*>(shared_memory);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  Real* rows = reinterpret_cast<Real*>(totals + kWidth * kWidth) + warp * 2 * kBlock * kWidth;
  for (int i = static_cast<int>(threadIdx.x); i < kWidth * kWidth; i += static_cast<int>(blockDim.x))
    totals[i] = 0;
  const int index = static_cast<int>(blockIdx.x);
  double exact[Counter::kEntries];
  for (int i = 0; i < Counter::kEntries; ++i) exact[i] = 0;
  Counter counter(p, index, rows, exact);
  const AnchorTask& task = p.tasks[index];
  const int blocks = static_cast<int>((task.end - task.begin + kBlock - 1) / kBlock);
  // Of its own length, so that the intervals beside it change no digit.
  const int working = warps_along(blocks);
  const int each = (blocks + working - 1) / working;
  const int begin = warp * each;
  counter.run(begin, begin + each < blocks ? begin + each : blocks);
  if (warp == 0) counter.count_edges();
  for (int turn = 0; turn < warps; ++turn) {
    __syncthreads();
    if (turn == warp) counter.add_to(totals);
  }
  __syncthreads();
  double* counts =
      p.parts + index * p.entries + static_cast<std::int64_t>(p.groups) * kBlock * p.tables.labels;
  for (int i = static_cast<int>(threadIdx.x); i < p.tables.labels * p.tables.labels;
       i += static_cast<int>(blockDim.x))
    counts[i] = totals[i / p.tables.labels * kWidth + i % p.tables.labels];
}

// --- more labels: a block of threads together ---

template <class Real>
class TransitionCounter {
 public:
  // exact: (16) of the caller, so that the sums themselves stay in registers
  __device__ TransitionCounter(const CountsParameters<Real>& p, int index, int group, double* exact)
      : p_(p), interval_(p, index), index_(index), width_(padded(p.tables.labels)), exact_(exact) {
    double* doubles = reinterpret_cast<double*>(shared_memory);
    alpha_factor_ = doubles;
    delta_factor_ = doubles + width_;  // of this block, of the next
    totals_ = doubles + 3 * width_;
    Real* reals = reinterpret_cast<Real*>(totals_ + kThreads * kTileEntries);
    alpha_ = reals;
    delta_ = reals + kBlock * width_;
    wide_ = reinterpret_cast<int*>(delta_ + kBlock * width_);
    const int tiles = tiles_of(p.tables.labels);
    const int splits = splits_of(p.tables.labels);
    const int shared_tiles = tiles < kThreads ? tiles : kThreads;
    slot_ = static_cast<int>(threadIdx.x) % shared_tiles;
    const int tile = group * kThreads + slot_;
    split_ = static_cast<int>(threadIdx.x) / shared_tiles;
    works_ = split_ < splits && tile < tiles;
    from_ = tile / (width_ / kTile) * kTile;
    to_ = tile % (width_ / kTile) * kTile;
    group_lanes_ = 32;
    while (group_lanes_ > 2 && group_lanes_ / 2 >= p.tables.labels) group_lanes_ /= 2;  // 16 rows at most
    for (int i = static_cast<int>(threadIdx.x); i < kBlock * width_; i += kThreads)
      alpha_[i] = delta_[i] = Real(0);
  }

  // Rows (from, to) of the tile of this thread, counts as double.
  __device__ void run(double* counts) {
#pragma unroll
    for (int i = 0; i < kTileEntries; ++i) {
      sums_[i] = Wide<Real>::of(0);
      parts_[i] = Real(0);
    }
    pending_ = 0;
    for (int block = 0; block < interval_.blocks; ++block) {
      find_factors(block);
      __syncthreads();
      load_rows(block);
      __syncthreads();
      multiply(block);
      __syncthreads();
    }
    flush();
    if (split_ == 0 && works_) {
      if (interval_.at_sequence_begin() && p_.tables.initial_transition != 0)
        add_exact(RowKind::kFirst, interval_.first_row);
      if (!interval_.task.at_sequence_end) add_exact(RowKind::kMark, 0);
    }
    write(counts);
  }

 private:
  // Rows of a block: alpha at the right boundary of position 16 block + r, delta of the position after it.
  __device__ bool has_row(int block, int r) const {
    return static_cast<std::int64_t>(block) * kBlock + r + 1 < interval_.rows;
  }
  __device__ std::int64_t row_of(int block, int r) const {
    return interval_.first_row + static_cast<std::int64_t>(block) * kBlock + r;
  }

  // What the numbers of a block are multiplied with: alpha relative to top_, delta with top_ and without log
  // Z. Deltas of the last position are those of the next block.
  __device__ void find_factors(int block) {
    const std::int64_t at = interval_.first_row / kBlock + block;
    const bool next = block + 1 < interval_.blocks;
    exact_alpha_ = p_.forward.exact[at] != 0;
    exact_delta_ = p_.backward.exact[at] != 0;
    exact_next_ = next && p_.backward.exact[at + 1] != 0;
    top_ = 0;
    if (exact_alpha_) return;
    const int lane = static_cast<int>(threadIdx.x % 32);
    const double* scale = p_.forward.alpha.scale + at * p_.tables.labels;
    double top = kNone;
    for (int c = lane; c < p_.tables.labels; c += 32) top = fmax(top, scale[c] + p_.tables.source_bound[c]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) top = fmax(top, __shfl_xor_sync(0xffffffffu, top, step));
    top_ = top;
    if (!(top > kNone)) return;
    for (int c = static_cast<int>(threadIdx.x); c < p_.tables.labels; c += kThreads) {
      alpha_factor_[c] = exp(scale[c] + p_.tables.source_bound[c] - top);
      for (int later = 0; later < 2; ++later) {
        double factor = 0;
        if ((later == 0 || next) && !(later == 0 ? exact_delta_ : exact_next_)) {
          factor = exp(p_.backward.alpha.scale[(at + later) * p_.tables.labels + c] +
                       p_.tables.transition_bound[c] +
                       ((top + interval_.forward_level(at)) + interval_.backward_level(at + later)));
        }
        delta_factor_[later * width_ + c] = factor;
      }
    }
  }

  // A warp per row or several; lane = label.
  __device__ void load_rows(int block) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int per_warp = 32 / group_lanes_;
    for (int first = warp * per_warp; first < kBlock; first += kThreads / 32 * per_warp) {
      load_row(block, first + lane / group_lanes_, lane % group_lanes_);
    }
  }
  __device__ void load_row(int block, int r, int first_label) {
    const bool inside = has_row(block, r);
    const int later = r + 1 == kBlock ? 1 : 0;
    const bool logs = exact_alpha_ || (later == 0 ? exact_delta_ : exact_next_);
    // A power of two near the largest alpha, in the numbers' scale or as a logarithm.
    int exponent = -2000;
    double top = kNone;
    for (int c = first_label; inside && c < p_.tables.labels; c += group_lanes_) {
      if (logs) {
        top = fmax(top, interval_.alpha_log(row_of(block, r), c) + p_.tables.source_bound[c]);
      } else if (top_ > kNone) {
        const double number =
            static_cast<double>(p_.forward.alpha.numbers[row_of(block, r) * p_.tables.labels + c]) *
            alpha_factor_[c];
        exponent = number > 0 && exponent_of(number) > exponent ? exponent_of(number) : exponent;
      }
    }
    for (int step = group_lanes_ / 2; step > 0; step /= 2) {
      const int theirs = __shfl_xor_sync(0xffffffffu, exponent, step);
      exponent = theirs > exponent ? theirs : exponent;
      top = fmax(top, __shfl_xor_sync(0xffffffffu, top, step));
    }
    const bool some = logs ? top > kNone : exponent > -1000;
    const double up = logs || !some ? 0.0 : power_of_two(exponent, double());
    const double down = logs || !some ? 0.0 : power_of_two(-exponent, double());
    bool wide = false;
    for (int c = first_label; c < p_.tables.labels; c += group_lanes_) {
      double alpha = 0, delta = 0;
      if (inside && some && logs) {
        alpha = exp(interval_.alpha_log(row_of(block, r), c) + p_.tables.source_bound[c] - top);
        delta = exp(interval_.delta_log(row_of(block, r + 1), c) + p_.tables.transition_bound[c] + top);
      } else if (inside && some) {
        alpha = static_cast<double>(p_.forward.alpha.numbers[row_of(block, r) * p_.tables.labels + c]) *
                alpha_factor_[c];
        alpha *= down;
        delta =
            static_cast<double>(p_.backward.alpha.numbers[row_of(block, r + 1) * p_.tables.labels + c]) * up;
        delta *= delta_factor_[later * width_ + c];
      }
      alpha_[r * width_ + c] = static_cast<Real>(alpha);
      delta_[r * width_ + c] = static_cast<Real>(delta);
      wide = wide || !(delta <= kMostDelta);
    }
    for (int step = group_lanes_ / 2; step > 0; step /= 2)
      wide = __shfl_xor_sync(0xffffffffu, static_cast<int>(wide), step) != 0 || wide;
    if (first_label == 0) wide_[r] = wide ? 1 : 0;
  }
  static constexpr double kMostDelta = sizeof(Real) == sizeof(float) ? 1e17 : 1e260;

  __device__ __forceinline__ void multiply(int block) {
    if (!works_) return;
    const int splits = splits_of(p_.tables.labels);
    for (int r = split_; r < kBlock; r += splits) {
      if (wide_[r] != 0) {
        add_exact(RowKind::kInside, row_of(block, r));
        continue;
      }
      Real alpha[kTile], delta[kTile];
      load_tile(alpha_ + r * width_ + from_, alpha);
      load_tile(delta_ + r * width_ + to_, delta);
#pragma unroll
      for (int i = 0; i < kTile; ++i) {
#pragma unroll
        for (int j = 0; j < kTile; ++j)
          parts_[i * kTile + j] = fused(alpha[i], delta[j], parts_[i * kTile + j]);
      }
      ++pending_;
    }
    if (pending_ >= kFlush) flush();
  }
  __device__ __forceinline__ void flush() {
    pending_ = 0;
#pragma unroll
    for (int i = 0; i < kTileEntries; ++i) {
      sums_[i].add(Wide<Real>::exactly(parts_[i]));
      parts_[i] = Real(0);
    }
  }

  __device__ void add_exact(RowKind kind, std::int64_t row) {
    count_row<kTile, kTile>(p_, RowOfTile{kind, index_, from_, to_, row}, exact_);
  }

  // Adds up the threads of a tile in their order.
  __device__ void write(double* counts) {
    for (int s = 0; s < splits_of(p_.tables.labels); ++s) {
      if (works_ && split_ == s) {
#pragma unroll
        for (int i = 0; i < kTileEntries; ++i) {
          const double mine =
              fma(sums_[i].value(), weight_of(p_, from_ + i / kTile, to_ + i % kTile), exact_[i]);
          double* total = totals_ + i * kThreads + slot_;
          *total = s == 0 ? mine : *total + mine;
        }
      }
      __syncthreads();
    }
    if (!works_ || split_ != 0) return;
    for (int i = 0; i < kTileEntries; ++i) {
      const int from = from_ + i / kTile;
      const int to = to_ + i % kTile;
      if (from < p_.tables.labels && to < p_.tables.labels)
        counts[static_cast<std::int64_t>(from) * p_.tables.labels + to] = totals_[i * kThreads + slot_];
    }
  }
  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const int index_, width_;
  double *alpha_factor_, *delta_factor_, *totals_;  // (C), (2, C), (16, threads)
  Real *alpha_, *delta_;                            // (16, C) each
  int* wide_;                                       // (16) whether a row is counted over logarithms
  int slot_, split_, from_, to_, group_lanes_, pending_;
  bool works_, exact_alpha_, exact_delta_, exact_next_;
  double top_;
  Wide<Real> sums_[kTileEntries];
  Real parts_[kTileEntries];
  double* exact_;
};

template <class Real>
__global__ void __launch_bounds__(kThreads, 4)
    transition_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const int groups = tile_groups(p.tables.labels);
  const int index = static_cast<int>(blockIdx.x) / groups;
  double* counts =
      p.parts + index * p.entries + static_cast<std::int64_t>(p.groups) * kBlock * p.tables.labels;
  double exact[kTileEntries];
  for (int i = 0; i < kTileEntries; ++i) exact[i] = 0;
  TransitionCounter<Real>(p, index, static_cast<int>(blockIdx.x) % groups, exact).run(counts);
}

template <class Real>
void launch_blocks(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const auto width = static_cast<std::size_t>(padded(parameters.tables.labels));
  const std::size_t shared = (3 * width + kThreads * kTileEntries) * sizeof(double) +
                             2 * kBlock * width * sizeof(Real) + kBlock * sizeof(int);
  const std::int64_t blocks =
      static_cast<std::int64_t>(parameters.num_tasks) * tile_groups(parameters.tables.labels);
  SEMICRF_CUDA_CHECK(launch(transition_kernel<Real>, {blocks, kThreads, shared}, stream, parameters));
}

template <class Real, int kWidth>
void launch_warps(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  // A warp should have a dozen blocks to itself.
  const int warps = warps_along(parameters.starts.blocks);
  const std::size_t shared =
      kWidth * kWidth * sizeof(double) + static_cast<std::size_t>(warps) * 2 * kBlock * kWidth * sizeof(Real);
  const LaunchShape shape{parameters.num_tasks, warps * 32, shared};
  SEMICRF_CUDA_CHECK(launch(warp_kernel<Real, kWidth>, shape, stream, parameters));
}

}  // namespace

template <class Real>
void count_transitions(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  if (parameters.tables.labels <= 8) {
    launch_warps<Real, 8>(parameters, stream);
  } else if (parameters.tables.labels <= 16) {
    launch_warps<Real, 16>(parameters, stream);
  } else if (parameters.tables.labels <= 24) {
    launch_warps<Real, 24>(parameters, stream);
  } else if (parameters.tables.labels <= 32) {
    launch_warps<Real, 32>(parameters, stream);
  } else {
    launch_blocks(parameters, stream);
  }
}

template void count_transitions<float>(const CountsParameters<float>&, cudaStream_t);
template void count_transitions<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
