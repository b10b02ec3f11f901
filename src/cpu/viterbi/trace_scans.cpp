#include "cpu/viterbi/trace_scans.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

// Highway includes this file once per instruction set; the order of these lines matters.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/viterbi/trace_scans.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "cpu/simd/kept-inl.h"
#include "cpu/viterbi/path_tracer.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

HWY_INLINE V load(const double* from) { return hn::LoadU(D(), from); }
HWY_INLINE V load(const std::int32_t* from) {
  constexpr double kUnit = 1.0 / (1 << 22);
  return hn::Mul(hn::PromoteTo(D(), hn::LoadU(hn::Rebind<std::int32_t, D>(), from)), hn::Set(D(), kUnit));
}

constexpr int kSlots = 16;

template <class Mask>
HWY_INLINE std::uint64_t bits_of(Mask mask) {
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(D(), mask, bits);
  return bits[0];
}

HWY_INLINE int BestSlot(const double* from, std::size_t stride, const double* bias, int first, int last,
                        double* score) {
  const D d;
  double starts[kSlots];
  for (std::size_t slot = 0; slot < kSlots; ++slot) starts[slot] = from[slot * stride];
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  const V none = hn::Set(d, -std::numeric_limits<double>::infinity());
  const V low = hn::Set(d, static_cast<double>(first)), high = hn::Set(d, static_cast<double>(last));
  Kept<V> sums[kSlots / kLanes];
  V most = none;
  for (int i = 0; i < kSlots / kLanes; ++i) {
    const std::ptrdiff_t at = std::ptrdiff_t{i} * kLanes;
    const V slot = hn::Iota(d, static_cast<double>(at));
    const auto wanted = hn::And(hn::Ge(slot, low), hn::Lt(slot, high));
    sums[i] = hn::IfThenElse(wanted, hn::Add(load(starts + at), load(bias + at)), none);
    most = hn::Max(most, sums[i]);
  }
  most = hn::MaxOfLanes(d, most);
  *score = hn::GetLane(most);
  std::uint64_t found = 0;
  for (int i = 0; i < kSlots / kLanes; ++i) found |= bits_of(hn::Eq(sums[i], most)) << (i * kLanes);
  // Where all are impossible, slots outside the range look alike.
  found &= (std::uint64_t{1} << last) - (std::uint64_t{1} << first);
  return 63 - std::countl_zero(found);
}

template <class Number>
HWY_INLINE int BestSource(const Number* alpha, const double* offset, const double* into, int labels,
                          double* sums) {
  const D d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  const V none = hn::Set(d, -std::numeric_limits<double>::infinity());
  V most = none;
  for (int i = 0; i < labels; i += kLanes) {
    V sum = load(alpha + i);
    if (offset != nullptr) sum = hn::Add(sum, hn::LoadU(d, offset + i));
    sum = hn::Add(sum, hn::LoadU(d, into + i));
    sum = hn::IfThenElse(hn::FirstN(d, static_cast<std::size_t>(labels - i)), sum, none);
    hn::StoreU(sum, d, sums + i);
    most = hn::Max(most, sum);
  }
  most = hn::MaxOfLanes(d, most);
  // No branch for the place among 64 labels: it cannot be predicted.
  for (int base = 0; base < labels; base += 64) {
    std::uint64_t found = 0;
    for (int i = base; i < labels && i < base + 64; i += kLanes)
      found |= bits_of(hn::Eq(hn::LoadU(d, sums + i), most)) << (i - base);
    if (found != 0) return base + std::countr_zero(found);
  }
  return 0;
}

// One segment, and the source of the one before it. The same arithmetic as PathTracer's steps. kCuts:
// positions may be forbidden.
template <bool kCuts, class Number>
HWY_INLINE bool step(const FastMessages<Number>& m, Walk& walk, double* sums) {
  const std::int64_t end = walk.boundary;
  if (walk.find_start) {
    if (end < m.longest && !m.first_chunk) return false;
    const auto label = static_cast<std::size_t>(walk.label);
    const double* bounds = m.start_bound + label * m.capacity;
    const double* contents = m.content + label * m.capacity;
    const double* bias = m.reversed_bias + static_cast<std::ptrdiff_t>(label) * m.longest + (m.longest - end);
    const auto stride = static_cast<std::size_t>(m.labels);
    const double* starts = m.starts + label;
    const std::int64_t leftmost = end > m.longest ? end - m.longest : 0;
    std::int64_t block = (end - 1) / kSlots;
    const auto first_open = [&]([[maybe_unused]] int last) {
      if constexpr (!kCuts) return 0;
      return ViterbiChunk::first_open_slot(m.cuts[label * m.capacity + static_cast<std::size_t>(block)],
                                           last);
    };
    const auto scan = [&](double content, int last, double& score) {
      const int first = std::max(first_open(last),
                                 static_cast<int>(leftmost > block * kSlots ? leftmost - block * kSlots : 0));
      if (first == last) {
        score = -std::numeric_limits<double>::infinity();
        return std::int64_t{1};
      }
      const int slot = BestSlot(starts + static_cast<std::size_t>(block) * stride * kSlots, stride,
                                bias + block * kSlots, first, last, &score);
      score += content;
      return end - (block * kSlots + slot);
    };
    if (bounds[block] == std::numeric_limits<double>::infinity()) return false;
    double best = 0;
    const int last = static_cast<int>(end - block * kSlots);
    std::int64_t duration = scan(0, last, best);
    bool open = first_open(last) == 0;  // segments may begin left of the block
    double content_after = 0;
    while (open && block * kSlots > leftmost) {
      --block;
      const double content_before = content_after + contents[block];
      if (!(bounds[block] + content_before + m.largest_bias[label] <= best)) {
        if (bounds[block] == std::numeric_limits<double>::infinity()) return false;
        double score = 0;
        const std::int64_t candidate = scan(content_before, kSlots, score);
        if (score > best) {
          best = score;
          duration = candidate;
        }
      }
      content_after = content_before;
      open = first_open(kSlots) == 0;
    }
    walk.pieces.push_back({static_cast<std::uint32_t>(duration), walk.label});
    walk.boundary = end - duration;
    walk.find_start = false;
  }
  if (walk.boundary <= walk.stop) return false;
  const std::int64_t before = walk.boundary - 1;
  const auto block = static_cast<std::size_t>(before / kSlots);
  if (m.start_bound[block] == std::numeric_limits<double>::infinity()) return false;
  const double* into = m.into + static_cast<std::size_t>(walk.label) * static_cast<std::size_t>(m.labels);
  walk.label = BestSource(m.alpha + static_cast<std::size_t>(before) * static_cast<std::size_t>(m.labels),
                          m.source_offset, into, m.labels, sums);
  walk.find_start = true;
  return true;
}

template <bool kCuts, class Number>
void follow_all(const FastMessages<Number>& messages, Walk* walks, int count, double* sums) {
  bool walking = true;
  while (walking) {
    walking = false;
    for (int i = 0; i < count; ++i) {
      if (!walks[i].walking) continue;
      walks[i].walking = step<kCuts>(messages, walks[i], sums);
      walking = walking || walks[i].walking;
    }
  }
}

template <class Number>
void Follow(const FastMessages<Number>& messages, Walk* walks, int count, double* sums) {
  messages.cuts != nullptr ? follow_all<true>(messages, walks, count, sums)
                           : follow_all<false>(messages, walks, count, sums);
}

AllTraceScans Scans() {
  return {{&BestSlot, &BestSource<std::int32_t>, &Follow<std::int32_t>},
          {&BestSlot, &BestSource<double>, &Follow<double>}};
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace semicrf::cpu {
HWY_EXPORT(Scans);
AllTraceScans trace_scans() { return HWY_DYNAMIC_DISPATCH(Scans)(); }
}  // namespace semicrf::cpu
#endif
