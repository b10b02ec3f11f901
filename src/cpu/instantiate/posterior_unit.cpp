// The posterior kernel of K = 1, compiled for every instruction set.
#include "cpu/chunk_kernel.h"

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/posterior_unit.cpp"
#include "hwy/foreach_target.h"
#include "cpu/simd/real_vectors-inl.h"
#include "cpu/simd/unit_posterior-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
using Factory = std::unique_ptr<KernelFactory<PosteriorKernel>>;
Factory PosteriorUnit(const ChainModel& model, Precision precision, Factory* general) {
  return with_best_width<double>(model.num_labels, [&](auto tag) {
    return unit_posterior_factory<decltype(tag)>(model, precision, std::move(*general));
  });
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(PosteriorUnit);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_unit(
    const ChainModel& model, Precision precision, std::unique_ptr<KernelFactory<PosteriorKernel>> general) {
  if (model.max_duration != 1 || model.cut.any()) return general;
  return HWY_DYNAMIC_DISPATCH(PosteriorUnit)(model, precision, &general);
}
}  // namespace semicrf::cpu
#endif
