// The Posterior kernels in float, compiled for every instruction set.
#include "cpu/instantiate/factories.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/posterior_float.cpp"
#include "cpu/simd/kernel_factory-inl.h"
#include "hwy/foreach_target.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
std::unique_ptr<KernelFactory<PosteriorKernel>> PosteriorFloat(const ChainModel& model) {
  return posterior_factory<float>(model);
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(PosteriorFloat);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_float(const ChainModel& model) {
  return HWY_DYNAMIC_DISPATCH(PosteriorFloat)(model);
}
}  // namespace semicrf::cpu
#endif
