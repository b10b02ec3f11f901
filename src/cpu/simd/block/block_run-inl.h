// One direction of the recursion, block by block. docs/algorithm.md, "Blocks". Included once per instruction
// set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_RUN_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/chunk_kernel.h"
#include "cpu/simd/block/exact_block-inl.h"
#include "cpu/simd/block/refused_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D, class Semiring>
class BlockRun : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using Messages = BlockMessages<Real, typename Vectors::Whole>;
  using typename Vectors::DD;
  using typename Vectors::S;
  using typename Vectors::V;
  using typename Vectors::VD;
  using typename Vectors::Whole;

  explicit BlockRun(const Tables& tables)
      : t_(tables),
        width_(static_cast<std::size_t>(tables.padded)),
        ring_(tables),
        carry_(width_),
        carry_scale_(width_, kNegativeInfinity),
        tail_log_(width_, kNegativeInfinity),
        scores_(tables),
        factors_(tables),
        far_(tables),
        fast_(tables),
        exact_(tables),
        bound_(width_),
        ring_bound_(width_),
        content_(width_),
        gamma_scale_(width_),
        started_log_(kBlock * width_) {}

  void keep_masks(bool keep) { scores_.keep_masks(keep); }
  std::int64_t fallbacks() const { return fallbacks_; }
  void clear_fallbacks() { fallbacks_ = 0; }

  void start_at_sequence_edge() {
    clear();
    set_uniform_carry();
    first_of_sequence_ = true;
    if (t_.cut_begin) open_cut();
  }

  // Every slot, alpha and tail 0 in the gauge of the boundary: its support contains every true support.
  void start_warm() {
    clear();
    set_uniform_carry();
    ring_.fill_with_ones();
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      if (t_.tails.log[c] != kNegativeInfinity) tail_log_[c] = 0;
    }
  }

  void start_from(const BoundaryState& state) {
    clear();
    origin_ = state.offset;
    origin_whole_ = state.whole;
    const auto labels = static_cast<std::size_t>(t_.labels);
    double* rows = exact_.starts();
    for (int distance = 1; distance <= t_.ring_blocks; ++distance) {
      std::fill_n(rows, kBlock * width_, kNegativeInfinity);
      for (int slot = 0; slot < kBlock; ++slot) {
        const int d = kBlock * distance - slot;
        if (d > t_.duration) continue;
        std::copy_n(state.ring.data() + static_cast<std::size_t>(d - 1) * labels, labels,
                    rows + static_cast<std::size_t>(slot) * width_);
      }
      ring_.put_logs(distance, rows);
    }
    std::fill_n(exact_.alpha(), width_, kNegativeInfinity);
    std::copy_n(state.message.data(), labels, exact_.alpha());
    set_carry(exact_.alpha());
    if (t_.tail) std::copy_n(state.tail.data(), labels, tail_log_.get());
  }

  // The block [16 block, 16 block + 16) of run positions, of which first_slot..last_slot-1 belong to the
  // sequence.
  void step(const ScoreView& view, std::int64_t block, int first_slot, int last_slot, Messages& out) {
    out.base = base_;
    scores_.load(view, block, first_slot, last_slot);
    prepare_bounds();
    far_.gather(ring_, 0, nullptr, bound_.get());
    const bool whole = first_slot == 0 && last_slot == kBlock;
    const bool free_start = first_of_sequence_ && !t_.initial_transition;
    if (!whole || free_start || !fast_block(out)) {
      if (whole && !free_start) ++fallbacks_;
      exact_block(first_slot, last_slot, free_start, out);
    }
    out.content = content_.get();
    out.gamma = ring_.numbers(0);
    out.gamma_start = ring_.starts(0);
    out.gamma_whole = ring_.whole(0);
    out.gamma_scale = gamma_scale_.get();
    out.started_log = started_log_.get();
    out.position_shift = scores_.position_shift();
    mass_ += scores_.mass();
    first_of_sequence_ = false;
    ring_.advance();
  }

  // The state at the boundary the run has reached, `rest_of_block` positions before the end of its block.
  // Without the ring at an edge of the sequence that is no cut: nobody needs it there.
  BoundaryState export_state(std::int64_t boundary, bool with_ring, int rest_of_block = 0) {
    const auto labels = static_cast<std::size_t>(t_.labels);
    BoundaryState state;
    state.boundary = boundary;
    state.message.resize(labels);
    load_carry_logs(exact_.alpha());
    std::copy_n(exact_.alpha(), labels, state.message.data());
    if (t_.tail) state.tail.assign(tail_log_.get(), tail_log_.get() + labels);
    if (with_ring) {
      state.ring.resize(static_cast<std::size_t>(t_.duration) * labels);
      for (int d = 1; d <= t_.duration; ++d) {
        ring_.load_logs(d + rest_of_block, exact_.starts());
        std::copy_n(exact_.starts(), labels, state.ring.data() + static_cast<std::size_t>(d - 1) * labels);
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

  // --- what the anchors and counts read (docs/algorithm.md, "The local log Z") ---

  const Tables& tables() const { return t_; }
  const AlignedArray<double>& tail_log() const { return tail_log_; }
  // log alpha at the boundary reached, (padded).
  void load_carry_logs(double* out) const {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD number = S::ToLog(dd, Vectors::load_double(carry_.get() + c));
      hn::Store(hn::Add(number, hn::Load(dd, carry_scale_.get() + c)), dd, out + c);
    }
  }
  // G = log sum over c' of exp(alpha(c') + T[c'][c]) from logarithms, exactly; (padded) arrays.
  void start_messages_exact(const double* alpha, double* out) { exact_.start_messages(alpha, out); }
  // log of gamma at d positions before the boundary, content included, (padded).
  void load_ring_logs(int d, double* out) const { ring_.load_logs(d, out); }
  void load_block(const ScoreView& view, std::int64_t block) { scores_.load(view, block, 0, kBlock); }

  // Loads block `block` (whole), and computes what segments that began before the boundary reached contribute
  // to its boundaries, when the run has `ahead` blocks to go to it; `gauge` (padded) is the content of those.
  // Leaves the numbers in far(), relative to `bound` (padded, -inf where nothing contributes), and the
  // block's factors; false when one of these is out of range.
  bool look_ahead(const ScoreView& view, std::int64_t block, int ahead, const double* gauge, double* bound) {
    scores_.load(view, block, 0, kBlock);
    ring_.bound(ahead, gauge, bound);
    for (std::size_t c = 0; c < width_; ++c) bound_[c] = bound[c] == kNegativeInfinity ? 0.0 : bound[c];
    far_.gather(ring_, ahead, gauge, bound_.get());
    return factors_.make(scores_);
  }
  const FarPart<Real, D, Semiring>& far() const { return far_; }
  const ContentFactors<Real, D, Semiring>& factors() const { return factors_; }
  const double* content() const { return scores_.content(); }  // content of the block loaded
  const double* first_scores() const { return scores_.first(); }
  const double* last_scores() const { return scores_.last(); }
  bool has_edge_scores() const { return scores_.has_edges(); }

 private:
  // Where alpha lies this far below the open segments, as where durations below a minimum cost 1e5, these
  // count.
  static constexpr double kFarApart = 2e4;

  void clear() {
    ring_.clear();
    std::fill_n(tail_log_.get(), width_, kNegativeInfinity);
    std::fill_n(carry_.get(), width_, S::template one<Real>());
    std::fill_n(carry_scale_.get(), width_, kNegativeInfinity);
    base_ = 0;
    mass_ = 0;
    origin_ = 0;
    origin_whole_ = 0;
    first_of_sequence_ = false;
  }
  // Segments may have begun anywhere before a cut, one place as good as another.
  void open_cut() {
    double* const rows = exact_.starts();
    std::fill_n(rows, kBlock * width_, kNegativeInfinity);
    for (std::size_t slot = 0; slot < kBlock; ++slot)
      std::copy_n(t_.first_scores.data(), t_.labels, rows + slot * width_);
    for (int distance = 1; distance <= t_.ring_blocks; ++distance) ring_.put_logs(distance, rows);
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c)
      if (t_.tails.log[c] != kNegativeInfinity)
        tail_log_[c] = t_.first_scores[c] + t_.last.log[c] - std::log(std::expm1(-t_.tails.log[c]));
  }
  void set_uniform_carry() { std::fill_n(carry_scale_.get(), t_.labels, 0.0); }

  // Carries alpha given as logarithms; the scales of all labels differ by whole units.
  void set_carry(const double* alpha) {
    double largest = kNegativeInfinity;
    for (int c = 0; c < t_.labels; ++c) largest = std::max(largest, alpha[c]);
    for (std::size_t c = 0; c < width_; ++c) {
      const bool none = alpha[c] == kNegativeInfinity;
      carry_scale_[c] = none ? kNegativeInfinity : largest + S::Quantized(alpha[c] - largest);
      carry_[c] = none ? S::template one<Real>() : Vectors::number_of(alpha[c] - carry_scale_[c]);
    }
  }

  // The scale all units of the block are relative to, near the largest of alpha and ring, and per label what
  // the far part is relative to.
  void prepare_bounds() {
    ring_.bound(0, nullptr, ring_bound_.get());
    const double alpha = largest(carry_scale_.get());
    const double ring = largest(ring_bound_.get());
    scale_ = alpha;
    if (ring - alpha > kFarApart)
      scale_ = alpha == kNegativeInfinity ? ring : alpha + S::Quantized(ring - alpha);
    if (scale_ == kNegativeInfinity) scale_ = 0;
    for (std::size_t c = 0; c < width_; ++c) {
      bound_[c] =
          ring_bound_[c] == kNegativeInfinity ? scale_ : scale_ + S::Quantized(ring_bound_[c] - scale_);
    }
  }
  double largest(const double* values) const { return *std::max_element(values, values + t_.labels); }

  bool fast_block(Messages& out) {
    if (!factors_.make(scores_)) return false;
    const typename FastBlock<Real, D, Semiring>::Inputs inputs{ring_,        factors_,          far_,
                                                               bound_.get(), ring_bound_.get(), scale_};
    if (!fast_.run(inputs, carry_.get(), carry_scale_.get(), tail_log_.get(), out)) return false;
    out.scale = scale_;
    out.alpha_number = fast_.alpha();
    out.alpha_whole = fast_.alpha_whole();
    out.exact = fast_.needs_logs();
    out.cut = fast_.has_only_cuts();
    if (out.exact)
      fast_.write_logs(scores_.has_edges() ? scores_.first() : nullptr, scores_.content(),
                       started_log_.get());
    std::copy_n(fast_.last_alpha(), width_, carry_.get());
    for (std::size_t c = 0; c < width_; ++c) {
      const Whole whole = fast_.last_alpha_whole()[c];
      const auto units = static_cast<double>(whole - t_.transitions.out_whole[c]);
      carry_scale_[c] = whole < kLeastWhole ? kNegativeInfinity : scale_ + units * S::kUnit;
      content_[c] = factors_.sum()[c];
      if (t_.tail) tail_log_[c] = fast_.tail().log(c) + (scale_ + content_[c] + t_.tail_drift[c]);
    }
    ring_.put_starts(fast_.starts(), fast_.starts_whole(), scale_);
    std::copy_n(ring_.scale(0), width_, gamma_scale_.get());
    ring_.move_gauge(content_.get(), move_base());
    for (std::size_t c = 0; factors_.has_cuts() && c < width_; ++c) {
      if (!fast_.cut(c)) continue;
      ring_.cut(c);
      content_[c] = kNegativeInfinity;
    }
    return true;
  }

  void exact_block(int first_slot, int last_slot, bool free_start, Messages& out) {
    load_carry_logs(exact_.alpha());
    exact_.run({ring_, scores_, far_, bound_.get(), ring_bound_.get(), first_slot, last_slot, free_start,
                first_of_sequence_ && t_.cut_begin},
               tail_log_.get(), started_log_.get(), out);
    out.exact = true;
    out.cut = false;
    std::copy_n(exact_.content(), width_, content_.get());
    set_carry(exact_.alpha());
    const double shift = move_base();
    ring_.move_gauge(content_.get(), shift);
    for (std::size_t i = 0; i < kBlock * width_; ++i) exact_.starts()[i] -= shift;
    ring_.put_logs(0, exact_.starts());
  }

  // Keeps the logarithms small: takes a whole number near the largest of alpha and the starts out of them,
  // those of the ring before its gauge has moved. Returns it.
  double move_base() {
    const double alpha = largest(carry_scale_.get());
    const double ring = ring_.largest_scale(content_.get());
    const double most = ring - alpha > kFarApart ? ring : alpha;
    if (most == kNegativeInfinity) return 0;
    const double shift = std::floor(most);
    for (std::size_t c = 0; c < width_; ++c) {
      carry_scale_[c] -= shift;
      tail_log_[c] -= shift;
    }
    base_ += shift;
    return shift;
  }

  const Tables& t_;
  std::size_t width_;
  double base_ = 0;
  double mass_ = 0;  // sum of the position shifts of the run
  double origin_ = 0;
  double origin_whole_ = 0;
  bool first_of_sequence_ = false;
  std::int64_t fallbacks_ = 0;

  // What goes from block to block, in the gauge of the boundary reached.
  Ring<Real, D, Semiring> ring_;
  AlignedArray<Real> carry_;  // (padded) alpha, near 1, relative to carry_scale
  AlignedArray<double> carry_scale_;
  AlignedArray<double> tail_log_;  // (padded)

  // One block's workspace.
  BlockScores<Real, D, Semiring> scores_;
  ContentFactors<Real, D, Semiring> factors_;
  FarPart<Real, D, Semiring> far_;
  FastBlock<Real, D, Semiring> fast_;
  ExactBlock<Real, D, Semiring> exact_;
  double scale_ = 0;
  AlignedArray<double> bound_, ring_bound_, content_, gamma_scale_;  // (padded)
  AlignedArray<double> started_log_;                                 // (16, padded)
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
