// Chooses the vector width for a number of labels. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#undef SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#else
#define SEMICRF_CPU_SIMD_VECTOR_WIDTH_INL_H_
#endif

#include <cstddef>

#include "core/sizes.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Calls build(tag) with the vector width that needs the least work for C labels: the widest or half of it,
// which costs little more than half as much where processors split the widest. Half of that again would save
// nothing.
template <class Real, class Build>
auto with_best_width(int labels, Build build) {
  constexpr std::size_t kWidest = 64 / sizeof(Real);
  using Wide = hn::CappedTag<Real, kWidest>;
  using Middle = hn::CappedTag<Real, kWidest / 2>;
  constexpr double kWideCost = 1.7;  // cost of one operation on them, relative to the narrower ones
  const auto panels = [&](std::size_t lanes) {
    return static_cast<double>(ceil_div(static_cast<std::size_t>(labels), lanes));
  };
  const std::size_t wide = hn::Lanes(Wide());
  const std::size_t middle = hn::Lanes(Middle());
  if (wide > middle && panels(wide) * kWideCost <= panels(middle)) return build(Wide());
  return build(Middle());
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
