// The Viterbi kernels of single precision, in fixed point, compiled for every instruction set.
#include "cpu/chunk_kernel.h"

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/viterbi_float.cpp"
#include "hwy/foreach_target.h"
#include "cpu/simd/kernel_factory-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
std::unique_ptr<KernelFactory<ViterbiKernel>> ViterbiFloat(const TraceTables& tables) {
  return viterbi_factory<std::int32_t>(tables);
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(ViterbiFloat);
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_float(const TraceTables& tables) {
  return HWY_DYNAMIC_DISPATCH(ViterbiFloat)(tables);
}
}  // namespace semicrf::cpu
#endif
