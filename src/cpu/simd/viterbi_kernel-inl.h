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
  using V = hn::Vec<D>;

  ViterbiKernelImpl(std::shared_ptr<const Tables> tables, const TraceTables& trace)
      : tables_(std::move(tables)),
        run_(*tables_),
        scratch_(static_cast<std::size_t>(tables_->padded)),
        follower_(trace, sizeof(Real) == sizeof(double)) {}

  RunStates run(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                ChunkPath* path) override {
    if (path == nullptr) return sweep(scores, chunk, warmup, start, nullptr);
    RunStates states = sweep(scores, chunk, warmup, start, &all_);
    int label = 0;
    best_final_score(states.exit, &label);
    follower_.follow(scores, chunk, all_, label, *path);
    return states;
  }
  void messages(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                ViterbiChunk& all) override {
    sweep(scores, chunk, warmup, start, &all);
  }

 private:
  RunStates sweep(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                  ViterbiChunk* keep) {
    const ScoreView view(scores, Direction::kForward);
    if (keep != nullptr) {
      const auto blocks = static_cast<std::size_t>((chunk.size() + kBlock - 1) / kBlock);
      keep->reset(chunk.begin, blocks, tables_->labels, tables_->tail, sizeof(Real));
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

  // (16, padded) as (16, C).
  template <class In, class Out>
  Out* put_rows(const In* rows, Out* to) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const auto padded = static_cast<std::size_t>(tables_->padded);
    if (labels == padded) return std::copy_n(rows, kBlock * labels, to);
    for (std::size_t slot = 0; slot < kBlock; ++slot) to = std::copy_n(rows + slot * padded, labels, to);
    return to;
  }
  // Panels (panels, 16, lanes) as (C, 16).
  Real* put_gamma(const Real* panels, Real* to) const {
    const int lanes = tables_->lanes;
    for (int c = 0; c < tables_->labels; c += lanes) {
      transpose_panel(panels + tables_->panel_index(c / lanes, 0, kBlock),
                      std::min(lanes, tables_->labels - c), to);
      to += std::min(lanes, tables_->labels - c) * kBlock;
    }
    return to;
  }
  // (16, lanes) as (lanes, 16), of which the first `rows`. A 128-bit part of a vector is taken as a small
  // square and turned.
  static void transpose_panel(const Real* panel, int rows, Real* to) {
#if HWY_TARGET == HWY_SCALAR
    for (int slot = 0; slot < kBlock; ++slot)
      for (int c = 0; c < rows; ++c) to[c * kBlock + slot] = panel[slot + c];
#else
    constexpr int kSquare = static_cast<int>(16 / sizeof(Real));
    const D d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    HWY_ALIGN Real turned[kSquare * hn::MaxLanes(D())];
    for (int slot = 0; slot < kBlock; slot += kSquare) {
      const Real* from = panel + slot * lanes;
      if constexpr (kSquare == 4) {
        const V r0 = hn::Load(d, from), r1 = hn::Load(d, from + lanes), r2 = hn::Load(d, from + 2 * lanes),
                r3 = hn::Load(d, from + 3 * lanes);
        const V even_low = hn::InterleaveLower(d, r0, r2), even_high = hn::InterleaveUpper(d, r0, r2);
        const V odd_low = hn::InterleaveLower(d, r1, r3), odd_high = hn::InterleaveUpper(d, r1, r3);
        hn::Store(hn::InterleaveLower(d, even_low, odd_low), d, turned);
        hn::Store(hn::InterleaveUpper(d, even_low, odd_low), d, turned + lanes);
        hn::Store(hn::InterleaveLower(d, even_high, odd_high), d, turned + 2 * lanes);
        hn::Store(hn::InterleaveUpper(d, even_high, odd_high), d, turned + 3 * lanes);
      } else {
        const V r0 = hn::Load(d, from), r1 = hn::Load(d, from + lanes);
        hn::Store(hn::InterleaveLower(d, r0, r1), d, turned);
        hn::Store(hn::InterleaveUpper(d, r0, r1), d, turned + lanes);
      }
      for (int c = 0; c < rows; ++c)
        std::copy_n(turned + c % kSquare * lanes + c / kSquare * kSquare, kSquare, to + c * kBlock + slot);
    }
#endif
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
      for (std::size_t c = 0; tables_->tail && c < labels; ++c)
        keep.tail_scale[index * labels + c] = m.tail_scale[c] + m.base;
    }
    if (block.shifted) keep.extra.insert(keep.extra.end(), m.position_shift, m.position_shift + kBlock);
    keep.blocks.push_back(block);
  }

  std::shared_ptr<const Tables> tables_;
  BlockRun<Real, D, MaxSemiring> run_;
  ScratchMessages<Real> scratch_;
  ViterbiChunk all_;  // messages of the chunk at work
  ChunkFollower follower_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
