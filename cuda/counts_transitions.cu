// Expected counts of transitions: per interval the product of a (C, positions) by a (positions, C) matrix,
// alpha before each position and what follows a start there (docs/algorithm.md, "Expected counts").
//
// A block of threads per interval (and per group of tiles where labels are many) takes 16 positions at a time
// into shared memory as numbers, alpha relative to the largest of its position, and adds them up in tiles of
// 4 x 4 registers; threads left over share the positions. Positions whose numbers leave their range are
// counted over logarithms.
#include "cuda/counts_messages.cuh"
#include "cuda/cuda_check.h"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kThreads = 128;
constexpr int kTile = 4;
constexpr int kTileEntries = kTile * kTile;
constexpr int kFlush = 64;  // positions that are added up in Real

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
template <class Real>
__device__ SEMICRF_NOINLINE void count_row(const CountsParameters<Real>& p, RowOfTile at, double* counts) {
  const IntervalMessages<Real> interval(p, at.index);
  const std::int64_t of_state = static_cast<std::int64_t>(p.duration) * p.labels;
  for (int i = 0; i < kTileEntries; ++i) {
    const int from = at.from + i / kTile;
    const int to = at.to + i % kTile;
    if (from >= p.labels || to >= p.labels) continue;
    const double score = p.transition_log[static_cast<std::int64_t>(from) * p.width + to];
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

template <class Real>
class TransitionCounter {
 public:
  // exact: (16) of the caller, so that the sums themselves stay in registers
  __device__ TransitionCounter(const CountsParameters<Real>& p, int index, int group, double* exact)
      : p_(p), interval_(p, index), index_(index), width_(padded(p.labels)), exact_(exact) {
    double* doubles = reinterpret_cast<double*>(shared_memory);
    alpha_factor_ = doubles;
    delta_factor_ = doubles + width_;  // of this block, of the next
    totals_ = doubles + 3 * width_;
    Real* reals = reinterpret_cast<Real*>(totals_ + kThreads * kTileEntries);
    alpha_ = reals;
    delta_ = reals + kBlock * width_;
    wide_ = reinterpret_cast<int*>(delta_ + kBlock * width_);
    const int tiles = tiles_of(p.labels);
    const int splits = splits_of(p.labels);
    const int shared_tiles = tiles < kThreads ? tiles : kThreads;
    slot_ = static_cast<int>(threadIdx.x) % shared_tiles;
    const int tile = group * kThreads + slot_;
    split_ = static_cast<int>(threadIdx.x) / shared_tiles;
    works_ = split_ < splits && tile < tiles;
    from_ = tile / (width_ / kTile) * kTile;
    to_ = tile % (width_ / kTile) * kTile;
    group_lanes_ = 32;
    while (group_lanes_ > 2 && group_lanes_ / 2 >= p.labels) group_lanes_ /= 2;  // 16 rows at most
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
      if (interval_.task.begin == 0 && p_.uniform != 0) add_exact(RowKind::kFirst, interval_.first_row);
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
    const double* scale = p_.forward.alpha_scale + at * p_.labels;
    double top = kNone;
    for (int c = lane; c < p_.labels; c += 32) top = fmax(top, scale[c] + p_.source_bound[c]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) top = fmax(top, __shfl_xor_sync(0xffffffffu, top, step));
    top_ = top;
    if (!(top > kNone)) return;
    for (int c = static_cast<int>(threadIdx.x); c < p_.labels; c += kThreads) {
      alpha_factor_[c] = exp(scale[c] + p_.source_bound[c] - top);
      for (int later = 0; later < 2; ++later) {
        double factor = 0;
        if ((later == 0 || next) && !(later == 0 ? exact_delta_ : exact_next_)) {
          factor = exp(p_.backward.alpha_scale[(at + later) * p_.labels + c] + p_.transition_bound[c] +
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
    for (int c = first_label; inside && c < p_.labels; c += group_lanes_) {
      if (logs) {
        top = fmax(top, interval_.alpha_log(row_of(block, r), c) + p_.source_bound[c]);
      } else if (top_ > kNone) {
        const double number =
            static_cast<double>(p_.forward.alpha[row_of(block, r) * p_.labels + c]) * alpha_factor_[c];
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
    for (int c = first_label; c < p_.labels; c += group_lanes_) {
      double alpha = 0, delta = 0;
      if (inside && some && logs) {
        alpha = exp(interval_.alpha_log(row_of(block, r), c) + p_.source_bound[c] - top);
        delta = exp(interval_.delta_log(row_of(block, r + 1), c) + p_.transition_bound[c] + top);
      } else if (inside && some) {
        alpha = static_cast<double>(p_.forward.alpha[row_of(block, r) * p_.labels + c]) * alpha_factor_[c];
        alpha *= down;
        delta = static_cast<double>(p_.backward.alpha[row_of(block, r + 1) * p_.labels + c]) * up;
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
    const int splits = splits_of(p_.labels);
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
    count_row(p_, RowOfTile{kind, index_, from_, to_, row}, exact_);
  }

  // Adds up the threads of a tile in their order.
  __device__ void write(double* counts) {
    for (int s = 0; s < splits_of(p_.labels); ++s) {
      if (works_ && split_ == s) {
#pragma unroll
        for (int i = 0; i < kTileEntries; ++i) {
          const double mine = fma(sums_[i].value(), weight_of(i), exact_[i]);
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
      if (from < p_.labels && to < p_.labels)
        counts[static_cast<std::int64_t>(from) * p_.labels + to] = totals_[i * kThreads + slot_];
    }
  }
  __device__ double weight_of(int i) const {
    const int from = from_ + i / kTile;
    const int to = to_ + i % kTile;
    if (from >= p_.labels || to >= p_.labels) return 0;
    const double score = p_.transition_log[static_cast<std::int64_t>(from) * p_.width + to];
    return score == kNone ? 0.0 : exp(score - (p_.source_bound[from] + p_.transition_bound[to]));
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
  const int groups = tile_groups(p.labels);
  const int index = static_cast<int>(blockIdx.x) / groups;
  double* counts = p.parts + index * p.entries + static_cast<std::int64_t>(p.groups) * kBlock * p.labels;
  double exact[kTileEntries];
  for (int i = 0; i < kTileEntries; ++i) exact[i] = 0;
  TransitionCounter<Real>(p, index, static_cast<int>(blockIdx.x) % groups, exact).run(counts);
}

}  // namespace

template <class Real>
void count_transitions(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const auto width = static_cast<std::size_t>(padded(parameters.labels));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(parameters.num_tasks * tile_groups(parameters.labels)));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = (3 * width + kThreads * kTileEntries) * sizeof(double) +
                            2 * kBlock * width * sizeof(Real) + kBlock * sizeof(int);
  config.stream = stream;
  SEMICRF_CUDA_CHECK(cudaFuncSetAttribute(transition_kernel<Real>,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(config.dynamicSmemBytes)));
  SEMICRF_CUDA_CHECK(cudaLaunchKernelEx(&config, transition_kernel<Real>, parameters));
}

template void count_transitions<float>(const CountsParameters<float>&, cudaStream_t);
template void count_transitions<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
