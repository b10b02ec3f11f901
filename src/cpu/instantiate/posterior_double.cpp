// The Posterior kernels in double, compiled for every instruction set.
#include "cpu/chunk_kernel.h"

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/posterior_double.cpp"
#include "hwy/foreach_target.h"
#include "cpu/simd/kernel_factory-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
std::unique_ptr<KernelFactory<PosteriorKernel>> PosteriorDouble(const ChainModel& model) {
  return posterior_factory<double>(model);
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(PosteriorDouble);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_double(const ChainModel& model) {
  return HWY_DYNAMIC_DISPATCH(PosteriorDouble)(model);
}
}  // namespace semicrf::cpu
#endif
