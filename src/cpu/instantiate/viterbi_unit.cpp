// The Viterbi kernel of K = 1, compiled for every instruction set.
#include "cpu/chunk_kernel.h"

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/instantiate/viterbi_unit.cpp"
#include "hwy/foreach_target.h"
#include "cpu/simd/real_vectors-inl.h"
#include "cpu/simd/unit_viterbi-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {
std::unique_ptr<KernelFactory<ViterbiKernel>> ViterbiUnit(const ChainModel& model) {
  return with_best_width<double>(model.num_labels,
                                 [&](auto tag) -> std::unique_ptr<KernelFactory<ViterbiKernel>> {
                                   return unit_viterbi_factory<decltype(tag)>(model);
                                 });
}
}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(ViterbiUnit);
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_unit(const ChainModel& model) {
  if (model.max_duration != 1 || model.has_tail()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(ViterbiUnit)(model);
}
}  // namespace semicrf::cpu
#endif
