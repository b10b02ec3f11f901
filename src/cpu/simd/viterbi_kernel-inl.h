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
    if (keep != nullptr) {
      keep->begin = chunk.begin;
      keep->blocks.clear();
      keep->extra.clear();
    }
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
  // (16, padded) as (16, C).
  template <class In, class Out>
  Out* put_rows(const In* rows, Out* to) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      to = std::copy_n(rows + slot * static_cast<std::size_t>(tables_->padded), labels, to);
    }
    return to;
  }
  // Panels (panels, 16, lanes) as (C, 16).
  Real* put_gamma(const Real* panels, Real* to) const {
    const int lanes = tables_->lanes;
    for (int c = 0; c < tables_->labels; ++c) {
      const Real* from = panels + tables_->panel_index(c / lanes, 0, kBlock) + c % lanes;
      for (int slot = 0; slot < kBlock; ++slot) *to++ = from[slot * lanes];
    }
    return to;
  }

  void append(const BlockMessages<Real>& m, ViterbiChunk& keep) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const std::size_t index = keep.blocks.size();
    ViterbiChunk::Block block;
    block.exact = m.exact;
    block.shifted = m.position_shift != nullptr;
    block.extra = keep.extra.size();
    for (std::size_t c = 0; c < labels; ++c) {
      keep.content[c * keep.capacity + index] = m.content[c];
      keep.start_scale[c * keep.capacity + index] =
          m.exact ? std::numeric_limits<double>::infinity() : m.gamma_scale[c] + m.base;
    }
    const std::size_t values = ViterbiChunk::values_per_block(tables_->labels, tables_->tail);
    if (m.exact) {
      keep.extra.resize(block.extra + values);
      double* to = put_rows(m.alpha_log, keep.extra.data() + block.extra);
      for (std::size_t c = 0; c < labels; ++c) {
        for (std::size_t slot = 0; slot < kBlock; ++slot)
          *to++ = m.started_log[slot * static_cast<std::size_t>(tables_->padded) + c];
      }
      if (tables_->tail) put_rows(m.tail_log, to);
      for (std::size_t i = 0; i < values; ++i) keep.extra[block.extra + i] += m.base;
    } else {
      Real* to = put_rows(m.alpha, static_cast<Real*>(keep.values) + index * values);
      to = put_gamma(m.gamma, to);
      if (tables_->tail) put_rows(m.tail, to);
      for (std::size_t c = 0; c < labels; ++c)
        keep.alpha_scale[index * labels + c] = m.alpha_scale[c] + m.base;
    }
    if (block.shifted) keep.extra.insert(keep.extra.end(), m.position_shift, m.position_shift + kBlock);
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
