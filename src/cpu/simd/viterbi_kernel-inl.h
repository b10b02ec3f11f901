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
      keep.doubles.reserve(blocks * 2 * labels);
    } else {
      keep.doubles.reserve(blocks * kBlock * labels * static_cast<std::size_t>(arrays()));
    }
  }

  // Rows of (16, padded) numbers as (16, C), each plus its label's scale when one is given.
  template <class In, class Out>
  void append_rows(const In* rows, const double* scale, std::vector<Out>& to) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const std::size_t at = to.size();
    to.resize(at + kBlock * labels);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      const In* row = rows + slot * static_cast<std::size_t>(tables_->padded);
      Out* out = to.data() + at + slot * labels;
      for (std::size_t c = 0; c < labels; ++c) {
        out[c] = scale == nullptr ? static_cast<Out>(row[c])
                                  : static_cast<Out>(static_cast<double>(row[c]) + scale[c]);
      }
    }
  }

  void append(const BlockMessages<Real>& m, ViterbiChunk& keep) const {
    ViterbiChunk::Block block;
    block.base = m.base;
    block.shifted = m.position_shift != nullptr;
    if (block.shifted) {
      block.shifts = keep.doubles.size();
      keep.doubles.insert(keep.doubles.end(), m.position_shift, m.position_shift + kBlock);
    }
    if (m.exact) {
      block.exact = true;
      block.offset = keep.doubles.size();
      append_rows(m.alpha_log, nullptr, keep.doubles);
      append_rows(m.start_log, nullptr, keep.doubles);
      if (tables_->tail) append_rows(m.tail_log, nullptr, keep.doubles);
    } else if constexpr (sizeof(Real) == sizeof(float)) {
      block.scaled_tail = true;
      block.offset = keep.floats.size();
      append_rows(m.alpha, nullptr, keep.floats);
      append_rows(m.start, nullptr, keep.floats);
      if (tables_->tail) append_rows(m.tail, nullptr, keep.floats);
      block.scales = keep.doubles.size();
      keep.doubles.insert(keep.doubles.end(), m.alpha_scale, m.alpha_scale + tables_->labels);
      keep.doubles.insert(keep.doubles.end(), m.start_scale, m.start_scale + tables_->labels);
    } else {
      block.offset = keep.doubles.size();
      append_rows(m.alpha, m.alpha_scale, keep.doubles);
      append_rows(m.start, m.start_scale, keep.doubles);
      if (tables_->tail) append_rows(m.tail, m.alpha_scale, keep.doubles);
      block.scaled_tail = true;
      block.exact = true;
    }
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
