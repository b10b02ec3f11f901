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
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu/chunk_kernel.h"
#include "cpu/simd/chain_tables-inl.h"
#include "cpu/simd/semiring-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Exponent of a positive normal number.
inline int exponent_of(float x) { return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23) - 127; }
inline int exponent_of(double x) { return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023; }

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
  Real* tail = nullptr;   // (16, padded) tail share of alpha, relative to alpha_scale, content up to `begin`
  double* alpha_scale = nullptr;  // (padded)
  double* start_scale = nullptr;  // (padded)
  double* alpha_log = nullptr;    // (16, padded)
  double* start_log = nullptr;    // (16, padded)
  double* tail_log = nullptr;     // (16, padded) content up to the boundary itself
};

template <class Real, class D, class Semiring>
class BlockRun {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using S = Semiring;
  using V = hn::Vec<D>;
  using DD = hn::CappedTag<double, hn::MaxLanes(D())>;
  using VD = hn::Vec<DD>;

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
        content_(kBlock * width_),
        first_(kBlock * width_),
        last_(kBlock * width_),
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
    load(view, block, first_slot, last_slot);
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
    out.position_shift = shifted_ ? position_shift_.data() : nullptr;
    mass_ += block_mass_;
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

  void load_block(const ScoreView& view, std::int64_t block) { load(view, block, 0, kBlock); }

  // Loads block `block` (whole), and computes what segments that began before the boundary reached contribute
  // to its boundaries, when the run has `ahead` blocks to go to it; `gauge` (padded) is the content of those.
  // Leaves the linear numbers in far(), relative to `bound`, and the block's factors; false when a factor
  // left its range.
  bool look_ahead(const ScoreView& view, std::int64_t block, int ahead, const double* gauge, double* bound) {
    load(view, block, 0, kBlock);
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
  const double* content() const {
    return content_.get();
  }  // (16, padded) centred emissions of the loaded block
  const double* last_scores() const { return last_.get(); }  // (16, padded) end scores in run direction
  bool has_edge_scores() const { return has_edges_; }

  // --- vectors of Real as vectors of double, part by part ---

  static VD load_double(const Real* from) {
    const DD dd;
    if constexpr (sizeof(Real) == sizeof(double)) {
      return hn::LoadU(dd, from);
    } else {
      return hn::PromoteTo(dd, hn::LoadU(hn::Rebind<float, DD>(), from));
    }
  }
  static void store_real(VD value, Real* to) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      hn::StoreU(value, DD(), to);
    } else {
      const hn::Rebind<float, DD> df;
      hn::StoreU(hn::DemoteTo(df, value), df, to);
    }
  }
  // exp(x) in Real (log semiring), or x (max), for x in double: x is split so that its rounding to Real does
  // not show. split_log takes it apart, part by part of a vector; from_split_log puts a whole vector
  // together.
  static HWY_INLINE void split_log(VD x, Real* high, Real* low) {
    store_real(x, high);
    if constexpr (S::kIsLog && sizeof(Real) == sizeof(float)) store_real(hn::Sub(x, load_double(high)), low);
  }
  static HWY_INLINE V from_split_log(const Real* high, const Real* low) {
    const D d;
    const V e = S::FromLog(d, hn::Load(d, high));
    if constexpr (S::kIsLog && sizeof(Real) == sizeof(float)) {
      // Where x is -inf its low part is NaN and exp(x) is 0.
      return hn::IfThenElseZero(hn::Gt(e, hn::Zero(d)), hn::MulAdd(e, hn::Load(d, low), e));
    } else {
      return e;
    }
  }
  // The same for numbers of any size, and exact where x is a multiple of log 2: x = n log 2 + rest.
  static HWY_INLINE void split_power(VD x, Real* high, Real* low, Real* power) {
    if constexpr (S::kIsLog) {
      const DD dd;
      const VD n = hn::Round(hn::Mul(x, hn::Set(dd, 1 / kLog2)));
      split_log(hn::NegMulAdd(n, hn::Set(dd, kLog2), x), high, low);
      store_real(n, power);
    } else {
      store_real(x, high);
    }
  }
  static HWY_INLINE V from_split_power(const Real* high, const Real* low, const Real* power) {
    if constexpr (S::kIsLog) {
      return hn::Mul(from_split_log(high, low), two_to(hn::Load(D(), power)));
    } else {
      return hn::Load(D(), high);
    }
  }
  // Exponents of positive normal numbers.
  static HWY_INLINE V exponents(V x) {
    const D d;
    const hn::RebindToSigned<D> di;
    constexpr int kMantissa = sizeof(Real) == sizeof(float) ? 23 : 52;
    constexpr int kBias = sizeof(Real) == sizeof(float) ? 127 : 1023;
    return hn::ConvertTo(d, hn::Sub(hn::ShiftRight<kMantissa>(hn::BitCast(di, x)), hn::Set(di, kBias)));
  }
  // 2^n, 0 below the range of normal numbers.
  static HWY_INLINE V two_to(V n) {
    const D d;
    const hn::RebindToSigned<D> di;
    constexpr int kMantissa = sizeof(Real) == sizeof(float) ? 23 : 52;
    constexpr int kBias = sizeof(Real) == sizeof(float) ? 127 : 1023;
    const auto normal = hn::Ge(n, hn::Set(d, Real(1 - kBias)));
    const auto exponent = hn::ConvertTo(di, hn::Min(hn::IfThenElseZero(normal, n), hn::Set(d, Real(kBias))));
    const auto bits = hn::ShiftLeft<kMantissa>(hn::Add(exponent, hn::Set(di, kBias)));
    return hn::IfThenElseZero(normal, hn::BitCast(d, bits));
  }
  // exp(x) of a whole number of log 2 (log semiring), or x (max).
  static HWY_INLINE void store_power(VD x, Real* to) {
    if constexpr (S::kIsLog) {
      store_real(hn::Round(hn::Mul(x, hn::Set(DD(), 1 / kLog2))), to);
    } else {
      store_real(x, to);
    }
  }
  static HWY_INLINE V from_power(const Real* from) {
    if constexpr (S::kIsLog) {
      return two_to(hn::Load(D(), from));
    } else {
      return hn::Load(D(), from);
    }
  }
  static VD log_of(const Real* from) { return S::ToLog(DD(), load_double(from)); }

 private:
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

  // --- loading and centring ---

  template <class In>
  void load_rows(const ScoreView& view, std::int64_t block, int first_slot, int last_slot, const In* scores,
                 double* to) const {
    for (int slot = first_slot; slot < last_slot; ++slot) {
      const In* row = scores + view.row(block * kBlock + slot, t_.labels);
      double* out = to + static_cast<std::size_t>(slot) * width_;
      for (int c = 0; c < t_.labels; ++c) out[c] = static_cast<double>(row[c]);
    }
  }
  void load_array(const ScoreView& view, std::int64_t block, int first_slot, int last_slot,
                  const ScoreArray& array, double* to) const {
    if (array.f32 != nullptr) {
      load_rows(view, block, first_slot, last_slot, array.f32, to);
    } else {
      load_rows(view, block, first_slot, last_slot, array.f64, to);
    }
  }

  void load(const ScoreView& view, std::int64_t block, int first_slot, int last_slot) {
    const ScoreWindow& window = view.window();
    load_array(view, block, first_slot, last_slot, window.emissions, content_.get());
    if (window.subtract_position_max) {
      for (int slot = first_slot; slot < last_slot; ++slot)
        subtract_maximum(content_.get() + static_cast<std::size_t>(slot) * width_);
    }
    if (!window.baseline.empty()) {
      for (int slot = first_slot; slot < last_slot; ++slot) {
        double* row = content_.get() + static_cast<std::size_t>(slot) * width_;
        for (int c = 0; c < t_.labels; ++c) row[c] -= window.baseline[static_cast<std::size_t>(c)];
      }
    }
    shift_positions(first_slot, last_slot);
    const bool first_here = block * kBlock + first_slot == view.first();
    const bool last_here = block * kBlock + last_slot == view.last();
    has_edges_ = first_here || last_here || view.has_boundary_scores();
    if (!has_edges_) return;
    load_edge(view, block, first_slot, last_slot, view.first_array(), first_.get());
    load_edge(view, block, first_slot, last_slot, view.last_array(), last_.get());
    for (int c = 0; c < t_.labels; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (first_here) first_[static_cast<std::size_t>(first_slot) * width_ + i] += t_.first_scores[i];
      if (last_here) last_[static_cast<std::size_t>(last_slot - 1) * width_ + i] += t_.last_scores[i];
    }
  }
  // Scores that all labels of a position share change no comparison and no probability, but they wear digits
  // down: a whole number near the largest is taken out and kept in mass_.
  void shift_positions(int first_slot, int last_slot) {
    constexpr double kSmall = 4;
    const DD dd;
    VD largest = hn::Zero(dd);
    for (std::size_t i = static_cast<std::size_t>(first_slot) * width_;
         i < static_cast<std::size_t>(last_slot) * width_; i += hn::Lanes(dd)) {
      largest = hn::Max(largest, hn::Abs(hn::Load(dd, content_.get() + i)));
    }
    shifted_ = !hn::AllTrue(dd, hn::Le(largest, hn::Set(dd, kSmall)));
    block_mass_ = 0;
    if (!shifted_) return;
    for (int slot = first_slot; slot < last_slot; ++slot) {
      double* row = content_.get() + static_cast<std::size_t>(slot) * width_;
      const double most = *std::max_element(row, row + t_.labels);
      const bool large = most != kNegativeInfinity && std::fabs(most) > kSmall;
      const double shift = large ? std::floor(most) : 0.0;
      position_shift_[static_cast<std::size_t>(slot)] = shift;
      block_mass_ += shift;
      if (!large) continue;
      for (int c = 0; c < t_.labels; ++c) row[c] -= shift;
    }
  }
  void load_edge(const ScoreView& view, std::int64_t block, int first_slot, int last_slot,
                 const ScoreArray& array, double* to) const {
    if (array.empty()) {
      std::fill_n(to, kBlock * width_, 0.0);
    } else {
      load_array(view, block, first_slot, last_slot, array, to);
    }
  }
  void subtract_maximum(double* row) const {
    double largest = row[0];
    for (int c = 1; c < t_.labels; ++c) largest = std::max(largest, row[c]);
    if (largest == kNegativeInfinity) return;
    for (int c = 0; c < t_.labels; ++c) row[c] -= largest;
  }

  // --- bounds and the far part: segments that began in an earlier block ---

  void bound_of_ring(int ahead, const double* gauge, double* bound) const {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      VD largest = hn::Set(dd, kNegativeInfinity);
      for (int o = 1; o + ahead <= t_.offsets; ++o) {
        const VD scale =
            hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(ring_index(o)) * width_ + c);
        const VD bias =
            hn::Load(dd, t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c);
        largest = hn::Max(largest, hn::Add(scale, bias));
      }
      if (gauge != nullptr) largest = hn::Add(largest, hn::Load(dd, gauge + c));
      hn::Store(largest, dd, bound + c);
    }
  }

  // Scale of alpha at the block's first boundary, and per label the bound that the block's sums are relative
  // to.
  void prepare_bounds() {
    bound_of_ring(0, nullptr, ring_bound_.get());
    scale_ = kNegativeInfinity;
    for (int c = 0; c < t_.labels; ++c) {
      const auto i = static_cast<std::size_t>(c);
      scale_ = std::max(scale_, carry_magnitude(carry_[i]) + carry_scale_[i]);
    }
    // Alpha grows or shrinks along a block about as it did in the last one: let it start half the way down or
    // up.
    scale_ += S::Quantized(std::clamp(growth_, -kLargestGrowth, kLargestGrowth) / 2);
    for (std::size_t c = 0; c < width_; ++c) {
      double bound = std::max(ring_bound_[c], tail_log_[c] + t_.log_tail[c]);
      if (t_.tail) bound = std::max(bound, far_tail_bound(c));
      const double first = has_edges_ ? first_[c] : 0.0;
      if (c < static_cast<std::size_t>(t_.labels))
        bound = std::max(bound, scale_ + t_.transition_bound[c] + first + t_.offset_bound[c]);
      idle_alpha_[c] = bound == kNegativeInfinity ? S::template one<Real>() : kZero;
      idle_start_[c] = t_.transition_bound[c] == kNegativeInfinity ? S::template one<Real>() : kZero;
      const double common = scale_ == kNegativeInfinity ? 0.0 : scale_;
      bound_[c] = bound == kNegativeInfinity ? common : common + S::Quantized(bound - common);
    }
  }
  // Tail entries of the ring: the oldest block or two.
  double far_tail_bound(std::size_t c) const {
    double largest = kNegativeInfinity;
    for (int o = std::max(1, t_.ring_blocks - 1); o <= t_.ring_blocks; ++o) {
      largest = std::max(largest, ring_scale_[static_cast<std::size_t>(ring_index(o)) * width_ + c]);
    }
    return largest + t_.last_bias[c] + t_.log_tail[c];
  }
  // Carries alpha given as logarithms; the scales of all labels differ by whole powers of two.
  void set_carry(const double* alpha) {
    double largest = kNegativeInfinity;
    for (int c = 0; c < t_.labels; ++c) largest = std::max(largest, alpha[c]);
    for (std::size_t c = 0; c < width_; ++c) {
      const bool none = alpha[c] == kNegativeInfinity;
      carry_scale_[c] = none ? kNegativeInfinity : largest + S::Quantized(alpha[c] - largest);
      carry_[c] = none ? kZero : static_cast<Real>(S::FromLogScalar(alpha[c] - carry_scale_[c]));
    }
  }
  // Within a factor 2 (log semiring) or exactly (max) the logarithm of a carried number.
  static double carry_magnitude(Real value) {
    if constexpr (S::kIsLog) {
      return value > Real(0) ? exponent_of(value) * kLog2 : kNegativeInfinity;
    } else {
      return static_cast<double>(value);
    }
  }

  void gather_far(int ahead, const double* gauge, const double* bound) {
    for (int panel = 0; panel < t_.panels; ++panel) gather_far_panel(panel, ahead, gauge, bound);
  }

  void gather_far_panel(int panel, int ahead, const double* gauge, const double* bound) {
    const DD dd;
    const D d;
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    int active = 0;
    const VD least = hn::Set(dd, least_factor());
    for (int o = 1; o + ahead <= t_.offsets; ++o) {
      const double* scale = ring_scale_.get() + static_cast<std::size_t>(ring_index(o)) * width_ + c0;
      const double* bias = t_.offset_bound.get() + static_cast<std::size_t>(o + ahead) * width_ + c0;
      Real* factor = factor_.get() + static_cast<std::size_t>(active) * lanes_;
      bool any = false;
      for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
        VD x =
            hn::Sub(hn::Add(hn::Load(dd, scale + l), hn::Load(dd, bias + l)), hn::Load(dd, bound + c0 + l));
        if (gauge != nullptr) x = hn::Add(x, hn::Load(dd, gauge + c0 + l));
        any = any || !hn::AllFalse(dd, hn::Ge(x, least));
        split_power(x, factor + l, low_.get() + l, low_.get() + lanes_ + l);
      }
      if (!any) continue;
      hn::Store(from_split_power(factor, low_.get(), low_.get() + lanes_), d, factor);
      active_[static_cast<std::size_t>(active)] = o;
      ++active;
    }
    Real* far = far_.get() + t_.panel_index(panel, 0, kBlock);
    toeplitz<0>(panel, ahead, active, far);
    toeplitz<kBlock / 2>(panel, ahead, active, far);
  }
  static double least_product() {
    if constexpr (S::kIsLog) {
      return Limits<S, Real>::kIgnore;
    } else {
      return kNegativeInfinity;
    }
  }
  static double least_factor() {
    if constexpr (S::kIsLog) {
      return Limits<S, Real>::kIgnore;
    } else {
      return Limits<S, Real>::kTotal - 1;
    }
  }

  // Eight boundaries against all active blocks; the sums stay in registers.
  template <int kHalf>
  HWY_INLINE void toeplitz(int panel, int ahead, int active, Real* far) const {
    const D d;
    const V zero = hn::Set(d, kZero);
    V a0 = zero, a1 = zero, a2 = zero, a3 = zero, a4 = zero, a5 = zero, a6 = zero, a7 = zero;
    const std::size_t n = hn::Lanes(d);
    for (int index = 0; index < active; ++index) {
      const int o = active_[static_cast<std::size_t>(index)];
      const V factor = hn::Load(d, factor_.get() + static_cast<std::size_t>(index) * n);
      const Real* source = ring_.get() + static_cast<std::size_t>(ring_index(o)) * kBlock * width_ +
                           t_.panel_index(panel, 0, kBlock);
      const Real* table = t_.offset_panel(o + ahead, panel);
      const int first = std::max(0, kBlock * (o + ahead) + 1 + kHalf - t_.duration);
      for (int q = first; q < kBlock; ++q) {
        const V g = S::Times(hn::Load(d, source + static_cast<std::size_t>(q) * n), factor);
        const Real* e = table + static_cast<std::size_t>(kHalf - q + kBlock - 1) * n;
        a0 = S::TimesPlus(g, hn::Load(d, e), a0);
        a1 = S::TimesPlus(g, hn::Load(d, e + n), a1);
        a2 = S::TimesPlus(g, hn::Load(d, e + 2 * n), a2);
        a3 = S::TimesPlus(g, hn::Load(d, e + 3 * n), a3);
        a4 = S::TimesPlus(g, hn::Load(d, e + 4 * n), a4);
        a5 = S::TimesPlus(g, hn::Load(d, e + 5 * n), a5);
        a6 = S::TimesPlus(g, hn::Load(d, e + 6 * n), a6);
        a7 = S::TimesPlus(g, hn::Load(d, e + 7 * n), a7);
      }
    }
    Real* out = far + kHalf * n;
    hn::Store(a0, d, out);
    hn::Store(a1, d, out + n);
    hn::Store(a2, d, out + 2 * n);
    hn::Store(a3, d, out + 3 * n);
    hn::Store(a4, d, out + 4 * n);
    hn::Store(a5, d, out + 5 * n);
    hn::Store(a6, d, out + 6 * n);
    hn::Store(a7, d, out + 7 * n);
  }

  // --- the fast path ---

  // alpha_factor: exp(S[t] + end score), start_factor: exp(start score - S[s]), S from the block's first
  // boundary; block_sum: S at its last. False when an exponent leaves the range the fast path allows.
  bool make_factors() {
    const DD dd;
    const D d;
    const VD limit = hn::Set(dd, static_cast<double>(Limits<S, Real>::kExponent));
    bool in_range = true;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      VD sum = hn::Zero(dd);
      VD largest = hn::Zero(dd);
      VD least_start = hn::Zero(dd);
      VD least_alpha = hn::Zero(dd);
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        VD start = hn::Sub(hn::Zero(dd), sum);
        if (has_edges_) start = hn::Add(start, hn::Load(dd, first_.get() + slot * width_ + c));
        sum = hn::Add(sum, hn::Load(dd, content_.get() + slot * width_ + c));
        VD alpha = sum;
        if (has_edges_) alpha = hn::Add(alpha, hn::Load(dd, last_.get() + slot * width_ + c));
        const std::size_t i = at + slot * lanes_;
        if (has_edges_ || !S::kIsLog) split_log(start, start_factor_.get() + i, low_.get() + i);
        split_log(alpha, alpha_factor_.get() + i, low_.get() + kBlock * width_ + i);
        largest = hn::Max(largest, hn::Max(start, alpha));
        least_start = hn::Min(least_start, start);
        least_alpha = hn::Min(least_alpha, alpha);
      }
      hn::Store(least_start, dd, least_start_.get() + c);
      hn::Store(least_alpha, dd, least_alpha_.get() + c);
      hn::Store(sum, dd, block_sum_.get() + c);
      const VD most = hn::Max(largest, hn::Neg(hn::Min(least_start, least_alpha)));
      in_range = in_range && hn::AllTrue(dd, hn::Le(most, limit));
    }
    if (!in_range) return false;
    if constexpr (S::kIsLog) {
      const V one = hn::Set(d, Real(1));
      V inverse = one;
      for (std::size_t i = 0; i < kBlock * width_; i += lanes_) {
        const V alpha = from_split_log(alpha_factor_.get() + i, low_.get() + kBlock * width_ + i);
        hn::Store(alpha, d, alpha_factor_.get() + i);
        if (has_edges_) {
          hn::Store(from_split_log(start_factor_.get() + i, low_.get() + i), d, start_factor_.get() + i);
          continue;
        }
        // Without start and end scores a start factor is the inverse of the alpha factor before it.
        if (i % (kBlock * lanes_) == 0) inverse = one;
        hn::Store(inverse, d, start_factor_.get() + i);
        inverse = hn::Div(one, alpha);
      }
    }
    return true;
  }

  bool fast_block(BlockMessages<Real>& out) {
    if (scale_ == kNegativeInfinity || !make_factors()) return false;
    const D d;
    const DD dd;
    // alpha_now: alpha relative to scale_, with what all transitions out of the label share; to_alpha: the
    // same from a label's bound; to_near: from scale_ and what all transitions into the label share to its
    // bound.
    const VD most = hn::Set(dd, static_cast<double>(Limits<S, Real>::kExponent));
    bool in_range = true;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD common = hn::Set(dd, scale_);
      const VD bound = hn::Load(dd, bound_.get() + c);
      const VD out_of = hn::Load(dd, t_.source_bound.get() + c);
      const VD near =
          hn::Add(hn::Load(dd, t_.transition_bound.get() + c), hn::Load(dd, t_.offset_bound.get() + c));
      const VD to_alpha = hn::Add(hn::Sub(bound, common), out_of);
      const VD to_near = hn::Add(hn::Sub(common, bound), near);
      store_power(hn::Add(hn::Sub(hn::Load(dd, carry_scale_.get() + c), common), out_of),
                  alpha_now_.get() + c);
      store_power(to_alpha, to_alpha_.get() + c);
      store_power(to_near, to_near_.get() + c);
      // No product of two factors may vanish on its own: what it is multiplied with can be large. Zeros are
      // exact.
      const VD none = hn::Set(dd, kNegativeInfinity);
      const VD least =
          hn::Min(hn::Add(to_alpha, hn::Load(dd, least_alpha_.get() + c)),
                  hn::IfThenElse(hn::Gt(to_near, none),
                                 hn::Add(to_near, hn::Load(dd, least_start_.get() + c)), hn::Zero(dd)));
      const auto kept = hn::Or(hn::Eq(out_of, none), hn::Ge(least, hn::Set(dd, least_product())));
      in_range = in_range && hn::AllTrue(dd, hn::And(kept, hn::Le(hn::Max(to_alpha, to_near), most)));
    }
    if (!in_range) return false;
    for (std::size_t c = 0; c < width_; c += lanes_) {
      hn::Store(S::Times(from_power(alpha_now_.get() + c), hn::Load(d, carry_.get() + c)), d,
                alpha_now_.get() + c);
      hn::Store(from_power(to_alpha_.get() + c), d, to_alpha_.get() + c);
      hn::Store(from_power(to_near_.get() + c), d, to_near_.get() + c);
    }
    if (t_.tail) prepare_tail();
    bool certified = false;
    switch (t_.panels) {
      case 1:
        certified = recursion<1>(out);
        break;
      case 2:
        certified = recursion<2>(out);
        break;
      case 3:
        certified = recursion<3>(out);
        break;
      case 4:
        certified = recursion<4>(out);
        break;
      default:
        certified = recursion<0>(out);
        break;
    }
    if (!certified || (t_.tail && !tail_is_kept())) return false;
    finish_fast(out);
    return true;
  }

  // Numbers that enter the tail at each boundary of the block from the ring, and the tail at its first
  // boundary, all relative to the label's bound. Sources inside the block (K < 16) follow in the recursion.
  void prepare_tail() {
    const D d;
    const DD dd;
    std::fill_n(tail_source_.get(), tail_source_.size(), kZero);
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      split_log(hn::Sub(hn::Load(dd, tail_log_.get() + c), hn::Load(dd, bound_.get() + c)),
                tail_now_.get() + c, low_.get() + c);
    }
    for (std::size_t c = 0; c < width_; ++c) {
      const bool none = t_.log_tail[c] == kNegativeInfinity;
      const bool empty = t_.duration >= kBlock && tail_log_[c] == kNegativeInfinity &&
                         far_tail_bound(c) == kNegativeInfinity;
      tail_idle_[c] = none || empty ? S::template one<Real>() : kZero;
    }
    for (std::size_t c = 0; c < width_; c += lanes_) {
      hn::Store(from_split_log(tail_now_.get() + c, low_.get() + c), d, tail_now_.get() + c);
    }
    for (int slot = 0; slot < std::min<int>(kBlock, t_.duration); ++slot) {
      const int distance = (t_.duration - slot + kBlock - 1) / kBlock;
      const int block = ring_index(distance);
      const int from = kBlock * distance - (t_.duration - slot);
      for (int panel = 0; panel < t_.panels; ++panel) {
        const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
        Real* to = tail_source_.get() + t_.panel_index(panel, slot, kBlock);
        for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
          const VD scale =
              hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c0 + l);
          const VD bias = hn::Load(dd, t_.last_bias.get() + c0 + l);
          split_power(hn::Sub(hn::Add(scale, bias), hn::Load(dd, bound_.get() + c0 + l)), to + l,
                      low_.get() + l, low_.get() + lanes_ + l);
        }
        const V g = hn::Load(d, ring_.get() + static_cast<std::size_t>(block) * kBlock * width_ +
                                    t_.panel_index(panel, from, kBlock));
        hn::Store(S::Times(from_split_power(to, low_.get(), low_.get() + lanes_), g), d, to);
      }
    }
  }

  // The tail may be lost although every sum was certified; it counts again when the ring forgets what
  // outweighs it now.
  bool tail_is_kept() const {
    const D d;
    for (std::size_t c = 0; c < width_; c += lanes_) {
      const V tail = hn::Max(hn::Load(d, tail_now_.get() + c), hn::Load(d, tail_idle_.get() + c));
      const auto kept = hn::And(hn::Ge(tail, hn::Set(d, Limits<S, Real>::kSmallest)),
                                hn::Le(tail, hn::Set(d, Limits<S, Real>::kLargest)));
      if (!hn::AllTrue(d, kept)) return false;
    }
    return true;
  }

  // Products alpha x transition for up to four panels at a time.
  template <int kPanels>
  HWY_INLINE void start_messages(const Real* alpha, std::size_t c0, V (&sums)[kPanels]) const {
    const D d;
    const V zero = hn::Set(d, kZero);
    V even[kPanels], odd[kPanels];
    for (int p = 0; p < kPanels; ++p) even[p] = odd[p] = zero;
    const Real* row = t_.transition.get() + c0;
    int c = 0;
    for (; c + 1 < t_.labels; c += 2) {
      const V a = hn::Set(d, alpha[c]);
      const V b = hn::Set(d, alpha[c + 1]);
      for (int p = 0; p < kPanels; ++p) {
        even[p] = S::TimesPlus(a, hn::Load(d, row + static_cast<std::size_t>(p) * lanes_), even[p]);
        odd[p] = S::TimesPlus(b, hn::Load(d, row + width_ + static_cast<std::size_t>(p) * lanes_), odd[p]);
      }
      row += 2 * width_;
    }
    if (c < t_.labels) {
      const V a = hn::Set(d, alpha[c]);
      for (int p = 0; p < kPanels; ++p)
        even[p] = S::TimesPlus(a, hn::Load(d, row + static_cast<std::size_t>(p) * lanes_), even[p]);
    }
    for (int p = 0; p < kPanels; ++p) sums[p] = S::Plus(even[p], odd[p]);
  }

  struct Extremes {
    V least_total, least_start, least_stored, largest;
  };

  // The 16 boundaries of the block in turn. kFixed panels at once, or groups of one when kFixed is 0.
  template <int kFixed>
  bool recursion(BlockMessages<Real>& out) {
    const D d;
    constexpr int kGroup = kFixed == 0 ? 1 : kFixed;
    const V one = hn::Set(d, S::template one<Real>());
    Extremes x{one, one, one, one};
    Real* alpha = alpha_now_.get();
    Real* next = alpha_next_.get();
    for (int slot = 0; slot < kBlock; ++slot) {
      for (int group = 0; group < t_.panels; group += kGroup) {
        V sums[kGroup];
        start_messages<kGroup>(alpha, static_cast<std::size_t>(group) * lanes_, sums);
        for (int p = 0; p < kGroup; ++p) advance_panel(group + p, slot, sums[p], next, out, x);
      }
      std::swap(alpha, next);
    }
    const auto all_at_least = [&](V value, Real limit) {
      return hn::AllTrue(d, hn::Ge(value, hn::Set(d, limit)));
    };
    // What vanished in a table stood for less than e^kIgnore of the number it is multiplied with.
    const Real most = S::kIsLog ? hn::GetLane(hn::MaxOfLanes(d, x.largest)) : Real(1);
    const Real total_growth = t_.near_vanished ? std::max(most, Real(1)) : Real(1);
    const Real start_growth = t_.transition_vanished ? std::max(most, Real(1)) : Real(1);
    return all_at_least(x.least_total, S::kIsLog ? t_.least_total * total_growth : t_.least_total) &&
           all_at_least(x.least_start,
                        S::kIsLog ? t_.least_start * start_growth : Limits<S, Real>::kSmallest) &&
           all_at_least(x.least_stored, Limits<S, Real>::kSmallest) &&
           hn::AllTrue(d, hn::Le(x.largest, hn::Set(d, Limits<S, Real>::kLargest)));
  }

  HWY_INLINE void advance_panel(int panel, int slot, V start, Real* next, BlockMessages<Real>& out,
                                Extremes& x) {
    const D d;
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    const std::size_t at = t_.panel_index(panel, slot, kBlock);
    const std::size_t row = static_cast<std::size_t>(slot) * width_ + c0;
    const V idle_alpha = hn::Load(d, idle_alpha_.get() + c0);
    const V idle_start = hn::Load(d, idle_start_.get() + c0);
    hn::Store(start, d, out.start + row);
    const V start_factor = hn::Load(d, start_factor_.get() + at);
    const V ring = S::Times(start, start_factor);
    hn::Store(ring, d, fresh_.get() + at);
    const V near = S::Times(start, S::Times(start_factor, hn::Load(d, to_near_.get() + c0)));
    hn::Store(near, d, near_.get() + at);

    V total = hn::Load(d, far_.get() + at);
    const int first = std::max(0, slot + 1 - t_.duration);
    const Real* near_panel = near_.get() + t_.panel_index(panel, 0, kBlock);
    const Real* near_table = t_.near_table.get() + t_.panel_index(panel, 0, kBlock);
    const auto add = [&](int s, V sum) HWY_ATTR {
      return S::TimesPlus(hn::Load(d, near_panel + static_cast<std::size_t>(s) * lanes_),
                          hn::Load(d, near_table + static_cast<std::size_t>(slot - s) * lanes_), sum);
    };
    // Two chains; the start that was just computed comes last.
    V other = hn::Set(d, kZero);
    int s = first;
    for (; s + 2 <= slot; s += 2) {
      total = add(s, total);
      other = add(s + 1, other);
    }
    if (s + 1 <= slot) other = add(s, other);
    total = add(slot, S::Plus(total, other));
    if (t_.tail) total = S::Plus(total, advance_tail(panel, slot, row, out));

    const V alpha_factor = hn::Load(d, alpha_factor_.get() + at);
    const V stored = S::Times(total, alpha_factor);
    const V alpha = S::Times(total, S::Times(alpha_factor, hn::Load(d, to_alpha_.get() + c0)));
    hn::Store(stored, d, out.alpha + row);
    hn::Store(alpha, d, next + c0);

    x.least_total = hn::Min(x.least_total, hn::Max(total, idle_alpha));
    x.least_start = hn::Min(x.least_start, hn::Max(start, idle_start));
    x.least_stored = hn::Min(x.least_stored, hn::Min(hn::Max(stored, idle_alpha), hn::Max(ring, idle_start)));
    x.largest = hn::Max(hn::Max(x.largest, hn::Max(stored, alpha)), hn::Max(ring, near));
  }

  // The tail at the slot's right boundary: tail_t = q (tail_{t-1} + gamma_{t-K-1} e^B[K]).
  HWY_INLINE V advance_tail(int panel, int slot, std::size_t row, BlockMessages<Real>& out) {
    const D d;
    const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
    V source = hn::Load(d, tail_source_.get() + t_.panel_index(panel, slot, kBlock));
    if (slot >= t_.duration) {
      const V near = hn::Load(d, near_.get() + t_.panel_index(panel, slot - t_.duration, kBlock));
      source =
          S::Times(near, hn::Load(d, t_.near_table.get() + t_.panel_index(panel, t_.duration - 1, kBlock)));
    }
    const V tail =
        S::Times(S::Plus(hn::Load(d, tail_now_.get() + c0), source), hn::Load(d, t_.tail_factor.get() + c0));
    hn::Store(tail, d, tail_now_.get() + c0);
    if (out.tail != nullptr) hn::Store(tail, d, out.tail + row);
    return tail;
  }

  // Ring, carried alpha and tail after a certified block; the gauge moves to its last boundary.
  void finish_fast(BlockMessages<Real>& out) {
    const DD dd;
    for (std::size_t c = 0; c < width_; ++c) {
      out.start_scale[c] = scale_ + t_.transition_bound[c];
      out.alpha_scale[c] = bound_[c];
    }
    take_carry(out.alpha + (kBlock - 1) * width_);
    const bool vanished = normalize_fast(head_);
    if (vanished) keep_logs(head_);
    ring_has_log_[static_cast<std::size_t>(head_)] = vanished;
    std::copy_n(ring_scale_.get() + static_cast<std::size_t>(head_) * width_, width_, gamma_scale_.get());
    if (t_.tail) {
      for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
        hn::Store(hn::Add(log_of(tail_now_.get() + c), hn::Load(dd, bound_.get() + c)), dd,
                  tail_log_.get() + c);
      }
      for (std::size_t c = 0; c < width_; ++c) tail_log_[c] += block_sum_[c];
    }
    shift_gauge(block_sum_.get(), move_base());
  }

  // Carries the last alpha of a certified block, brought near 1 (log semiring).
  void take_carry(const Real* alpha) {
    const D d;
    const DD dd;
    if constexpr (!S::kIsLog) {
      std::copy_n(alpha, width_, carry_.get());
      std::copy_n(bound_.get(), width_, carry_scale_.get());
    } else {
      for (std::size_t c = 0; c < width_; c += lanes_) {
        const V number = hn::Load(d, alpha + c);
        const V exponent = exponents(number);
        hn::Store(hn::Mul(number, two_to(hn::Neg(exponent))), d, carry_.get() + c);
        hn::Store(exponent, d, low_.get() + c);
      }
      for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
        hn::Store(hn::MulAdd(load_double(low_.get() + c), hn::Set(dd, kLog2), hn::Load(dd, bound_.get() + c)),
                  dd, carry_scale_.get() + c);
      }
    }
  }

  // Keeps the logarithms small: takes a whole number near the largest alpha out of them. Returns it.
  double move_base() {
    double largest = kNegativeInfinity;
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      largest = std::max(largest, carry_magnitude(carry_[c]) + carry_scale_[c]);
    }
    if (largest == kNegativeInfinity) return 0;
    growth_ = largest - level_;
    const double shift = std::floor(largest);
    level_ = largest - shift;
    for (std::size_t c = 0; c < width_; ++c) {
      carry_scale_[c] -= shift;
      tail_log_[c] -= shift;
    }
    base_ += shift;
    return shift;
  }

  // The ring's logarithms follow the gauge to the block's last boundary, and the base.
  void shift_gauge(const double* content, double shift) {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const VD change = hn::Sub(hn::Load(dd, content + c), hn::Set(dd, shift));
      double* scale = ring_scale_.get() + c;
      for (int b = 0; b < t_.ring_blocks; ++b, scale += width_)
        hn::Store(hn::Add(hn::Load(dd, scale), change), dd, scale);
    }
  }

  // Brings the largest number of each label of the block just computed to [1, 2) (log) or 0 (max). True when
  // the smallest vanished by that.
  bool normalize_fast(int block) {
    bool vanished = false;
    const D d;
    const DD dd;
    for (int panel = 0; panel < t_.panels; ++panel) {
      const std::size_t c0 = static_cast<std::size_t>(panel) * lanes_;
      const Real* numbers = fresh_.get() + t_.panel_index(panel, 0, kBlock);
      Real* out =
          ring_.get() + static_cast<std::size_t>(block) * kBlock * width_ + t_.panel_index(panel, 0, kBlock);
      V largest = hn::Load(d, numbers);
      V smallest = largest;
      for (std::size_t slot = 1; slot < kBlock; ++slot) {
        largest = hn::Max(largest, hn::Load(d, numbers + slot * lanes_));
        smallest = hn::Min(smallest, hn::Load(d, numbers + slot * lanes_));
      }
      const auto live = hn::Gt(largest, hn::Set(d, kZero));
      V by = hn::Set(d, S::template one<Real>());
      V up = largest;  // how far the scale moves up: exponents of 2 (log), or the number itself (max)
      if constexpr (S::kIsLog) {
        up = exponents(largest);
        by = hn::IfThenElse(live, two_to(hn::Neg(up)), by);
        const V range = hn::Sub(up, exponents(smallest));
        vanished = vanished || !hn::AllFalse(d, hn::And(live, hn::Gt(range, hn::Set(d, Real(kWidestRange)))));
      } else {
        by = hn::IfThenElse(live, hn::Neg(largest), by);
      }
      hn::Store(hn::IfThenElse(live, up, hn::Set(d, -std::numeric_limits<Real>::infinity())), d, low_.get());
      for (std::size_t l = 0; l < lanes_; l += hn::Lanes(dd)) {
        const VD fresh = hn::Add(hn::Set(dd, scale_), hn::Load(dd, t_.transition_bound.get() + c0 + l));
        const VD unit = hn::Set(dd, S::kIsLog ? kLog2 : 1.0);
        hn::Store(hn::MulAdd(load_double(low_.get() + l), unit, fresh), dd,
                  ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c0 + l);
      }
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        hn::Store(S::Times(hn::Load(d, numbers + slot * lanes_), by), d, out + slot * lanes_);
      }
    }
    return vanished;
  }
  static constexpr int kWidestRange = sizeof(Real) == sizeof(float) ? 124 : 1020;

  // Logarithms of the block just computed, relative to its scale.
  void keep_logs(int block) {
    const DD dd;
    double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      const VD scale = hn::Load(dd, ring_scale_.get() + static_cast<std::size_t>(block) * width_ + c);
      const VD fresh = hn::Add(hn::Set(dd, scale_), hn::Load(dd, t_.transition_bound.get() + c));
      const VD change =
          hn::IfThenElseZero(hn::Gt(scale, hn::Set(dd, kNegativeInfinity)), hn::Sub(fresh, scale));
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        hn::Store(hn::Add(log_of(fresh_.get() + at + slot * lanes_), change), dd, logs + slot * width_ + c);
      }
    }
  }

  // --- the exact path: double logarithms ---

  void exact_block(int first_slot, int last_slot, BlockMessages<Real>& out) {
    const auto step = hn::Lanes(DD());
    const DD dd;
    load_carry_logs(exact_alpha_.get());
    std::fill_n(exact_near_.get(), exact_near_.size(), kNegativeInfinity);
    std::fill_n(started_log_.get(), started_log_.size(), kNegativeInfinity);
    std::fill_n(block_sum_.get(), width_, 0.0);
    for (int slot = first_slot; slot < last_slot; ++slot) {
      const auto row = static_cast<std::size_t>(slot) * width_;
      double* start = out.start_log + row;
      if (first_of_sequence_ && slot == first_slot && !t_.initial_transition) {
        std::fill_n(start, width_, kNegativeInfinity);
        std::fill_n(start, t_.labels, 0.0);
      } else {
        exact_start(exact_alpha_.get(), start);
      }
      for (std::size_t c = 0; c < width_; ++c)
        started_log_[row + c] = exact_near_[row + c] = start[c] + (has_edges_ ? first_[row + c] : 0.0);
      if (t_.tail) exact_tail(slot);
      for (std::size_t c = 0; c < width_; c += step) {
        const VD content = hn::Load(dd, content_.get() + row + c);
        for (int s = first_slot; s <= slot; ++s) {
          double* near = exact_near_.get() + static_cast<std::size_t>(s) * width_ + c;
          hn::Store(hn::Add(hn::Load(dd, near), content), dd, near);
        }
        hn::Store(hn::Add(hn::Load(dd, block_sum_.get() + c), content), dd, block_sum_.get() + c);
        if (t_.tail) hn::Store(hn::Add(hn::Load(dd, tail_log_.get() + c), content), dd, tail_log_.get() + c);
        VD total = exact_sum(c, slot, first_slot, exact_far(c, slot));
        if (needs_ring(c, total)) total = exact_sum(c, slot, first_slot, exact_ring_sum(c, slot));
        if (t_.tail && out.tail_log != nullptr)
          hn::Store(hn::Load(dd, tail_log_.get() + c), dd, out.tail_log + row + c);
        if (has_edges_) total = hn::Add(total, hn::Load(dd, last_.get() + row + c));
        hn::Store(total, dd, exact_alpha_.get() + c);
        hn::Store(total, dd, out.alpha_log + row + c);
      }
    }
    set_carry(exact_alpha_.get());
    double* scale = ring_scale_.get() + static_cast<std::size_t>(head_) * width_;
    std::fill_n(scale, width_, kNegativeInfinity);
    const double shift = move_base();
    shift_gauge(block_sum_.get(), shift);
    double* logs = ring_log_.get() + static_cast<std::size_t>(head_) * kBlock * width_;
    for (std::size_t i = 0; i < kBlock * width_; ++i) logs[i] = exact_near_[i] - shift;
    normalize_exact(head_);
  }

  // Splits the absolute logarithms of a ring block into scale, relative logarithms and relative numbers.
  void normalize_exact(int block) {
    double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
    double* scale = ring_scale_.get() + static_cast<std::size_t>(block) * width_;
    for (std::size_t c = 0; c < width_; ++c) {
      double largest = kNegativeInfinity;
      for (std::size_t slot = 0; slot < kBlock; ++slot) largest = std::max(largest, logs[slot * width_ + c]);
      scale[c] = largest;
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        double& value = logs[slot * width_ + c];
        value = largest == kNegativeInfinity ? kNegativeInfinity : value - largest;
        ring_at(block, static_cast<int>(slot), static_cast<int>(c)) =
            static_cast<Real>(relative_number(value));
      }
    }
    ring_has_log_[static_cast<std::size_t>(block)] = true;
  }
  static double relative_number(double log_value) {
    if constexpr (S::kIsLog) {
      return log_value < Limits<S, Real>::kIgnore ? 0.0 : std::exp(log_value);
    } else {
      return log_value;
    }
  }

  void ensure_logs(int block) {
    if (ring_has_log_[static_cast<std::size_t>(block)]) return;
    double* logs = ring_log_.get() + static_cast<std::size_t>(block) * kBlock * width_;
    const Real* numbers = ring_.get() + static_cast<std::size_t>(block) * kBlock * width_;
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), 0, kBlock) + c % lanes_;
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        hn::Store(log_of(numbers + at + slot * lanes_), dd, logs + slot * width_ + c);
      }
    }
    ring_has_log_[static_cast<std::size_t>(block)] = true;
  }

  // out(c) = log sum (or max) over c' of alpha(c') + T[c'][c].
  void exact_start(const double* alpha, double* out) const {
    const DD dd;
    double largest = kNegativeInfinity;
    for (int c = 0; c < t_.labels; ++c) largest = std::max(largest, alpha[c]);
    if (largest == kNegativeInfinity) {
      std::fill_n(out, width_, kNegativeInfinity);
      return;
    }
    if constexpr (S::kIsLog) {
      for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
        hn::Store(hn::Exp(dd, hn::Sub(hn::Load(dd, alpha + c), hn::Set(dd, largest))), dd,
                  weights_.get() + c);
      }
    }
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      if constexpr (S::kIsLog) {
        VD sum = hn::Zero(dd);
        for (int from = 0; from < t_.labels; ++from) {
          sum = hn::MulAdd(
              hn::Set(dd, weights_[static_cast<std::size_t>(from)]),
              hn::Load(dd, t_.transition_linear.get() + static_cast<std::size_t>(from) * width_ + c), sum);
        }
        if (hn::AllTrue(dd, hn::Gt(sum, hn::Set(dd, 1e-280)))) {
          const VD scale = hn::Add(hn::Set(dd, largest), hn::Load(dd, t_.transition_bound.get() + c));
          hn::Store(hn::Add(hn::Log(dd, sum), scale), dd, out + c);
          continue;
        }
      }
      hn::Store(exact_start_terms(alpha, c), dd, out + c);
    }
  }

  VD exact_start_terms(const double* alpha, std::size_t c) const {
    const DD dd;
    const auto term = [&](int from) {
      return hn::Add(hn::Set(dd, alpha[from]),
                     hn::Load(dd, t_.transition_log.get() + static_cast<std::size_t>(from) * width_ + c));
    };
    VD largest = hn::Set(dd, kNegativeInfinity);
    for (int from = 0; from < t_.labels; ++from) largest = hn::Max(largest, term(from));
    if constexpr (!S::kIsLog) return largest;
    const VD safe = finite_or_zero(largest);
    VD sum = hn::Zero(dd);
    for (int from = 0; from < t_.labels; ++from) sum = hn::Add(sum, hn::Exp(dd, hn::Sub(term(from), safe)));
    return hn::Add(safe, LogOrMinusInfinity(dd, sum));
  }

  static VD finite_or_zero(VD value) {
    const DD dd;
    return hn::IfThenZeroElse(hn::Eq(value, hn::Set(dd, kNegativeInfinity)), value);
  }

  void exact_tail(int slot) {
    const int from = slot - t_.duration;  // slot of gamma_{t-K-1}
    double* source = tail_entering_.get();
    if (from >= 0) {
      std::copy_n(exact_near_.get() + static_cast<std::size_t>(from) * width_, width_, source);
    } else {
      load_ring_logs(-from, source);
      for (std::size_t c = 0; c < width_; ++c) source[c] += block_sum_[c];
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(t_.labels); ++c) {
      if (t_.log_tail[c] == kNegativeInfinity) continue;
      tail_log_[c] = plus_scalar(tail_log_[c], source[c] + t_.last_bias[c]) + t_.log_tail[c];
    }
  }
  static double plus_scalar(double a, double b) {
    if constexpr (!S::kIsLog) return std::max(a, b);
    const double high = std::max(a, b);
    if (high == kNegativeInfinity) return high;
    return high + std::log1p(std::exp(std::min(a, b) - high));
  }

  // Far part at the slot's right boundary as a logarithm, content included.
  VD exact_far(std::size_t c, int slot) const {
    const DD dd;
    const std::size_t at = t_.panel_index(static_cast<int>(c / lanes_), slot, kBlock) + c % lanes_;
    return hn::Add(hn::Add(log_of(far_.get() + at), hn::Load(dd, bound_.get() + c)),
                   hn::Load(dd, block_sum_.get() + c));
  }

  // Far part, segments that began in this block, and the tail.
  VD exact_sum(std::size_t c, int slot, int first_slot, VD far) const {
    const DD dd;
    const int first = std::max(first_slot, slot + 1 - t_.duration);
    const auto term = [&](int s) {
      return hn::Add(hn::Load(dd, exact_near_.get() + static_cast<std::size_t>(s) * width_ + c),
                     hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(slot - s) * width_ + c));
    };
    const VD tail = t_.tail ? hn::Load(dd, tail_log_.get() + c) : hn::Set(dd, kNegativeInfinity);
    VD largest = hn::Max(far, tail);
    for (int s = first; s <= slot; ++s) largest = hn::Max(largest, term(s));
    if constexpr (!S::kIsLog) return largest;
    const VD safe = finite_or_zero(largest);
    VD sum = hn::Add(hn::Exp(dd, hn::Sub(far, safe)), hn::Exp(dd, hn::Sub(tail, safe)));
    const VD negligible = hn::Set(dd, kNegligible);
    for (int s = first; s <= slot; ++s) {
      const VD x = hn::Sub(term(s), safe);
      if (hn::AllTrue(dd, hn::Lt(x, negligible))) continue;
      sum = hn::Add(sum, hn::Exp(dd, x));
    }
    return hn::Add(safe, LogOrMinusInfinity(dd, sum));
  }
  static constexpr double kNegligible = -45;  // e^-45 = 3e-20: below the last digit of a sum that holds a 1

  // True when the far part may have lost something that counts.
  bool needs_ring(std::size_t c, VD total) const {
    const DD dd;
    const VD content = hn::Load(dd, block_sum_.get() + c);
    const double least =
        S::kIsLog ? std::log(static_cast<double>(t_.least_total)) : static_cast<double>(t_.least_total);
    const VD limit = hn::Add(hn::Add(hn::Load(dd, bound_.get() + c), content), hn::Set(dd, least));
    const VD none = hn::Set(dd, kNegativeInfinity);
    const auto live = hn::And(hn::Gt(hn::Load(dd, ring_bound_.get() + c), none), hn::Gt(content, none));
    return !hn::AllFalse(dd, hn::And(live, hn::Lt(total, limit)));
  }

  VD exact_ring_sum(std::size_t c, int slot) {
    ++fallbacks_;
    const DD dd;
    for (int o = 1; o <= t_.offsets; ++o) ensure_logs(ring_index(o));
    const auto for_each = [&](auto visit) {
      for (int o = 1; o <= t_.offsets; ++o) {
        const auto block = static_cast<std::size_t>(ring_index(o));
        const VD scale = hn::Load(dd, ring_scale_.get() + block * width_ + c);
        for (int q = std::max(0, kBlock * o + 1 + slot - t_.duration); q < kBlock; ++q) {
          const VD g =
              hn::Load(dd, ring_log_.get() + (block * kBlock + static_cast<std::size_t>(q)) * width_ + c);
          const VD b =
              hn::Load(dd, t_.bias.get() + static_cast<std::size_t>(kBlock * o + slot - q) * width_ + c);
          visit(hn::Add(hn::Add(g, scale), b));
        }
      }
    };
    VD largest = hn::Set(dd, kNegativeInfinity);
    for_each([&](VD x) HWY_ATTR { largest = hn::Max(largest, x); });
    const VD content = hn::Load(dd, block_sum_.get() + c);
    if constexpr (!S::kIsLog) return hn::Add(largest, content);
    if (hn::AllTrue(dd, hn::Eq(largest, hn::Set(dd, kNegativeInfinity)))) return largest;
    const VD safe = finite_or_zero(largest);
    VD sum = hn::Zero(dd);
    for_each([&](VD x) HWY_ATTR { sum = hn::Add(sum, hn::Exp(dd, hn::Sub(x, safe))); });
    return hn::Add(hn::Add(safe, LogOrMinusInfinity(dd, sum)), content);
  }

  const Tables& t_;
  std::size_t width_, lanes_;
  int head_ = 0;  // ring block the next step fills
  double base_ = 0;
  double level_ = 0;       // largest alpha at the boundary reached
  double growth_ = 0;      // of the largest alpha over the last block
  double mass_ = 0;        // sum of the position shifts of the run
  double block_mass_ = 0;  // of the block loaded
  double origin_ = 0;
  double origin_whole_ = 0;
  bool shifted_ = false;
  std::array<double, kBlock> position_shift_{};
  double scale_ = 0;
  bool first_of_sequence_ = false;
  bool has_edges_ = false;
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
  AlignedArray<double> content_, first_, last_;
  AlignedArray<Real> alpha_factor_, start_factor_, near_, low_, far_, tail_source_, factor_;
  std::vector<int> active_;
  AlignedArray<Real> fresh_;  // gamma of the block being computed, in the ring's layout
  AlignedArray<Real> alpha_now_, alpha_next_;
  AlignedArray<Real> to_alpha_,
      to_near_;  // (padded) factors from a label's bound to the common scale, and back
  AlignedArray<Real> tail_now_, tail_idle_;
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

#endif
