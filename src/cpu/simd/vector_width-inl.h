// Chooses the vector width for a number of labels. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#undef SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#else
#define SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Cost of one vector operation of a width, relative to half of a 512-bit one: many processors split the
// widest.
inline double vector_cost(std::size_t lanes, std::size_t widest) {
  return lanes == widest ? 1.7 : lanes * 2 == widest ? 1.0 : 0.9;
}

// Calls build(tag) with the vector width that needs the least work for C labels.
template <class Real, class Build>
auto with_best_width(int labels, Build build) {
  constexpr std::size_t kWidest = 64 / sizeof(Real);
  using Wide = hn::CappedTag<Real, kWidest>;
  using Middle = hn::CappedTag<Real, kWidest / 2>;
  using Narrow = hn::CappedTag<Real, kWidest / 4>;
  const auto cost = [&](std::size_t lanes) {
    const auto panels = (static_cast<std::size_t>(labels) + lanes - 1) / lanes;
    return static_cast<double>(panels) * vector_cost(lanes, kWidest);
  };
  const std::size_t wide = hn::Lanes(Wide());
  const std::size_t middle = hn::Lanes(Middle());
  const std::size_t narrow = hn::Lanes(Narrow());
  if (wide > middle && cost(wide) <= std::min(cost(middle), cost(narrow))) return build(Wide());
  if (middle > narrow && cost(middle) <= cost(narrow)) return build(Middle());
  return build(Narrow());
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
