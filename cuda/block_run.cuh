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
#pragma once

#include "cuda/block_factors.cuh"
#include "cuda/block_far.cuh"
#include "cuda/block_fast.cuh"
#include "cuda/exact_block.cuh"
#include "cuda/run_state.cuh"

namespace semicrf::cuda {

template <class Real, class Semiring, class Lanes, int kRows>
class BlockRun {
 public:
  using O = Ops<Real, Semiring>;
  using L = Limits<Semiring, Real>;

  using Memory = TeamMemory<Real, Lanes::kPlace>;

  // `p` and `p_aside`: the same parameters twice. The address of the second goes to functions out of line;
  // as none of the first's does, it stays in the constant bank, where instructions read it for nothing.
  __device__ __forceinline__ BlockRun(const RunParameters<Real>& p, const RunParameters<Real>& p_aside,
                                      const Lanes& lanes, const Memory& memory, RunAside& aside)
      : p_(p),
        p_aside_(p_aside),
        t_(p.tables),
        lanes_(lanes),
        m_(memory),
        far_(p.tables, memory),
        aside_(aside) {
    const int label = lanes.c < t_.labels ? lanes.c : t_.labels - 1;
    label_.label = label;
    label_.into = t_.transition_units[label];
    label_.out_of = t_.source_units[label];
    label_.near_bound = t_.offset_bound[label];
#pragma unroll
    for (int i = 0; i < kBlock; i += 4) load4(t_.near_table + label * kBlock + i, label_.near + i);
    if constexpr (kRows > 0) {
#pragma unroll
      for (int from = 0; from < kRows; ++from)
        label_.transition[from] = from < t_.labels ? t_.transition[from * t_.width + label] : O::zero();
    }
  }

  // One run; the whole team together. A team without a task (`active` false) keeps the others of its warp
  // company.
  __device__ __forceinline__ void run(int index, bool active);

 private:
  static constexpr int kMostGrowth = static_cast<int>(100 / Semiring::kUnit);
  static constexpr int kMostGauge = 1 << 24;

  // A block of which positions first..last-1 belong to the run, and `left` - 1 like it after it.
  struct Place {
    int left;
    int first, last;
    bool running, whole, storing;
    bool first_here, last_here;           // the sequence's first and last position are in it
    bool first_of_sequence, plain_start;  // the run begins here; and segments begin here as elsewhere
    bool edges;                           // there are boundary scores
    const float* scores;                  // of the window, if they may be read as they are
    std::int64_t row;                     // of the block's first position in the scores
    std::int64_t store_row;               // of its first token in the store
  };

  __device__ __forceinline__ ExactMemory<Real> exact() const { return exact_memory(p_, m_, lanes_.c); }
  __device__ __forceinline__ std::int64_t boundary_of(std::int64_t r) const {
    return p_.backward ? aside_.rounded - r : r;
  }
  __device__ __forceinline__ int direction() const { return p_.backward ? -1 : 1; }
  __device__ __forceinline__ int ring_before(int distance) const {
    const int j = head_ - distance;
    return j < 0 ? j + t_.ring_blocks : j;
  }
  // What the run's values are relative to besides base and mass, when it began from a state.
  __device__ __forceinline__ double origin() const {
    return aside_.task->start == StartKind::kState ? aside_.task->start_offset : 0.0;
  }
  __device__ __forceinline__ double origin_whole() const {
    return aside_.task->start == StartKind::kState ? aside_.task->start_whole : 0.0;
  }
  __device__ __forceinline__ const DeviceScores& first_scores() const {
    return p_.backward ? aside_.sequence->ends : aside_.sequence->starts;
  }
  __device__ __forceinline__ const DeviceScores& last_scores() const {
    return p_.backward ? aside_.sequence->starts : aside_.sequence->ends;
  }

  __device__ __forceinline__ void begin_run();
  __device__ __forceinline__ void take_alpha(double alpha, bool mine);
  __device__ __forceinline__ double alpha_log() const;
  __device__ __forceinline__ std::int64_t mark_after(std::int64_t position) const;
  __device__ __forceinline__ int state_slot() const;
  __device__ __forceinline__ void export_state(bool mine);
  __device__ __forceinline__ void report(int index) const;

  __device__ __forceinline__ void arrive(int index, bool here);
  __device__ __forceinline__ Place next_place();
  __device__ __forceinline__ void prefetch_rows(const Place& at) const;
  __device__ __forceinline__ void step(const Place& at);
  __device__ __forceinline__ BlockScales scales_of(const Place& at, int ring) const;
  __device__ __forceinline__ void fill_tail(const Place& at, int bound, BlockTail<Real>* tail) const;
  __device__ __forceinline__ bool tail_certified(const BlockTail<Real>& tail) const;
  __device__ __forceinline__ void sum_far(Real (&sums)[kBlock], int bound) const;
  __device__ __forceinline__ void finish_fast(const Place& at, const BlockScales& scales,
                                              const BlockResult<Real>& result, const FactorRange<Real>& range,
                                              const BlockTail<Real>& tail, bool mine);
  __device__ __forceinline__ void keep_starts_of(const BlockScales& scales, const BlockResult<Real>& result,
                                                 int gauge, bool mine);
  __device__ __forceinline__ void run_exact(const Place& at, const BlockScales& scales, int ring,
                                            const Real (&sums)[kBlock], bool mine);
  __device__ __forceinline__ void finish_exact(double alpha, double content, bool mine);
  // Two flags in turn: who reads one late must not see the next block's.
  __device__ __forceinline__ int& regauge(int parity) const { return static_cast<int*>(m_.regauge)[parity]; }
  __device__ __forceinline__ void request_move(double units, bool forbidden);
  __device__ __forceinline__ void move_now();
  // Whether other warps sum up parts of the ring for the leading ones.
  __device__ __forceinline__ bool helped() const {
    if constexpr (Lanes::kTeam) return lanes_.has_helpers();
    return false;
  }
  // `leading`: a block of the run; else helpers alone, for the first block.
  __device__ __forceinline__ void help_or_lead(const Place& at, bool leading);

  const RunParameters<Real>& p_;
  const RunParameters<Real>& p_aside_;
  const TablesView<Real>& t_;
  const Lanes lanes_;
  const Memory& m_;
  const FarPart<Real, Semiring, Lanes> far_;
  LabelTables<Real, kRows> label_;
  RunAside& aside_;
  int head_ = 0, parity_ = 0;
  int logs_left_ = 0;  // blocks until the ring has none whose logarithms are kept
  bool active_ = false;
  // alpha at the boundary reached: a number (in [1, 2); below 1, max) and a scale, relative to the base.
  Real carry_;
  int carry_scale_ = kEmpty;
  int gauge_ = 0, growth_ = 0;
  bool impossible_ = false;  // no label has an alpha
  double rest_ = 0;
  bool centred_ = false;
  double baseline_ = 0;  // taken out of every score
  // A move of the ring that waits for the helpers.
  double move_units_ = 0;
  bool move_wanted_ = false, move_forbidden_ = false;
  int fresh_ = -1;  // a block of the ring that is on the new gauge already
};

}  // namespace semicrf::cuda

#include "cuda/block_edges.cuh"
#include "cuda/block_exact.cuh"
#include "cuda/block_step.cuh"
