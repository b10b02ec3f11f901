// A block of the forward store next to the same block of the backward run, for what is summed over both.
// Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_MEETING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_MEETING_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_MEETING_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_MEETING_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cpu/simd/block/block_run-inl.h"
#include "cpu/simd/forward_store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// The backward run has just stepped over the block. Slot p of the run is position slot 15 - p.
template <class Real, class D>
struct BlockMeeting {
  using Run = BlockRun<Real, D, LogSemiring>;

  const ForwardStore<Real, D>& store;
  std::size_t block;  // block of the store
  const typename Run::Messages& back;
  Run& run;
  int slots;     // positions of the block that exist
  double log_z;  // local log Z, relative to the bases of both

  bool exact() const { return store.exact(block) || back.exact; }
  // What the products of numbers of both at a boundary are multiplied with besides their units there.
  double log_scale() const { return store.scale(block) + back.scale - log_z; }
  // The first slot of the run that exists.
  std::size_t first_slot() const { return kBlock - static_cast<std::size_t>(slots); }
  // Whole numbers: by how much the logarithms of the run became smaller in this block.
  double base_shift() const { return run.base() - back.base; }

  // Logarithm of all that precedes a segment of c that starts in slot p of the run, and its start score.
  double start_log(std::size_t p, std::size_t c) const {
    const auto width = static_cast<std::size_t>(run.tables().padded);
    const double score = run.has_edge_scores() ? run.last_scores()[p * width + c] : 0.0;
    return store.start_value(block, kBlock - 1 - p, c) + score;
  }
  // (16, padded) in slots of the run, in the gauge of the boundary right of the block: the same with the
  // content up to that boundary. -inf where no position is.
  void start_logs(std::size_t width, double* out) const {
    std::fill_n(out, kBlock * width, kNegativeInfinity);
    for (std::size_t c = 0; c < static_cast<std::size_t>(run.tables().labels); ++c) {
      double content = 0;
      for (std::size_t p = first_slot(); p < kBlock; ++p) {
        content += run.content()[p * width + c];
        out[p * width + c] = start_log(p, c) + content;
      }
    }
  }
};

// Sums of Real added to sums in double.
template <class Real, class D>
struct CountVectors : RealVectors<Real, D, LogSemiring> {
  using Base = RealVectors<Real, D, LogSemiring>;
  using typename Base::DD;
  using typename Base::V;
  using typename Base::VD;

  static HWY_INLINE void add_to(V value, double* sums) {
    const DD dd;
    HWY_ALIGN Real parts[hn::MaxLanes(D())];
    hn::Store(value, D(), parts);
    for (std::size_t l = 0; l < hn::Lanes(D()); l += hn::Lanes(dd)) {
      hn::Store(hn::Add(hn::Load(dd, sums + l), Base::load_double(parts + l)), dd, sums + l);
    }
  }
  // Each lane times its factor.
  static HWY_INLINE void add_scaled(V value, const double* factor, double* sums) {
    const DD dd;
    HWY_ALIGN Real parts[hn::MaxLanes(D())];
    hn::Store(value, D(), parts);
    for (std::size_t l = 0; l < hn::Lanes(D()); l += hn::Lanes(dd)) {
      const VD number = Base::load_double(parts + l);
      hn::Store(hn::MulAdd(number, hn::Load(dd, factor + l), hn::Load(dd, sums + l)), dd, sums + l);
    }
  }
  // 2^n of whole numbers; 0 below the range of normal numbers, the largest power above it.
  static HWY_INLINE VD power(VD n) {
    const DD dd;
    const hn::RebindToUnsigned<DD> du;
    constexpr double kBias = 1023;
    const VD kept = hn::Min(hn::Max(n, hn::Set(dd, -kBias)), hn::Set(dd, kBias));
    // Rounded to whole numbers there, a double above 2^52 has them in its last bits.
    const VD shifted = hn::Add(kept, hn::Set(dd, 4503599627370496.0 + kBias));
    return hn::BitCast(dd, hn::ShiftLeft<52>(hn::BitCast(du, shifted)));
  }
  // 0 far below anything that counts, where exp would do more than vanish.
  static VD exp_or_zero(VD x) {
    const DD dd;
    return hn::IfThenElseZero(hn::Gt(x, hn::Set(dd, -600.0)), hn::Exp(dd, x));
  }
};

// What a sum of probabilities may be multiplied out of. Numbers of the fast path are at most about 1, so a
// term that vanished was less than e^-80 (e^-690) of its factor: with factors up to e^kLargestFactor, less
// than anything that counts.
template <class Real>
inline constexpr double kLargestFactor = sizeof(Real) == sizeof(float) ? 40 : 600;
// Factors below e^this cannot add a digit to an expected count: the durations' sum to the number of segments.
inline constexpr double kSmallestFactor = -75;

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
