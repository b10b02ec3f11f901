// One direction of the recursion over one chunk, block by block (docs/algorithm.md, "Blocks"). A lane holds
// what belongs to its label: the carried alpha, the scales, the sums over durations of the block's 16
// boundaries. The ring of earlier starts and the duration table lie in shared memory, or in device memory
// where they do not fit. Nothing but alpha goes from label to label, through a row of shared memory at every
// boundary.
//
// Scales are whole numbers of units (log 2; 1 in the max semiring), so that whatever moves a number is a
// power of two and everything but the numbers themselves is integer arithmetic. What a label's content,
// summed from where the run began, has beyond whole units is the label's `rest`, at most half a unit: the
// content of a block begins with it. The whole units are in `gauge`: a ring block's numbers have the factor
// (scale + gauge) units, and rest, when they are wanted at the boundary reached. So the ring is never touched
// when the run moves on.
//
// Most blocks are done by BlockRun::step, which has all it needs in registers. What it cannot do (blocks that
// are cut, that the certificate refuses, whose starts are too far apart for numbers, rings that must move) is
// done from the beginning by slow_block, out of line: the same numbers where both can do it.
#pragma once

#include "cuda/recursion/block/block_parts.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
class BlockRun : private BlockParts<Real, Semiring, Lanes, kRows> {
 public:
  using Parts = BlockParts<Real, Semiring, Lanes, kRows>;
  using O = Ops<Real, Semiring>;
  using Memory = typename Parts::Memory;

  // `p` and `p_aside`: the same parameters twice. The address of the second goes to functions out of line;
  // as none of the first's does, it stays in the constant bank, where instructions read it for nothing.
  __device__ __forceinline__ BlockRun(const RunParameters<Real>& p, const RunParameters<Real>& p_aside,
                                      const Lanes& lanes, const Memory& memory, RunAside& aside)
      : Parts(p, lanes, memory, aside), p_aside_(p_aside) {}

  // One run; the whole team together. A team without a task (`active` false) keeps the others of its warp
  // company.
  __device__ __forceinline__ void run(int index, bool active);

 private:
  using Parts::aside_;
  using Parts::far_;
  using Parts::label_;
  using Parts::lanes_;
  using Parts::m_;
  using Parts::p_;
  using Parts::t_;

  __device__ __forceinline__ void begin_run();
  __device__ __forceinline__ void begin_from_state();
  __device__ __forceinline__ std::int64_t mark_after(std::int64_t position) const;
  __device__ __forceinline__ int state_slot() const;
  __device__ __forceinline__ void export_state(bool mine);
  __device__ __forceinline__ void report(int index) const;
  __device__ __forceinline__ void arrive(int index, bool here);
  __device__ __forceinline__ void next_place();
  // Whether other warps sum up parts of the ring for the leading ones.
  __device__ __forceinline__ bool helped() const {
    if constexpr (Lanes::kTeam) return lanes_.has_helpers();
    return false;
  }
  // `leading`: a block of the run; else helpers alone, for the first block.
  __device__ __forceinline__ void help_or_lead(bool leading);
  __device__ __forceinline__ void step();
  __device__ __forceinline__ void step_slowly();
  __device__ __forceinline__ void prefetch_rows() const;
  __device__ __forceinline__ int direction_labels() const { return this->direction() * t_.labels; }

  const RunParameters<Real>& p_aside_;
  RunState<Real> state_;
  const float* scores_ = nullptr;  // of the label, where the next block begins
  int parity_ = 0;
};

}  // namespace semicrf::cuda

#include "cuda/recursion/block/block_edges.cuh"
#include "cuda/recursion/block/block_step.cuh"
