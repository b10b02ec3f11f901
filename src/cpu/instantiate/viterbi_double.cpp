// The Viterbi kernels in double, compiled for every instruction set.
#include "cpu/chunk_kernel.h"

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/viterbi_double.cpp"
#include "hwy/foreach_target.h"
#include "cpu/simd/kernel_factory-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
std::unique_ptr<KernelFactory<ViterbiKernel>> ViterbiDouble(const TraceTables& tables) {
  return viterbi_factory<double>(tables);
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(ViterbiDouble);
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_double(const TraceTables& tables) {
  return HWY_DYNAMIC_DISPATCH(ViterbiDouble)(tables);
}
}  // namespace semicrf::cpu
#endif
