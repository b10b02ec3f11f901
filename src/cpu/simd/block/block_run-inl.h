// One direction of the recursion, block by block: the fast path in numbers relative to per-label scales,
// certified, and the exact path in double logarithms for blocks the certificate refuses. docs/algorithm.md,
// "Blocks". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/chunk_kernel.h"
#include "cpu/simd/block/block_scores-inl.h"
#include "cpu/simd/chain_tables-inl.h"
#include "cpu/simd/real_vectors-inl.h"
#include "cpu/simd/semiring-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Where the messages of one block go. Rows are `padded` wide. Fast blocks fill the Real arrays and scales,
// exact ones the logarithms.
template <class Real>
struct BlockMessages {
  bool exact = false;
  const double* position_shift =
      nullptr;                      // (16) whole numbers taken out of the positions' emissions, or null: none
  double base = 0;                  // whole number that every logarithm and scale is relative to
  const double* content = nullptr;  // (padded) sum of the block's emissions
  // Of segments that start in the block, for the traceback. Fast: gamma in panels (panels, 16, lanes)
  // relative to gamma_scale, content up to the block's first boundary. Exact: logarithms (16, padded), start
  // scores included.
  const Real* gamma = nullptr;
  const double* gamma_scale = nullptr;  // (padded)
  const double* started_log = nullptr;
  Real* alpha = nullptr;  // (16, padded) alpha of run boundaries begin+1..begin+16, relative to alpha_scale
  Real* start = nullptr;  // (16, padded) G of run boundaries begin..begin+15, relative to start_scale
  Real* tail = nullptr;   // (16, padded) tail share of alpha, relative to tail_scale, content up to `begin`
  const double* tail_scale = nullptr;  // (padded)
  double* alpha_scale = nullptr;       // (padded)
  double* start_scale = nullptr;       // (padded)
  double* alpha_log = nullptr;         // (16, padded)
  double* start_log = nullptr;         // (16, padded)
  double* tail_log = nullptr;          // (16, padded) content up to the boundary itself
};

template <class Real, class D, class Semiring>
class BlockRun : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using typename Vectors::DD;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;
  using Vectors::load_double;
  using Vectors::log_of;
  using Vectors::store_real;
  using Vectors::two_to;

  explicit BlockRun(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        lanes_(static_cast<std::size_t>(tables.lanes)),
        ring_(static_cast<std::size_t>(tables.ring_blocks) * kBlock * width_, S::template zero<Real>()),
        ring_scale_(static_cast<std::size_t>(tables.ring_blocks) * width_, kNegativeInfinity),
        ring_log_(static_cast<std::size_t>(tables.ring_blocks) * kBlock * width_, kNegativeInfinity),
        ring_has_log_(static_cast<std::size_t>(tables.ring_blocks), true),
        carry_(width_),
        carry_scale_(width_, kNegativeInfinity),
        tail_log_(width_, kNegativeInfinity),
        scores_(tables),
        alpha_factor_(kBlock * width_),
        start_factor_(kBlock * width_),
        near_(kBlock * width_),
        low_(2 * kBlock * width_),
        far_(kBlock * width_),
        tail_source_(kBlock * width_),
        factor_(static_cast<std::size_t>(std::max(tables.ring_blocks, tables.offsets) + 1) * lanes_),
        active_(static_cast<std::size_t>(tables.offsets) + 1),
        fresh_(kBlock * width_),
        alpha_now_(width_),
        alpha_next_(width_),
        to_alpha_(width_),
        to_near_(width_),
        tail_now_(width_),
        tail_idle_(width_),
        tail_to_total_(width_),
        tail_bound_(width_),
        gamma_scale_(width_),
        least_start_(width_),
        least_alpha_(width_),
        started_log_(kBlock * width_),
        bound_(width_),
        look_bound_(width_),
        ring_bound_(width_),
        block_sum_(width_),
        exact_near_(kBlock * width_),
        exact_alpha_(width_),
        tail_entering_(width_),
        weights_(width_),
        idle_alpha_(width_),
        idle_start_(width_) {}

  std::int64_t fallbacks() const { return fallbacks_; }
  void clear_fallbacks() { fallbacks_ = 0; }

  void start_at_sequence_edge() {
    clear_ring();
    set_uniform_carry();
    first_of_sequence_ = true;
  }

  // Every slot, alpha and tail 0 in the gauge of the boundary: its support contains every true support.
  void start_warm() {
    clear_ring();
    set_uniform_carry();
    for (int b = 0; b < t_.ring_blocks; ++b) {
      double* scale = ring_scale_.get() + static_cast<std::size_t>(b) * width_;
      std::fill_n(scale, t_.labels, 0.0);
      double* logs = ring_log_.get() + static_cast<std::size_t>(b) * kBlock * width_;
      for (int slot = 0; slot < kBlock; ++slot) {
        for (int c = 0; c < t_.labels; ++c) {
          ring_at(b, slot, c) = S::template one<Real>();
          logs[static_cast<std::size_t>(slot) * width_ + static_cast<std::size_t>(c)] = 0;
        }
      }
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      if (t_.log_tail[c] != kNegativeInfinity) tail_log_[c] = 0;
    }
  }

  void start_from(const BoundaryState& state) {
    clear_ring();
    origin_ = state.offset;
    origin_whole_ = state.whole;
    const auto labels = static_cast<std::size_t>(t_.labels);
    for (int distance = 1; distance <= t_.ring_blocks; ++distance) {
      const int block = ring_index(distance);
      double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
      for (int slot = 0; slot < kBlock; ++slot) {
        const int d = kBlock * distance - slot;
        if (d > t_.duration) continue;
        std::copy_n(state.ring.data() + static_cast<std::size_t>(d - 1) * labels, labels,
                    logs + static_cast<std::size_t>(slot) * width_);
      }
      normalize_exact(block);
    }
    std::fill_n(exact_alpha_.get(), width_, kNegativeInfinity);
    std::copy_n(state.message.data(), labels, exact_alpha_.get());
    set_carry(exact_alpha_.get());
    if (t_.tail) std::copy_n(state.tail.data(), labels, tail_log_.get());
  }

  // The block [16 block, 16 block + 16) of run positions, of which first_slot..last_slot-1 belong to the
  // sequence.
  void step(const ScoreView& view, std::int64_t block, int first_slot, int last_slot,
            BlockMessages<Real>& out) {
    out.base = base_;
    scores_.load(view, block, first_slot, last_slot);
    prepare_bounds();
    gather_far(0, nullptr, bound_.get());
    const bool whole = first_slot == 0 && last_slot == kBlock;
    const bool plain_start = !first_of_sequence_ || t_.initial_transition;
    if (whole && plain_start && fast_block(out)) {
      out.exact = false;
    } else {
      if (whole && plain_start) ++fallbacks_;
      exact_block(first_slot, last_slot, out);
      out.exact = true;
    }
    out.content = block_sum_.get();
    out.gamma = ring_.get() + static_cast<std::size_t>(head_) * kBlock * width_;
    out.gamma_scale = gamma_scale_.get();
    out.started_log = started_log_.get();
    out.tail_scale = tail_bound_.get();
    out.position_shift = scores_.position_shift();
    mass_ += scores_.mass();
    first_of_sequence_ = false;
    head_ = (head_ + 1) % t_.ring_blocks;
  }

  // The state at the boundary the run has reached. Without the ring at an edge of the sequence, where nobody
  // needs it.
  BoundaryState export_state(std::int64_t boundary, bool with_ring) {
    const auto labels = static_cast<std::size_t>(t_.labels);
    BoundaryState state;
    state.boundary = boundary;
    state.message.resize(labels);
    load_carry_logs(exact_alpha_.get());
    std::copy_n(exact_alpha_.get(), labels, state.message.data());
    if (t_.tail) state.tail.assign(tail_log_.get(), tail_log_.get() + labels);
    if (with_ring) {
      state.ring.resize(static_cast<std::size_t>(t_.duration) * labels);
      for (int d = 1; d <= t_.duration; ++d) {
        const int distance = (d + kBlock - 1) / kBlock;
        const int block = ring_index(distance);
        ensure_logs(block);
        const double* logs = ring_log_.get() + (static_cast<std::size_t>(block) * kBlock +
                                                static_cast<std::size_t>(kBlock * distance - d)) *
                                                   width_;
        const double* scale = ring_scale_.get() + static_cast<std::size_t>(block) * width_;
        for (std::size_t c = 0; c < labels; ++c)
          state.ring[static_cast<std::size_t>(d - 1) * labels + c] = logs[c] + scale[c];
      }
    }
    double largest = kNegativeInfinity;
    for (const auto* values : {&state.ring, &state.message, &state.tail}) {
      for (const double value : *values) largest = std::max(largest, value);
    }
    if (largest == kNegativeInfinity) return state;
    for (auto* values : {&state.ring, &state.message, &state.tail}) {
      for (double& value : *values) value -= largest;
    }
    state.whole = origin_whole_ + (base_ + mass_);
    state.offset = origin_ + largest;
    return state;
  }

  // Every logarithm of the run is relative to origin + origin_whole + base + mass, the last three whole
  // numbers, so that their differences are exact. Mass is the same for all paths: it only counts in states
  // that leave the run.
  double base() const { return base_; }
  double mass() const { return mass_; }
  double origin_whole() const { return origin_whole_; }
  double origin() const { return origin_; }

  // --- what the anchors read (docs/algorithm.md, "The local log Z") ---

  const Tables& tables() const { return t_; }
  const AlignedArray<double>& tail_log() const { return tail_log_; }
  // log alpha at the boundary reached, (padded).
  void load_carry_logs(double* out) const {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      hn::Store(hn::Add(log_of(carry_.get() + c), hn::Load(dd, carry_scale_.get() + c)), dd, out + c);
    }
  }
  // G = log sum over c' of exp(alpha(c') + T[c'][c]) from logarithms, exactly; (padded) arrays.
  void start_messages_exact(const double* alpha, double* out) const { exact_start(alpha, out); }

  // log of gamma at d positions before the boundary, content included, (padded).
  void load_ring_logs(int d, double* out) {
    const int distance = (d + kBlock - 1) / kBlock;
    const int block = ring_index(distance);
    ensure_logs(block);
    const double* logs =
        ring_log_.get() +
        (static_cast<std::size_t>(block) * kBlock + static_cast<std::size_t>(kBlock * distance - d)) * width_;
    const double* scale = ring_scale_.get() + static_cast<std::size_t>(block) * width_;
    for (std::size_t c = 0; c < width_; ++c) out[c] = logs[c] + scale[c];
  }

  void load_block(const ScoreView& view, std::int64_t block) { scores_.load(view, block, 0, kBlock); }

  // Loads block `block` (whole), and computes what segments that began before the boundary reached contribute
  // to its boundaries, when the run has `ahead` blocks to go to it; `gauge` (padded) is the content of those.
  // Leaves the linear numbers in far(), relative to `bound`, and the block's factors; false when a factor
  // left its range.
  bool look_ahead(const ScoreView& view, std::int64_t block, int ahead, const double* gauge, double* bound) {
    scores_.load(view, block, 0, kBlock);
    bound_of_ring(ahead, gauge, bound);
    for (std::size_t c = 0; c < width_; ++c) look_bound_[c] = bound[c] == kNegativeInfinity ? 0.0 : bound[c];
    gather_far(ahead, gauge, look_bound_.get());
    return make_factors();
  }
  const Real* far_panel(int panel) const { return far_.get() + t_.panel_index(panel, 0, kBlock); }
  const Real* alpha_factor_panel(int panel) const {
    return alpha_factor_.get() + t_.panel_index(panel, 0, kBlock);
  }
  const double* block_sum() const { return block_sum_.get(); }
  const double* content() const { return scores_.content(); }  // of the block loaded
  const double* first_scores() const { return scores_.first(); }
  const double* last_scores() const { return scores_.last(); }
  bool has_edge_scores() const { return scores_.has_edges(); }

 private:
  using Vectors::carry_magnitude;
  using Vectors::exponents;
  using Vectors::finite_or_zero;
  using Vectors::from_power;
  using Vectors::from_split_log;
  using Vectors::from_split_power;
  using Vectors::least_factor;
  using Vectors::least_product;
  using Vectors::plus_scalar;
  using Vectors::relative_number;
  using Vectors::split_log;
  using Vectors::split_power;
  using Vectors::store_power;

  static constexpr Real kZero = S::template zero<Real>();
  static constexpr double kLargestGrowth = 100;

  Real& ring_at(int block, int slot, int c) {
    return ring_[static_cast<std::size_t>(block) * kBlock * width_ +
                 t_.panel_index(c / t_.lanes, slot, kBlock) + static_cast<std::size_t>(c % t_.lanes)];
  }
  // distance 1 is the block just left of the boundary.
  int ring_index(int distance) const { return (head_ - distance + 2 * t_.ring_blocks) % t_.ring_blocks; }

  void clear_ring() {
    std::fill_n(ring_.get(), ring_.size(), kZero);
    std::fill_n(ring_scale_.get(), ring_scale_.size(), kNegativeInfinity);
    std::fill_n(ring_log_.get(), ring_log_.size(), kNegativeInfinity);
    std::fill(ring_has_log_.begin(), ring_has_log_.end(), true);
    std::fill_n(tail_log_.get(), width_, kNegativeInfinity);
    std::fill_n(carry_.get(), width_, kZero);
    std::fill_n(carry_scale_.get(), width_, kNegativeInfinity);
    head_ = 0;
    base_ = 0;
    level_ = 0;
    growth_ = 0;
    mass_ = 0;
    origin_ = 0;
    origin_whole_ = 0;
    first_of_sequence_ = false;
  }
  void set_uniform_carry() {
    std::fill_n(carry_.get(), t_.labels, S::template one<Real>());
    std::fill_n(carry_scale_.get(), t_.labels, 0.0);
  }

  // --- bounds and the far part: block_far-inl.h ---

  void bound_of_ring(int ahead, const double* gauge, double* bound) const;
  void prepare_bounds();
  double far_tail_bound(std::size_t c) const;
  void gather_far(int ahead, const double* gauge, const double* bound);
  void gather_far_panel(int panel, int ahead, const double* gauge, const double* bound);
  template <int kHalf>
  HWY_INLINE void toeplitz(int panel, int ahead, int active, Real* far) const;

  // --- the fast path: block_fast-inl.h ---

  struct Extremes {
    V least_total, least_start, least_stored, largest;
  };
  bool make_factors();
  bool fast_block(BlockMessages<Real>& out);
  void prepare_tail();
  bool tail_is_kept() const;
  template <int kPanels>
  HWY_INLINE void start_messages(const Real* alpha, std::size_t c0, V (&sums)[kPanels]) const;
  template <int kFixed>
  bool recursion(BlockMessages<Real>& out);
  HWY_INLINE void advance_panel(int panel, int slot, V start, Real* next, BlockMessages<Real>& out,
                                Extremes& x);
  HWY_INLINE V advance_tail(int panel, int slot, std::size_t row, BlockMessages<Real>& out);
  void finish_fast(BlockMessages<Real>& out);

  // --- carry, ring and gauge: block_ring-inl.h ---

  void set_carry(const double* alpha);
  void take_carry(const Real* alpha);
  double move_base();
  void shift_gauge(const double* content, double shift);
  bool normalize_fast(int block);
  void keep_logs(int block);
  void normalize_exact(int block);
  void ensure_logs(int block);

  // --- the exact path: block_exact-inl.h ---

  static constexpr double kNegligible = -45;  // e^-45 = 3e-20: below the last digit of a sum that holds a 1
  void exact_block(int first_slot, int last_slot, BlockMessages<Real>& out);
  void exact_start(const double* alpha, double* out) const;
  VD exact_start_terms(const double* alpha, std::size_t c) const;
  void exact_tail(int slot);
  VD exact_far(std::size_t c, int slot) const;
  VD exact_sum(std::size_t c, int slot, int first_slot, VD far) const;
  bool needs_ring(std::size_t c, VD total) const;
  VD exact_ring_sum(std::size_t c, int slot);

  const Tables& t_;
  std::size_t width_, lanes_;
  int head_ = 0;  // ring block the next step fills
  double base_ = 0;
  double level_ = 0;   // largest alpha at the boundary reached
  double growth_ = 0;  // of the largest alpha over the last block
  double mass_ = 0;    // sum of the position shifts of the run
  double origin_ = 0;
  double origin_whole_ = 0;
  double scale_ = 0;
  bool first_of_sequence_ = false;
  std::int64_t fallbacks_ = 0;

  AlignedArray<Real> ring_;          // (ring_blocks, panels, 16, lanes) gamma relative to ring_scale
  AlignedArray<double> ring_scale_;  // (ring_blocks, padded) in the gauge of the boundary reached
  AlignedArray<double>
      ring_log_;  // (ring_blocks, 16, padded) log gamma relative to ring_scale, where has_log
  std::vector<char> ring_has_log_;
  AlignedArray<Real> carry_;  // (padded) alpha at the boundary reached, relative to carry_scale
  AlignedArray<double> carry_scale_;
  AlignedArray<double> tail_log_;  // (padded) tail in the gauge of the boundary reached

  // One block's workspace; (16, padded) rows or (panels, 16, lanes).
  BlockScores<Real, D, Semiring> scores_;
  AlignedArray<Real> alpha_factor_, start_factor_, near_, low_, far_, tail_source_, factor_;
  std::vector<int> active_;
  AlignedArray<Real> fresh_;  // gamma of the block being computed, in the ring's layout
  AlignedArray<Real> alpha_now_, alpha_next_;
  AlignedArray<Real> to_alpha_,
      to_near_;  // (padded) factors from a label's bound to the common scale, and back
  AlignedArray<Real> tail_now_, tail_idle_, tail_to_total_;
  AlignedArray<double> tail_bound_;  // (padded) what the tail's numbers are relative to in this block
  AlignedArray<double> gamma_scale_;
  AlignedArray<double> least_start_, least_alpha_;  // (padded) least logarithm of the block's factors
  AlignedArray<double> started_log_;
  AlignedArray<double> bound_, look_bound_, ring_bound_, block_sum_, exact_near_, exact_alpha_,
      tail_entering_;
  mutable AlignedArray<double> weights_;
  AlignedArray<Real> idle_alpha_, idle_start_;  // one where a zero is known to be exact, else zero
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

// The members declared above.
#include "cpu/simd/block/block_exact-inl.h"
#include "cpu/simd/block/block_far-inl.h"
#include "cpu/simd/block/block_fast-inl.h"
#include "cpu/simd/block/block_ring-inl.h"

#endif
