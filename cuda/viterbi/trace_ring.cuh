// The blocks that a warp's path is in, in shared memory: the last one with boundaries before the path's end,
// the one left of it, and the next one on its way. The path goes left, so what it needs next is known, and a
// step takes no trip to memory as long as segments are short. Steps that need more say so and are made by
// trace_scans.cuh.
//
// Shared memory of a block of threads: [scores of the newest durations (C, newest)] [transitions (C, C), by
// target] [per warp: three slots]. A slot is a block of positions: starts, alpha and, where there are tails,
// tails (16, C); per label: scale of alpha, scale of starts, content, scale of tails, far_key; the link.
#pragma once

#include <cuda_runtime.h>

#include "cuda/viterbi/trace_scans.cuh"

namespace semicrf::cuda {

// Shared memory by its address, a 32-bit number, and copies into it that the threads do not wait for, where
// the device can (sm_80 on); elsewhere they are done at once.

extern __shared__ unsigned char shared_memory[];

#if defined(__CUDA_ARCH__)
// Addresses grow from here in bytes.
__device__ __forceinline__ unsigned shared_base() {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
}
__device__ __forceinline__ void load_shared(unsigned at, float* to) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(*to) : "r"(at));
}
__device__ __forceinline__ void load_shared(unsigned at, double* to) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(*to) : "r"(at));
}
__device__ __forceinline__ void load_shared(unsigned at, int* to) {
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(*to) : "r"(at));
}
__device__ __forceinline__ void store_shared(unsigned at, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(at), "d"(value) : "memory");
}
__device__ __forceinline__ void store_shared(unsigned at, int value) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
#else
__device__ inline unsigned shared_base() { return 0; }
template <class T>
__device__ void load_shared(unsigned at, T* to) {
  *to = *reinterpret_cast<const T*>(shared_memory + at);
}
template <class T>
__device__ void store_shared(unsigned at, T value) {
  *reinterpret_cast<T*>(shared_memory + at) = value;
}
#endif
template <class T>
__device__ __forceinline__ T shared_at(unsigned at) {
  T value;
  load_shared(at, &value);
  return value;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// 4, 8 or 16 bytes at multiples of as many.
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}
// What this thread copied since the last call is a group.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all groups of this thread but the last kPending have arrived.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#else
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  for (int i = 0; i < kBytes / 4; ++i)
    store_shared(to + 4 * static_cast<unsigned>(i), static_cast<const int*>(from)[i]);
}
__device__ __forceinline__ void end_copy_group() {}
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {}
#endif

// The scores that all warps share; none is -0, and so no sum of a step is.
template <class Real>
__device__ void load_tables(const TraceParameters<Real>& p) {
  const TablesView<Real>& t = p.tables;
  const int threads = static_cast<int>(blockDim.x);
  const int biases = p.shape.newest * t.labels;
  const unsigned base = shared_base();
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < biases + t.labels * t.labels; i += threads) {
    const int j = i - biases;
    const double score =
        j < 0 ? t.bias[static_cast<std::int64_t>(i % p.shape.newest) * t.width + i / p.shape.newest]
              : t.transition_log[static_cast<std::int64_t>(j % t.labels) * t.width + j / t.labels];
    store_shared(base + 8 * static_cast<unsigned>(i), score + 0.0);
  }
  __syncthreads();
}

// What a quick look found; where it is not sure, an exact one may find another.
struct Found {
  int value;
  bool sure;
};

// kFew: at most 32 labels. kTails: there are tails.
template <class Real, bool kFew, bool kTails>
class TraceRing {
 public:
  // `warp`: of the block of threads.
  __device__ TraceRing(const TraceParameters<Real>& p, unsigned warp)
      : p_(p),
        lane_(kept(threadIdx.x % 32)),
        labels_(kept(static_cast<unsigned>(p.tables.labels))),
        columns_(kept(kRows * kBlock * labels_ * static_cast<unsigned>(sizeof(Real)))),
        newest_(kept(static_cast<unsigned>(p.shape.newest))),
        base_(kept(shared_base())),
        here_(base_ + static_cast<unsigned>(p.shape.table_bytes) +
              warp * kTraceSlots * static_cast<unsigned>(p.shape.slot_bytes)),
        left_(here_ + static_cast<unsigned>(p.shape.slot_bytes)),
        next_(left_ + static_cast<unsigned>(p.shape.slot_bytes)) {}

  // After a segment that begins at `begin`: goes to the block that holds the boundaries before it.
  __device__ __forceinline__ void move_to(int begin, int length) {
    const int block = (begin - 1) >> 4;
    if (block == block_ || !p_.shape.staged) return;
    const int distance = block_ - block;
    if (block < 0 || length > kShortLength) {
      drop();
      return;
    }
    int copies = distance, next = block_ - kTraceSlots;
    if (distance < 1 || distance > 2) {
      drop();
      copies = kTraceSlots;
      next = block;
    }
#pragma unroll 1
    for (; copies > 0; --copies, --next) {
      __syncwarp();
      turn();
      copy_block(next);
    }
    block_ = block;
    arrive();
  }
  // Until the path is known to take short steps again.
  __device__ __forceinline__ void drop() {
    if (block_ == kNowhere) return;
    wait_for_copies<0>();
    __syncwarp();
    block_ = kNowhere;
  }

  // Whether the path is in the block here with its end, and may look for its sources here; and the first
  // boundary of which the same holds.
  __device__ __forceinline__ bool may_step(int end) const { return (end - 1) >> 4 == block_ && before_ >= 0; }
  __device__ __forceinline__ int first_boundary() const { return block_ * kBlock + 1; }

  // The duration of the best segment of c that ends at `end`; kNotHere when that takes more than what is
  // here. A lane is a duration.
  __device__ __forceinline__ int find_start(int end, unsigned c) const {
    if ((end - 1) >> 4 != block_) return kNotHere;
    const unsigned row = row_before(end);
    const Largest largest = largest_of_warp(is_start(row) ? start_score(row, c) : kNone);
    return far_bound(row, c) < largest.upper ? first_of(largest.lanes) + 1 : kNotHere;
  }
  // find_start() where the path may_step().
  __device__ __forceinline__ Found find_start_quickly(int end, unsigned c) const {
    const unsigned row = row_before(end);
    const double score = start_score(row, c);
    const int far = far_bound(row, c);
    const Winner winner = winner_of_warp(score, is_start(row));
    return {static_cast<int>(winner.lane) + 1, winner.sure && far < winner.upper};
  }

  // The first label with the largest alpha at the boundary plus transition into `to`; kNotHere when that
  // takes more than what is here. A lane is a label.
  __device__ __forceinline__ int find_source(int boundary, unsigned to) const {
    if (!may_step(boundary)) return kNotHere;
    const BestSource best = best_source(boundary, to);
    return first_label(best.score, best.label, static_cast<int>(labels_));
  }
  // The best source in two parts, where the path may_step() or what is found is of no use: the best of the
  // lane's labels, and the best of all.
  struct BestSource {
    double score;
    int label;
  };
  __device__ __forceinline__ BestSource best_source(int boundary, unsigned to) const {
    const unsigned alpha = here_ + (kBlock + row_before(boundary)) * labels_ * sizeof(Real);
    const unsigned into = base_ + (newest_ + to) * labels_ * 8;
    if constexpr (kFew) {
      const bool has_label = lane_ < labels_;
      const double score = source_score(alpha, into, has_label ? lane_ : 0);
      return {has_label ? score : kNone, static_cast<int>(lane_)};
    } else {
      BestSource best{kNone, static_cast<int>(labels_)};
#pragma unroll 1
      for (unsigned c = lane_; c < labels_; c += 32) {
        const double score = source_score(alpha, into, c);
        if (score > best.score) best = {score, static_cast<int>(c)};
      }
      return best;
    }
  }
  __device__ __forceinline__ static Found quick_source(const BestSource& best) {
    const Winner winner = winner_of_warp(best.score, true);
    const int lane = static_cast<int>(winner.lane);
    return {kFew ? lane : __shfl_sync(kAllLanes, best.label, lane), winner.sure};
  }

 private:
  static constexpr int kNowhere = -16;
  static constexpr int kShortLength = 32;  // leaves the path in the blocks at hand, or near
  static constexpr int kExact = -2 * kBlock;
  static constexpr unsigned kRows = kTails ? 3 : 2;  // per position

  // Where in a slot something is.
  __device__ unsigned start_scale() const { return columns_ + labels_ * 8; }
  __device__ unsigned content() const { return columns_ + labels_ * 16; }
  __device__ unsigned tail_scale() const { return columns_ + labels_ * 24; }
  __device__ unsigned far_key() const { return columns_ + labels_ * 32; }
  __device__ unsigned link() const { return columns_ + slot_link(labels_); }

  // In its block: of the last position before a boundary, where the shortest segment starts.
  __device__ static unsigned row_before(int boundary) { return static_cast<unsigned>(boundary - 1) & 15; }
  // Whether a segment of the lane's duration may end behind `row`.
  __device__ bool is_start(unsigned row) const {
    return lane_ < newest_ && static_cast<int>(lane_) <= static_cast<int>(row) + before_;
  }
  __device__ double start_score(unsigned row, unsigned c) const {
    const bool inside = lane_ <= row;
    const unsigned slot = inside ? here_ : left_;
    const unsigned scale = inside ? here_ + start_scale() : left_ + content();
    const Real start = shared_at<Real>(slot + (((row - lane_) & 15) * labels_ + c) * sizeof(Real));
    const double bias = shared_at<double>(base_ + (c * newest_ + lane_) * 8);
    return (static_cast<double>(start) + bias) + shared_at<double>(scale + c * 8);
  }
  // Key of what no segment exceeds that begins before the blocks here, in a tail or not.
  __device__ int far_bound(unsigned row, unsigned c) const {
    const int far = shared_at<int>(here_ + far_key() + c * 4);
    if constexpr (!kTails) return far;
    const Real tail = shared_at<Real>(here_ + (2 * kBlock + row) * labels_ * sizeof(Real) + c * sizeof(Real));
    const int longer = upper_key(static_cast<double>(tail) + shared_at<double>(here_ + tail_scale() + c * 8));
    return larger(far, longer);
  }
  __device__ double source_score(unsigned alpha, unsigned into, unsigned c) const {
    return (static_cast<double>(shared_at<Real>(alpha + c * sizeof(Real))) +
            shared_at<double>(here_ + columns_ + c * 8)) +
           shared_at<double>(into + c * 8);
  }

  // Begins to copy a block into the next slot, as a group of its own, also when there is no such block.
  __device__ __forceinline__ void copy_block(int block) const {
    if (block >= 0) {
      const unsigned row_bytes = kBlock * labels_ * static_cast<unsigned>(sizeof(Real));
      const std::int64_t first = entry(p_, block * kBlock, 0);
#pragma unroll 1
      for (unsigned i = lane_ * 16; i < row_bytes; i += 32 * 16) {
        const auto copy = [&](unsigned kind, const Real* rows) {
          copy_async<16>(next_ + kind * row_bytes + i,
                         reinterpret_cast<const unsigned char*>(rows + first) + i);
        };
        copy(0, p_.store.gamma.numbers);
        copy(1, p_.store.alpha.numbers);
        if (kTails) copy(2, p_.store.tail.numbers);
      }
      const unsigned columns = next_ + columns_;
      const std::int64_t at = entry(p_, block, 0);
#pragma unroll 1
      for (unsigned c = lane_; c < labels_; c += 32) {
        copy_async<8>(columns + c * 8, p_.store.alpha.scale + at + c);
        copy_async<8>(columns + (labels_ + c) * 8, p_.store.gamma.scale + at + c);
        copy_async<8>(columns + (2 * labels_ + c) * 8, p_.store.content + at + c);
        if (kTails) copy_async<8>(columns + (3 * labels_ + c) * 8, p_.store.tail.scale + at + c);
        copy_async<4>(columns + labels_ * 32 + c * 4, p_.far_key + at + c);
      }
      if (lane_ < 2)
        copy_async<8>(next_ + link() + lane_ * 8, reinterpret_cast<const double*>(p_.links + block) + lane_);
    }
    end_copy_group();
  }
  // The block on the left becomes the one here.
  __device__ void turn() {
    const unsigned free = here_;
    here_ = left_;
    left_ = next_;
    next_ = free;
  }
  // Waits for all but the block that was asked for last.
  __device__ void arrive() {
    wait_for_copies<1>();
    __syncwarp();
    // What starts in the block on the left needs besides, in place of its content.
    const double shift = shared_at<double>(here_ + link());
    const bool exact = shared_at<int>(here_ + link() + 8) != 0;
    before_ = exact ? kExact : shared_at<int>(here_ + link() + 12);
#pragma unroll 1
    for (unsigned c = lane_; c < labels_; c += 32) {
      const unsigned at = left_ + content() + c * 8;
      store_shared(at, shift + shared_at<double>(left_ + start_scale() + c * 8) + shared_at<double>(at));
    }
    __syncwarp();
  }

  const TraceParameters<Real>& p_;
  const unsigned lane_, labels_, columns_, newest_, base_;
  int block_ = kNowhere;         // the last with boundaries before the path's end
  unsigned here_, left_, next_;  // it, the one left of it, the next
  int before_ = 0;               // `before` of its link; kExact where it is exact
};

}  // namespace semicrf::cuda
