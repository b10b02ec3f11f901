// A run over one chunk: warm-up, blocks, states at both edges. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_CHUNK_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_CHUNK_RUN_INL_H_
#undef SEMICRF_CPU_SIMD_CHUNK_RUN_INL_H_
#else
#define SEMICRF_CPU_SIMD_CHUNK_RUN_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <utility>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "cpu/chunk_kernel.h"
#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Subnormal numbers count as zero while this lives: they are within what the certificate allows to lose, and
// slow.
class [[maybe_unused]] FlushSubnormals {
 public:
#if defined(__SSE2__)
  FlushSubnormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
#endif
};

// Messages nobody keeps.
template <class Real, class Whole>
class ScratchMessages {
 public:
  explicit ScratchMessages(std::size_t width)
      : numbers_(3 * kBlock * width), tail_whole_(kBlock * width), logs_(3 * kBlock * width) {
    const std::size_t rows = kBlock * width;
    messages_.alpha = numbers_.get();
    messages_.start = numbers_.get() + rows;
    messages_.tail = numbers_.get() + 2 * rows;
    messages_.tail_whole = tail_whole_.get();
    messages_.alpha_log = logs_.get();
    messages_.start_log = logs_.get() + rows;
    messages_.tail_log = logs_.get() + 2 * rows;
  }
  BlockMessages<Real, Whole>& get() { return messages_; }

 private:
  AlignedArray<Real> numbers_;
  AlignedArray<Whole> tail_whole_;
  AlignedArray<double> logs_;
  BlockMessages<Real, Whole> messages_;
};

// Calls before(boundary) at the chunk's first run boundary and before every block, step() for every block,
// and after(block) with the block's index in run coordinates. Returns the states at both edges.
template <class Run, class Messages, class Before, class After>
RunStates run_chunk(Run& run, const ScoreView& view, PositionRange chunk, std::int64_t warmup, RunStart start,
                    Messages& scratch, Before before, After after) {
  std::int64_t begin = view.run_boundary_of(chunk.begin);
  std::int64_t end = view.run_boundary_of(chunk.end);
  if (begin > end) std::swap(begin, end);

  RunStates states;
  std::int64_t position = begin;
  if (start.kind == RunStart::Kind::kState) {
    run.start_from(*start.state);
  } else if (begin - warmup <= view.first()) {
    position = view.first();
    run.start_at_sequence_edge();
  } else {
    position = begin - warmup;
    run.start_warm();
  }

  const auto step_to = [&](std::int64_t limit, auto&& around) {
    while (position < limit) {
      const std::int64_t block = position / kBlock;
      const std::int64_t block_end = std::min((block + 1) * kBlock, limit);
      around(block, static_cast<int>(position - block * kBlock),
             static_cast<int>(block_end - block * kBlock));
      position = block_end;
    }
  };
  step_to(begin, [&](std::int64_t block, int first, int last) {
    run.step(view, block, first, last, scratch.get());
  });
  if (start.kind == RunStart::Kind::kWarm && begin != view.first()) {
    states.entry = run.export_state(view.boundary_of(begin), true);
  }
  run.clear_fallbacks();
  states.mass_before = run.mass();
  step_to(end, [&](std::int64_t block, int first, int last) {
    before(block * kBlock + first);
    run.step(view, block, first, last, scratch.get());
    after(block, scratch.get());
  });
  const auto rest = static_cast<int>((kBlock - end % kBlock) % kBlock);
  states.exit = run.export_state(view.boundary_of(end), end != view.last() || run.tables().cut_end, rest);
  states.fallbacks = run.fallbacks();
  return states;
}

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
