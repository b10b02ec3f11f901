// Where the messages of one block go. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_BLOCK_MESSAGES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_BLOCK_MESSAGES_INL_H_
#undef SEMICRF_CPU_SIMD_BLOCK_MESSAGES_INL_H_
#else
#define SEMICRF_CPU_SIMD_BLOCK_MESSAGES_INL_H_
#endif

#include <algorithm>
#include <array>

#include "cpu/simd/chain_tables-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Rows are `padded` wide. A block fills either the numbers or the logarithms. Units are log 2 (log semiring)
// or 1 (max).
template <class Real, class Whole>
struct BlockMessages {
  bool exact = false;  // logarithms
  bool cut = false;    // the numbers are filled as well, without forbidden positions
  const double* position_shift =
      nullptr;                      // (16) whole numbers taken out of the positions' emissions, or null
  double base = 0;                  // whole number that every logarithm and scale is relative to
  const double* content = nullptr;  // (padded) sum of the block's emissions

  // Numbers, relative to `scale`.
  double scale = 0;
  std::array<Whole, kBlock + 1> units{};  // units of alpha at the block's boundaries
  // (16, padded) alpha of run boundaries begin+1..begin+16: times exp(source bound) and units[slot + 1].
  // Numbers far below the largest of their boundary are 0; alpha_number times alpha_whole loses nothing.
  Real* alpha = nullptr;
  const Real* alpha_number = nullptr;
  const Whole* alpha_whole = nullptr;
  // (16, padded) G of run boundaries begin..begin+15: less the transition bound, times units[slot].
  Real* start = nullptr;
  // (16, padded) tail share of alpha, content up to `begin`, times tail_whole.
  Real* tail = nullptr;
  Whole* tail_whole = nullptr;

  // Gamma of the block's starts in panels (panels, 16, lanes), relative to gamma_scale, content up to the
  // block's first boundary: as numbers, of which those far below the largest are 0, and as gamma_start times
  // gamma_whole.
  const Real* gamma = nullptr;
  const double* gamma_scale = nullptr;  // (padded)
  const Real* gamma_start = nullptr;
  const Whole* gamma_whole = nullptr;

  // Logarithms (16, padded); the tail with content up to the boundary itself; started: G with start scores.
  double* alpha_log = nullptr;
  double* start_log = nullptr;
  double* tail_log = nullptr;
  const double* started_log = nullptr;

  // Rows (padded) of logarithms of alpha and G, either way. `tables` of the run's direction.
  template <class Tables>
  void load_alpha(const Tables& tables, std::size_t slot, double* out) const {
    const auto width = static_cast<std::size_t>(tables.padded);
    if (exact) {
      std::copy_n(alpha_log + slot * width, width, out);
      return;
    }
    for (std::size_t c = 0; c < width; ++c) {
      const std::size_t at = slot * width + c;
      out[c] =
          Tables::Vectors::log_value(alpha_number[at], alpha_whole[at] - tables.transitions.out_whole[c]) +
          scale;
    }
  }
  template <class Tables>
  void load_starts(const Tables& tables, std::size_t slot, double* out) const {
    const auto width = static_cast<std::size_t>(tables.padded);
    if (exact) {
      std::copy_n(start_log + slot * width, width, out);
    } else {
      Tables::Vectors::log_row(start + slot * width, width, units[slot], tables.transitions.into_whole.get(),
                               1, scale, out);
    }
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
