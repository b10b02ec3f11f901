// The Viterbi kernel: the max semiring over one chunk, messages kept for the traceback. Included once per
// instruction set.
#if defined(SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#undef SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#else
#define SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#endif

#include <memory>

#include "cpu/simd/chunk_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class ViterbiKernelImpl final : public ViterbiKernel {
 public:
  using Tables = ChainTables<Real, D, MaxSemiring>;

  explicit ViterbiKernelImpl(std::shared_ptr<const Tables> tables)
      : tables_(std::move(tables)), run_(*tables_), scratch_(static_cast<std::size_t>(tables_->padded)) {}

  RunStates run(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                ViterbiChunk* keep) override {
    const ScoreView view(scores, Direction::kForward);
    if (keep != nullptr) reserve(chunk, *keep);
    const auto store = [&](std::int64_t, const BlockMessages<Real>& messages) {
      if (keep != nullptr) append(messages, *keep);
    };
    RunStates states = run_chunk(
        run_, view, chunk, warmup, start, scratch_, [](std::int64_t) {}, store);
    if (keep != nullptr) {
      keep->whole = run_.origin_whole() + states.mass_before;
      keep->offset = run_.origin();
    }
    return states;
  }

 private:
  int arrays() const { return tables_->tail ? 3 : 2; }

  void reserve(PositionRange chunk, ViterbiChunk& keep) const {
    const auto blocks = static_cast<std::size_t>((chunk.size() + kBlock - 1) / kBlock);
    const auto labels = static_cast<std::size_t>(tables_->labels);
    keep.begin = chunk.begin;
    keep.blocks.clear();
    keep.floats.clear();
    keep.doubles.clear();
    keep.blocks.reserve(blocks);
    if constexpr (sizeof(Real) == sizeof(float)) {
      keep.floats.reserve(blocks * kBlock * labels * static_cast<std::size_t>(arrays()));
      keep.doubles.reserve(blocks * 3 * labels);
    } else {
      keep.doubles.reserve(blocks * labels * (3 + kBlock * static_cast<std::size_t>(arrays())));
    }
  }

  template <class T>
  static T* grow(std::vector<T>& to, std::size_t count) {
    const std::size_t at = to.size();
    to.resize(at + count);
    return to.data() + at;
  }
  // (16, padded) as (16, C).
  template <class T, class In>
  void append_rows(const In* rows, std::vector<T>& to) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    T* out = grow(to, kBlock * labels);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      std::copy_n(rows + slot * static_cast<std::size_t>(tables_->padded), labels, out + slot * labels);
    }
  }
  // Element (slot, c) of `from` as (C, 16).
  template <class T, class At>
  void append_columns(At at, std::vector<T>& to) const {
    T* out = grow(to, kBlock * static_cast<std::size_t>(tables_->labels));
    for (int c = 0; c < tables_->labels; ++c) {
      for (int slot = 0; slot < kBlock; ++slot) *out++ = at(slot, c);
    }
  }
  template <class T>
  void append_fast(const BlockMessages<Real>& m, std::vector<T>& to) const {
    append_rows(m.alpha, to);
    const Real* gamma = m.gamma;
    const int lanes = tables_->lanes;
    append_columns(
        [&](int slot, int c) {
          return gamma[static_cast<std::size_t>(((c / lanes) * kBlock + slot) * lanes + c % lanes)];
        },
        to);
    if (tables_->tail) append_rows(m.tail, to);
  }

  void append(const BlockMessages<Real>& m, ViterbiChunk& keep) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    ViterbiChunk::Block block;
    block.exact = m.exact;
    block.wide = m.exact || sizeof(Real) == sizeof(double);
    block.shifted = m.position_shift != nullptr;
    block.base = m.base;
    block.values = block.wide ? keep.doubles.size() : keep.floats.size();
    if (m.exact) {
      append_rows(m.alpha_log, keep.doubles);
      const double* started = m.started_log;
      const auto width = static_cast<std::size_t>(tables_->padded);
      append_columns(
          [&](int slot, int c) {
            return started[static_cast<std::size_t>(slot) * width + static_cast<std::size_t>(c)];
          },
          keep.doubles);
      if (tables_->tail) append_rows(m.tail_log, keep.doubles);
    } else if constexpr (sizeof(Real) == sizeof(float)) {
      append_fast(m, keep.floats);
    } else {
      append_fast(m, keep.doubles);
    }
    block.doubles = keep.doubles.size();
    std::copy_n(m.content, labels, grow(keep.doubles, labels));
    if (!m.exact) {
      std::copy_n(m.alpha_scale, labels, grow(keep.doubles, labels));
      std::copy_n(m.gamma_scale, labels, grow(keep.doubles, labels));
    }
    if (block.shifted) std::copy_n(m.position_shift, kBlock, grow(keep.doubles, kBlock));
    keep.blocks.push_back(block);
  }

  std::shared_ptr<const Tables> tables_;
  BlockRun<Real, D, MaxSemiring> run_;
  ScratchMessages<Real> scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
