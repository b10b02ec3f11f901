// The expected counts of one chunk, summed where the backward run meets the forward store.
// docs/algorithm.md, "Expected counts". Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_CHUNK_COUNTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_CHUNK_COUNTS_INL_H_
#undef SEMICRF_CPU_SIMD_CHUNK_COUNTS_INL_H_
#else
#define SEMICRF_CPU_SIMD_CHUNK_COUNTS_INL_H_
#endif

#include "cpu/simd/counts/duration_counts-inl.h"
#include "cpu/simd/counts/tail_counts-inl.h"
#include "cpu/simd/counts/transition_counts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class ChunkCounts {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Meeting = BlockMeeting<Real, D>;
  using Run = typename Meeting::Run;

  ChunkCounts(const Tables& forward, const Tables& backward)
      : t_(forward), durations_(backward), transitions_(forward), tails_(backward) {}

  static std::size_t bytes(const Tables& t) {
    return DurationCounts<Real, D>::bytes(t) + TransitionCounts<Real, D>::bytes(t) +
           TailCounts<Real, D>::bytes(t);
  }

  // The forward run stands at the chunk's left edge.
  void start_left(const Run& forward) { transitions_.start(forward); }
  // The backward run stands at its right edge; `ring`: the sequence goes on there.
  void start_right(Run& backward, bool ring) {
    durations_.start(backward, ring);
    if (t_.tail) tails_.start(backward, ring || t_.cut_end);
  }

  // Blocks from right to left. `first`: the block begins with position 0 of the sequence.
  void add(const Meeting& meeting, bool first) {
    durations_.add(meeting);
    transitions_.add(meeting, first);
    if (t_.tail) tails_.add(meeting, durations_.starts(), durations_.starts_whole());
  }

  void finish(ExpectedCounts& counts) {
    const auto labels = static_cast<std::size_t>(t_.labels);
    counts.transition.assign(labels * labels, 0.0);
    counts.duration.assign(static_cast<std::size_t>(t_.duration) * labels, 0.0);
    counts.tail.assign(t_.tail ? labels : 0, 0.0);
    durations_.finish(counts.duration.data());
    transitions_.finish(counts.transition.data());
    if (t_.tail) tails_.finish(counts.tail.data(), counts.duration.data() + counts.duration.size() - labels);
  }

 private:
  const Tables& t_;
  DurationCounts<Real, D> durations_;
  TransitionCounts<Real, D> transitions_;
  TailCounts<Real, D> tails_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
