#include "cpu/peak.h"

#include <algorithm>
#include <chrono>

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/peak.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 8>;
using V = hn::Vec<D>;

// Ten independent chains hide the latency of either operation.
template <class Step>
float run_chains(long rounds, Step step) {
  const D d;
  V a0 = hn::Set(d, 0.1f), a1 = hn::Set(d, 0.2f), a2 = hn::Set(d, 0.3f), a3 = hn::Set(d, 0.4f),
    a4 = hn::Set(d, 0.5f);
  V a5 = hn::Set(d, 0.6f), a6 = hn::Set(d, 0.7f), a7 = hn::Set(d, 0.8f), a8 = hn::Set(d, 0.9f),
    a9 = hn::Set(d, 1.0f);
  V b = hn::Set(d, 0.99f), c = hn::Set(d, 1e-3f);
  for (long i = 0; i < rounds; ++i) {
    a0 = step(a0, b, c), a1 = step(a1, b, c), a2 = step(a2, b, c), a3 = step(a3, b, c), a4 = step(a4, b, c);
    a5 = step(a5, b, c), a6 = step(a6, b, c), a7 = step(a7, b, c), a8 = step(a8, b, c), a9 = step(a9, b, c);
  }
  const V sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
                        hn::Add(hn::Add(a4, a5), hn::Add(hn::Add(a6, a7), hn::Add(a8, a9))));
  return hn::GetLane(sum);
}

template <class Step>
double pairs_per_second(Step step) {
  using Clock = std::chrono::steady_clock;
  constexpr long kRounds = 2'000'000;
  [[maybe_unused]] volatile float keep = 0;  // or the compiler drops the work
  double best = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const auto start = Clock::now();
    const float result = run_chains(kRounds, step);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    keep = result;
    best = std::max(best, static_cast<double>(kRounds) * 10 * static_cast<double>(hn::Lanes(D())) / seconds);
  }
  return best;
}

// Each chain adds to itself, so that no addition can be shared between chains.
double AddMax() {
  return pairs_per_second([](V a, V b, V c) HWY_ATTR { return hn::Max(hn::Add(a, b), c); });
}
double MultiplyAdd() {
  return pairs_per_second([](V a, V b, V c) HWY_ATTR { return hn::MulAdd(a, b, c); });
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf {
HWY_EXPORT(AddMax);
HWY_EXPORT(MultiplyAdd);
double measure_add_max_peak() { return HWY_DYNAMIC_DISPATCH(AddMax)(); }
double measure_multiply_add_peak() { return HWY_DYNAMIC_DISPATCH(MultiplyAdd)(); }
}  // namespace semicrf
#endif
