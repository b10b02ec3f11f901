// Combining (docs/algorithm.md, "Posteriors"): from an anchor leftwards p_start and p_end are products of
// stored numbers, and the crossing mass follows.
//
// A lane per label, a block of 16 positions at a time in registers; with few labels a warp takes several
// pieces of intervals at once, with many a block of threads takes one. Sums over labels of 16 positions are
// reduced together, so that every lane ends up with those of one position or two. Long intervals are cut into
// pieces: what a piece adds to the crossing mass is summed first.
#include "cuda/device/launch.h"
#include "cuda/posteriors/posterior_launch.h"
#include "cuda/recursion/stored_message.cuh"

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

namespace {

constexpr int kWarps = 4;  // per block of threads, up to 32 labels

__device__ __forceinline__ float logarithm(float x) { return logf(x); }
__device__ __forceinline__ double logarithm(double x) { return log(x); }

// The product of two stored numbers, a factor of their block and a power of two of their position: none of
// these alone leaves the range, nor do the products of two.
template <class Real>
__device__ __forceinline__ Real scaled_product(Real one, Real other, Scaled<Real> factor, int level) {
  const int power = factor.units + level;
  const int half = power >> 1;
  return (one * power_of_two(half, Real())) * (other * (factor.number * power_of_two(power - half, Real())));
}
// Levels of a block's positions in two messages, added up.
__device__ __forceinline__ void load_levels(const int* one, const int* other, std::int64_t block,
                                            int (&levels)[kBlock]) {
#pragma unroll
  for (int slot = 0; slot < kBlock; slot += 4) {
    int more[4];
    load4(one + block * kBlock + slot, levels + slot);
    load4(other + block * kBlock + slot, more);
#pragma unroll
    for (int k = 0; k < 4; ++k) levels[slot + k] += more[k];
  }
}

struct StartAndEnd {
  double start, end;
};
// Start and end posteriors in a block that either direction did over logarithms.
template <class Real>
__device__ SEMICRF_NOINLINE StartAndEnd from_logs(const CombineParameters<Real>& p, std::int64_t row, int c,
                                                  double log_z) {
  const double start = stored_log(p.forward, p.forward.gamma, row, c, p.labels) +
                       stored_log(p.backward, p.backward.alpha, row, c, p.labels);
  const double end = stored_log(p.forward, p.forward.alpha, row, c, p.labels) +
                     stored_log(p.backward, p.backward.gamma, row, c, p.labels);
  return {exp(start - log_z), exp(end - log_z)};
}

// Which piece a group of lanes works on, and its label.
struct PieceOfInterval {
  int index, piece, c;
  std::int64_t first_block, last_block;  // blocks of the stores; last < first: nothing
  std::int64_t first_row, last_row;      // rows of the interval
  bool has_label;
};
template <class Real>
__device__ __forceinline__ PieceOfInterval piece_of(const CombineParameters<Real>& p, std::int64_t team,
                                                    int c) {
  PieceOfInterval at{};
  at.c = c < p.labels ? c : p.labels - 1;
  at.has_label = c < p.labels;
  at.first_block = 0;
  at.last_block = -1;
  if (team >= static_cast<std::int64_t>(p.num_tasks) * p.pieces) return at;
  at.index = static_cast<int>(team / p.pieces);
  at.piece = static_cast<int>(team % p.pieces);
  const AnchorTask& task = p.tasks[at.index];
  at.first_row = task.first_row;
  at.last_row = task.first_row + (task.end - task.begin) - 1;
  at.first_block = at.first_row / kBlock + static_cast<std::int64_t>(at.piece) * kCombineBlocks;
  at.last_block = at.last_row / kBlock;
  if (at.first_block + kCombineBlocks - 1 < at.last_block)
    at.last_block = at.first_block + kCombineBlocks - 1;
  return at;
}

// p_start and p_end of one block and label; zeros beyond the sequence.
template <class Real>
__device__ __forceinline__ void load_block(const CombineParameters<Real>& p, const PieceOfInterval& at,
                                           std::int64_t block, Real (&start)[kBlock], Real (&end)[kBlock]) {
  const std::int64_t labels = p.labels;
  const double log_z =
      p.z.offset[at.index] + (p.z.whole[at.index] - (p.forward.base[block] + p.backward.base[block]));
  const bool fast = p.forward.exact[block] == 0 && p.backward.exact[block] == 0;
  if (fast) {
    const std::int64_t first = block * kBlock * labels + at.c;
    Real delta[kBlock], beta[kBlock];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      start[slot] = p.forward.gamma.numbers[first + slot * labels];
      delta[slot] = p.backward.alpha.numbers[first + slot * labels];
      end[slot] = p.forward.alpha.numbers[first + slot * labels];
      beta[slot] = p.backward.gamma.numbers[first + slot * labels];
    }
    const std::int64_t i = block * labels + at.c;
    const auto multiply = [&](const MessageView<Real>& left, const MessageView<Real>& right,
                              const Real(&more)[kBlock], Real(&numbers)[kBlock]) {
      int levels[kBlock];
      load_levels(left.level, right.level, block, levels);
      const Scaled<Real> factor =
          Ops<Real, LogSemiring>::scaled_from_log(left.scale[i] + right.scale[i] - log_z);
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot)
        numbers[slot] = scaled_product(numbers[slot], more[slot], factor, levels[slot]);
    };
    multiply(p.forward.gamma, p.backward.alpha, delta, start);
    multiply(p.forward.alpha, p.backward.gamma, beta, end);
  } else {
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      StartAndEnd value{0, 0};
      const std::int64_t row = block * kBlock + slot;
      if (row <= at.last_row) value = from_logs(p, row, at.c, log_z);
      start[slot] = static_cast<Real>(value.start);
      end[slot] = static_cast<Real>(value.end);
    }
  }
}

// Asks for the numbers of a block that is loaded soon.
template <class Real>
__device__ __forceinline__ void ask_for_messages(const CombineParameters<Real>& p, std::int64_t block,
                                                 int c) {
  ask_for_block(p.forward.gamma.numbers, block, p.labels, c);
  ask_for_block(p.backward.alpha.numbers, block, p.labels, c);
  ask_for_block(p.forward.alpha.numbers, block, p.labels, c);
  ask_for_block(p.backward.gamma.numbers, block, p.labels, c);
}

// Sums over a group's lanes of 16 values each. Lane l of the group returns those of slots
// kBlock / kHeld * h + slot_of(l), h < kHeld.
template <int kGroup>
inline constexpr int kHeld = kGroup >= kBlock ? 1 : kBlock / kGroup;
// One step: lanes whose number has the bit kHalf keep the upper half of every kLanes values, the others the
// lower.
template <int kHalf, int kLanes, class Real>
__device__ __forceinline__ void halve(Real (&values)[kBlock]) {
  if constexpr (kHalf > 0) {
    const bool upper = (threadIdx.x & static_cast<unsigned>(kHalf)) != 0;
#pragma unroll
    for (int first = 0; first < kBlock; first += kLanes) {
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        const Real low = values[first + i];
        const Real high = values[first + i + kHalf];
        values[first + i] = (upper ? high : low) + __shfl_xor_sync(kAllLanes, upper ? low : high, kHalf);
      }
    }
    halve<kHalf / 2, kLanes>(values);
  }
}
template <int kGroup, class Real>
__device__ __forceinline__ void reduce_slots(Real (&values)[kBlock], Real (&held)[kHeld<kGroup>]) {
  constexpr int kLanes = kGroup < kBlock ? kGroup : kBlock;
  halve<kLanes / 2, kLanes>(values);
#pragma unroll
  for (int h = 0; h < kHeld<kGroup>; ++h) {
    held[h] = values[h * kLanes];
    if constexpr (kGroup > kBlock) held[h] += __shfl_xor_sync(kAllLanes, held[h], kBlock);
  }
}

// Statistics of the positions that a lane held.
struct Statistics {
  double entropy = 0, mass = 0, plogp = 0, worst = 0;
  __device__ __forceinline__ void include_error(double error) {
    if (!(error <= worst) && worst == worst) worst = error;
  }
};

// kMany: a warp per 32 labels, the block of threads together.
template <class Real, int kGroup, bool kMany>
class PieceCombiner {
 public:
  __device__ PieceCombiner(const CombineParameters<Real>& p, const PieceOfInterval& at) : p_(p), at_(at) {}

  __device__ __forceinline__ void run() {
    if (at_.has_label && at_.last_block >= at_.first_block) crossing_ = first_crossing();
    for (int i = 0; i < kCombineBlocks; ++i) {
      const std::int64_t block = at_.last_block - i;
      const bool running = block >= at_.first_block;
      if (kMany ? !running : __any_sync(kAllLanes, running) == 0) break;
      combine(block, running, i % 2);
    }
    write_statistics();
  }

 private:
  static constexpr int kLanes = kGroup < kBlock ? kGroup : kBlock;
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % kGroup; }

  // The mass that crosses the piece's right end.
  __device__ double first_crossing() const {
    double mass = p_.crossing[static_cast<std::int64_t>(at_.index) * p_.labels + at_.c];
    for (int piece = p_.pieces - 1; piece > at_.piece; --piece) {
      mass += p_.piece_sums[(static_cast<std::int64_t>(at_.index) * p_.pieces + piece) * p_.labels + at_.c];
    }
    return mass;
  }

  __device__ __forceinline__ void combine(std::int64_t block, bool running, int buffer) {
    Real start[kBlock], end[kBlock], label[kBlock];
    if (block > at_.first_block && at_.has_label) ask_for_messages(p_, block - 1, at_.c);
    if (running && at_.has_label) {
      load_block(p_, at_, block, start, end);
    } else {
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot) start[slot] = end[slot] = Real(0);
    }
    // The mass that crosses is near 1 along a long segment, and what each position adds to it far below its
    // last digit: a block's share is summed by itself.
    const Real high = static_cast<Real>(crossing_);
    const Real low = static_cast<Real>(crossing_ - static_cast<double>(high));
    Real moved = 0;
#pragma unroll
    for (int slot = kBlock - 1; slot >= 0; --slot) {
      moved += end[slot];
      label[slot] = high + (low + moved);
      moved -= start[slot];
    }
    crossing_ += static_cast<double>(moved);
    Real values[kBlock], total[kHeld<kGroup>], begun[kHeld<kGroup>], information[kHeld<kGroup>];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) values[slot] = label[slot];
    reduce_slots<kGroup>(values, total);
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) values[slot] = start[slot];
    reduce_slots<kGroup>(values, begun);
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      label[slot] = larger(label[slot], Real(0));
      values[slot] = label[slot] * logarithm(larger(label[slot], static_cast<Real>(1e-30)));
    }
    reduce_slots<kGroup>(values, information);
    if constexpr (kMany) add_warps(total, begun, information, buffer);

    const std::int64_t rows = at_.last_row - block * kBlock + 1;
    const int count = !running ? 0 : (rows < kBlock ? static_cast<int>(rows) : kBlock);  // inside
    Real by[kHeld<kGroup>];
#pragma unroll
    for (int h = 0; h < kHeld<kGroup>; ++h) {
      const int slot = h * kLanes + lane() % kLanes;
      const std::int64_t row = block * kBlock + slot;
      const double norm = static_cast<double>(total[h]);
      by[h] = static_cast<Real>(1.0 / norm);
      if (slot >= count || lane() >= kLanes || (kMany && threadIdx.x >= kBlock)) continue;
      double boundary = static_cast<double>(begun[h]) / norm;
      boundary = boundary < 0 ? 0.0 : (boundary > 1 ? 1.0 : boundary);
      if (p_.boundary != nullptr) p_.boundary[row] = static_cast<Real>(boundary);
      if (p_.norm_log != nullptr && slot == 0) p_.norm_log[block] = log(norm);
      sums_.include_error(fabs(norm - 1.0));
      sums_.entropy += log(norm) - static_cast<double>(information[h]) / norm;
      sums_.mass += boundary;
      if (boundary > 0) sums_.plogp += boundary * log(boundary);
    }
    Real scale[kBlock];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot)
      scale[slot] = __shfl_sync(kAllLanes, by[slot / kLanes], slot % kLanes, kGroup);
    if (!at_.has_label) return;
    const std::int64_t first = block * kBlock * p_.labels + at_.c;
    write(p_.label_rows, first, count, label, scale);
    write(p_.starts, first, count, start, scale);
    write(p_.ends, first, count, end, scale);
  }
  // Posteriors of a label in the `count` positions of a block into rows, unless null.
  __device__ __forceinline__ void write(Real* rows, std::int64_t first, int count,
                                        const Real (&posteriors)[kBlock], const Real (&scale)[kBlock]) const {
    if (rows == nullptr) return;
    Real* const out = rows + first;
    if (count == kBlock) {
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot)
        out[slot * p_.labels] = smaller(Real(1), posteriors[slot] * scale[slot]);
    } else {
#pragma unroll
      for (int slot = 0; slot < kBlock; ++slot)
        if (slot < count) out[slot * p_.labels] = smaller(Real(1), posteriors[slot] * scale[slot]);
    }
  }

  // Sums of all warps in their order. Shared memory: (2, 3, warps, 16).
  __device__ __forceinline__ void add_warps(Real (&total)[kHeld<kGroup>], Real (&begun)[kHeld<kGroup>],
                                            Real (&information)[kHeld<kGroup>], int buffer) const {
    static_assert(kGroup == 32);
    const int warps = static_cast<int>(blockDim.x / 32);
    const int warp = static_cast<int>(threadIdx.x / 32);
    const int slot = lane() % kBlock;
    Real* const sums = reinterpret_cast<Real*>(shared_memory) + buffer * 3 * warps * kBlock;
    if (lane() < kBlock) {
      sums[warp * kBlock + slot] = total[0];
      sums[(warps + warp) * kBlock + slot] = begun[0];
      sums[(2 * warps + warp) * kBlock + slot] = information[0];
    }
    __syncthreads();
    total[0] = begun[0] = information[0] = Real(0);
    for (int w = 0; w < warps; ++w) {
      total[0] += sums[w * kBlock + slot];
      begun[0] += sums[(warps + w) * kBlock + slot];
      information[0] += sums[(2 * warps + w) * kBlock + slot];
    }
  }

  __device__ __forceinline__ void write_statistics() {
#pragma unroll
    for (int step = kLanes / 2; step > 0; step /= 2) {
      sums_.entropy += __shfl_xor_sync(kAllLanes, sums_.entropy, step);
      sums_.mass += __shfl_xor_sync(kAllLanes, sums_.mass, step);
      sums_.plogp += __shfl_xor_sync(kAllLanes, sums_.plogp, step);
      sums_.include_error(__shfl_xor_sync(kAllLanes, sums_.worst, step));
    }
    if (lane() != 0 || (kMany && threadIdx.x != 0) || at_.last_block < at_.first_block) return;
    double* out = p_.sums + (static_cast<std::int64_t>(at_.index) * p_.pieces + at_.piece) * 4;
    if (!(p_.z.log[at_.index] > kNone)) sums_ = Statistics();  // there are no posteriors
    out[0] = sums_.entropy;
    out[1] = sums_.mass;
    out[2] = sums_.plogp;
    out[3] = sums_.worst;
  }

  const CombineParameters<Real>& p_;
  const PieceOfInterval at_;
  double crossing_ = 0;
  Statistics sums_;
};

template <class Real, int kGroup>
__global__ void __launch_bounds__(kWarps * 32)
    combine_kernel(const __grid_constant__ CombineParameters<Real> p) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * (kWarps * 32) + threadIdx.x;
  const PieceOfInterval at = piece_of(p, thread / kGroup, static_cast<int>(thread % kGroup));
  PieceCombiner<Real, kGroup, false>(p, at).run();
}
template <class Real, int kThreads>
__global__ void __launch_bounds__(kThreads)
    combine_many_kernel(const __grid_constant__ CombineParameters<Real> p) {
  const PieceOfInterval at = piece_of(p, blockIdx.x, static_cast<int>(threadIdx.x));
  PieceCombiner<Real, 32, true>(p, at).run();
}

// What each piece adds to the crossing mass, right to left: ends less starts. A thread per piece and label.
template <class Real>
__global__ void __launch_bounds__(kWarps * 32)
    piece_kernel(const __grid_constant__ CombineParameters<Real> p) {
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * (kWarps * 32) + threadIdx.x;
  const PieceOfInterval at = piece_of(p, thread / p.labels, static_cast<int>(thread % p.labels));
  if (thread / p.labels >= static_cast<std::int64_t>(p.num_tasks) * p.pieces) return;
  double sum = 0;
  for (std::int64_t block = at.last_block; block >= at.first_block; --block) {
    Real start[kBlock], end[kBlock];
    load_block(p, at, block, start, end);
#pragma unroll
    for (int slot = kBlock - 1; slot >= 0; --slot)
      sum += static_cast<double>(end[slot]) - static_cast<double>(start[slot]);
  }
  p.piece_sums[(static_cast<std::int64_t>(at.index) * p.pieces + at.piece) * p.labels + at.c] = sum;
}

}  // namespace

template <class Real>
void combine_messages(const CombineParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t pieces = static_cast<std::int64_t>(parameters.num_tasks) * parameters.pieces;
  const auto run = [&](auto kernel, std::int64_t lanes) {
    SEMICRF_CUDA_CHECK(launch(kernel, shape_for(pieces * lanes, kWarps * 32), stream, parameters));
  };
  if (parameters.pieces > 1) run(piece_kernel<Real>, parameters.labels);
  if (parameters.labels <= 8) {
    run(combine_kernel<Real, 8>, 8);
  } else if (parameters.labels <= 16) {
    run(combine_kernel<Real, 16>, 16);
  } else if (parameters.labels <= 32) {
    run(combine_kernel<Real, 32>, 32);
  } else {
    const int warps = (parameters.labels + 31) / 32;
    const auto shared = static_cast<std::size_t>(2 * 3 * warps * kBlock) * sizeof(Real);
    const auto kernel = warps <= 8 ? combine_many_kernel<Real, 256> : combine_many_kernel<Real, 1024>;
    SEMICRF_CUDA_CHECK(launch(kernel, {pieces, warps * 32, shared}, stream, parameters));
  }
}

template void combine_messages<float>(const CombineParameters<float>&, cudaStream_t);
template void combine_messages<double>(const CombineParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
