// Vectors in arrays and classes. A vector of SVE has no size for the compiler, and can be neither; one that
// is compiled for a fixed number of bits can (-msve-vector-bits, which CMake sets to SEMICRF_SVE_BITS), but
// has a type of its own. Kept<V> is that type, V itself for every other instruction set; bare() turns it back
// where a template is to see V. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_KEPT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_KEPT_INL_H_
#undef SEMICRF_CPU_SIMD_KEPT_INL_H_
#else
#define SEMICRF_CPU_SIMD_KEPT_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class V>
struct KeptVector {
  using Type = V;
};

#if HWY_TARGET == HWY_SVE_256 || HWY_TARGET == HWY_SVE2_128
#define SEMICRF_KEPT(vector)                                                     \
  template <>                                                                    \
  struct KeptVector<vector> {                                                    \
    typedef vector Type __attribute__((arm_sve_vector_bits(8 * HWY_MAX_BYTES))); \
  };                                                                             \
  HWY_INLINE vector bare(vector v) { return v; }
SEMICRF_KEPT(svfloat32_t)
SEMICRF_KEPT(svfloat64_t)
SEMICRF_KEPT(svint32_t)
SEMICRF_KEPT(svint64_t)
#undef SEMICRF_KEPT
#else
template <class V>
HWY_INLINE V bare(V v) {
  return v;
}
#endif

template <class V>
using Kept = typename KeptVector<V>::Type;

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
