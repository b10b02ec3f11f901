// The blocks that a warp's path is in, in shared memory: the last one with boundaries before the path's end,
// the one left of it, and the next one on its way. The path goes left, so what it needs next is known, and a
// step takes no trip to memory as long as segments are short. Steps that need more say so and are made by
// trace_scans.cuh.
//
// Shared memory of a block of threads: [scores of the newest durations (C, newest)] [transitions (C, C), by
// target] [per warp: three slots]. A slot is a block of positions: starts, alpha and, where there are tails,
// tails (16, C); per label: scale of alpha, scale of starts, content, scale of tails, far_key; the link.
#pragma once

#include "cuda/device/async_copy.cuh"
#include "cuda/viterbi/trace_scans.cuh"

namespace semicrf::cuda {

// The scores that all warps share.
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
    store_shared(base + 8 * static_cast<unsigned>(i), score);
  }
  __syncthreads();
}

// Begins to copy a block into the slot at `to`, as a group of its own, also when there is no such block.
template <class Real>
__device__ SEMICRF_NOINLINE void copy_block(const TraceParameters<Real>& p, int block, unsigned to) {
  const unsigned labels = static_cast<unsigned>(p.tables.labels);
  const unsigned lane = threadIdx.x % 32;
  if (block >= 0) {
    const unsigned row_bytes = kBlock * labels * sizeof(Real);
    const std::int64_t first = entry(p, block * kBlock, 0);
#pragma unroll 1
    for (int kind = 0; kind < (p.tables.tail != 0 ? 3 : 2); ++kind) {
      const Real* const rows =
          kind == 0 ? p.store.gamma.numbers : (kind == 1 ? p.store.alpha.numbers : p.store.tail.numbers);
      const unsigned char* const from = reinterpret_cast<const unsigned char*>(rows + first);
#pragma unroll 1
      for (unsigned i = lane * 16; i < row_bytes; i += 32 * 16) copy_async<16>(to + i, from + i);
      to += row_bytes;
    }
    const std::int64_t at = entry(p, block, 0);
#pragma unroll 1
    for (unsigned c = lane; c < labels; c += 32) {
      copy_async<8>(to + c * 8, p.store.alpha.scale + at + c);
      copy_async<8>(to + (labels + c) * 8, p.store.gamma.scale + at + c);
      copy_async<8>(to + (2 * labels + c) * 8, p.store.content + at + c);
      if (p.tables.tail != 0) copy_async<8>(to + (3 * labels + c) * 8, p.store.tail.scale + at + c);
      copy_async<4>(to + labels * 32 + c * 4, p.far_key + at + c);
    }
    if (lane < 2)
      copy_async<8>(to + slot_link(labels) + lane * 8,
                    reinterpret_cast<const double*>(p.links + block) + lane);
  }
  end_copy_group();
}

// kFew: at most 32 labels.
template <class Real, bool kFew>
class TraceRing {
 public:
  // `warp`: of the block of threads.
  __device__ TraceRing(const TraceParameters<Real>& p, unsigned warp)
      : p_(p),
        lane_(kept(threadIdx.x % 32)),
        labels_(static_cast<unsigned>(p.tables.labels)),
        columns_(kept(kBlock * labels_ * static_cast<unsigned>(sizeof(Real)) * (p.tables.tail != 0 ? 3 : 2))),
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
    if (distance < 1 || distance > 2) {
      drop();
#pragma unroll 1
      for (int i = 0; i < kTraceSlots; ++i) {
        turn();
        copy_block(p_, block - i, next_);
      }
    } else {
#pragma unroll 1
      for (int step = 0; step < distance; ++step) {
        __syncwarp();
        turn();
        copy_block(p_, block_ - kTraceSlots - step, next_);
      }
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
  // here.
  __device__ __forceinline__ int find_start(int end, unsigned c) const {
    if ((end - 1) >> 4 != block_) return kNotHere;
    const int duration = find_start_here(end, c);
    return duration < kBeyond ? duration : kNotHere;
  }
  // The same for an `end` in the block here; kBeyond, or more, when that takes more than what is here. A lane
  // is a duration.
  __device__ __forceinline__ int find_start_here(int end, unsigned c) const {
    const unsigned row = static_cast<unsigned>(end - 1) & 15;  // of the shortest segment's start
    const unsigned slot = lane_ <= row ? here_ : left_;
    const unsigned scale = lane_ <= row ? here_ + start_scale() : left_ + content();
    const Real start = shared_at<Real>(slot + (((row - lane_) & 15) * labels_ + c) * sizeof(Real));
    double score = static_cast<double>(start) +
                   shared_at<double>(base_ + (c * static_cast<unsigned>(p_.shape.newest) + lane_) * 8);
    score += shared_at<double>(scale + c * 8);
    const int far = shared_at<int>(here_ + far_key() + c * 4);
    const bool asked = lane_ < static_cast<unsigned>(p_.shape.newest) &&
                       static_cast<int>(lane_) <= static_cast<int>(row) + before_;
    const Largest largest = largest_of_warp(asked ? score : kNone);
    bool decided = far < largest.upper;
    if (p_.tables.tail != 0) {
      const Real tail =
          shared_at<Real>(here_ + (2 * kBlock + row) * labels_ * sizeof(Real) + c * sizeof(Real));
      const double longer = static_cast<double>(tail) + shared_at<double>(here_ + tail_scale() + c * 8);
      decided = decided && upper_key(longer) < largest.upper;
    }
    return decided ? first_of(largest.lanes) + 1 : kBeyond;
  }

  // The first label with the largest alpha at the boundary plus transition into `to`; kNotHere when
  // that takes more than what is here.
  __device__ __forceinline__ int find_source(int boundary, unsigned to) const {
    return may_step(boundary) ? find_source_here(boundary, to) : kNotHere;
  }
  // The same where the path may_step(). A lane is a label.
  __device__ __forceinline__ int find_source_here(int boundary, unsigned to) const {
    const unsigned row = static_cast<unsigned>(boundary - 1) & 15;
    const unsigned alpha = here_ + (kBlock + row) * labels_ * sizeof(Real);
    const unsigned into = base_ + (static_cast<unsigned>(p_.shape.newest) + to) * labels_ * 8;
    if constexpr (kFew) {
      const unsigned c = lane_ < labels_ ? lane_ : 0;
      const double value = value_of(alpha, into, c);
      const Largest largest = largest_of_warp(lane_ < labels_ ? value : kNone);
      return largest.upper > upper_key(kNone) ? first_of(largest.lanes) : 0;
    } else {
      double most = kNone;
      int label = static_cast<int>(labels_);
#pragma unroll 1
      for (unsigned c = lane_; c < labels_; c += 32) {
        const double value = value_of(alpha, into, c);
        if (value > most) {
          most = value;
          label = static_cast<int>(c);
        }
      }
      return first_label(most, label, static_cast<int>(labels_));
    }
  }

  static constexpr int kBeyond = 1 << 29;

 private:
  static constexpr int kNowhere = -16;
  static constexpr int kShortLength = 32;  // leaves the path in the blocks at hand, or near
  static constexpr int kExact = -2 * kBlock;

  // Where in a slot something is.
  __device__ unsigned start_scale() const { return columns_ + labels_ * 8; }
  __device__ unsigned content() const { return columns_ + labels_ * 16; }
  __device__ unsigned tail_scale() const { return columns_ + labels_ * 24; }
  __device__ unsigned far_key() const { return columns_ + labels_ * 32; }
  __device__ unsigned link() const { return columns_ + slot_link(labels_); }

  __device__ double value_of(unsigned alpha, unsigned into, unsigned c) const {
    return static_cast<double>(shared_at<Real>(alpha + c * sizeof(Real))) +
           shared_at<double>(here_ + columns_ + c * 8) + shared_at<double>(into + c * 8);
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
  const unsigned lane_, labels_, columns_, base_;
  int block_ = kNowhere;         // the last with boundaries before the path's end
  unsigned here_, left_, next_;  // it, the one left of it, the next
  int before_ = 0;               // of its link; kExact where it is exact
};

}  // namespace semicrf::cuda
