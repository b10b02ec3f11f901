// The Viterbi kernel: the max semiring over one chunk, messages kept for the traceback. Included once per
// instruction set.
#if defined(SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#undef SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#else
#define SEMICRF_CPU_SIMD_VITERBI_KERNEL_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <memory>

#include "cpu/simd/chunk_run-inl.h"
#include "cpu/simd/forward_store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class ViterbiKernelImpl final : public ViterbiKernel {
 public:
  using Tables = ChainTables<Real, D, MaxSemiring>;
  using Run = BlockRun<Real, D, MaxSemiring>;
  using Messages = typename Run::Messages;
  using DD = typename Run::DD;
  using VD = typename Run::VD;

  static ViterbiChunk::Shape shape(const Tables& t) {
    return {t.labels, t.tail, sizeof(Real) == sizeof(double)};
  }

  ViterbiKernelImpl(std::shared_ptr<const Tables> tables, const TraceTables& trace)
      : tables_(std::move(tables)),
        run_(*tables_),
        scratch_(static_cast<std::size_t>(tables_->padded)),
        follower_(trace) {}

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
  RunStates forward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                    const ForwardArrays& out) override {
    const ScoreView view(scores, Direction::kForward);
    ForwardRows<Real, D, MaxSemiring> rows(*tables_, out);
    run_.keep_masks(true);
    RunStates states = run_chunk(
        run_, view, chunk, warmup, start, scratch_, [&](std::int64_t) { rows.before(run_); },
        [&](std::int64_t block, const Messages& m) { rows.write(run_, chunk, block, m); });
    run_.keep_masks(false);
    return states;
  }

 private:
  RunStates sweep(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                  ViterbiChunk* keep) {
    const ScoreView view(scores, Direction::kForward);
    if (keep != nullptr) {
      const auto blocks = static_cast<std::size_t>((chunk.size() + kBlock - 1) / kBlock);
      keep->reset(chunk.begin, blocks, shape(*tables_));
      for (std::size_t c = 0; c < static_cast<std::size_t>(tables_->labels); ++c)
        keep->source_offset[c] = -static_cast<double>(tables_->transitions.out_whole[c]);
    }
    const auto store = [&](std::int64_t, const Messages& messages) {
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

  void append(const Messages& m, ViterbiChunk& keep) {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const std::size_t index = keep.blocks.size();
    ViterbiChunk::Block block;
    // The tail of a segment is followed through logarithms alone.
    block.exact = m.exact && (!m.cut || tables_->tail);
    block.shifted = m.position_shift != nullptr;
    block.extra = keep.extra.size();
    for (std::size_t c = 0; c < labels; ++c) {
      keep.content[c * keep.capacity + index] = m.content[c];
      // Numbers are at most 1/2 above their units.
      keep.start_bound[c * keep.capacity + index] =
          block.exact ? std::numeric_limits<double>::infinity() : m.gamma_scale[c] + m.base + 0.5;
    }
    if (block.exact) {
      append_logs(m, keep);
    } else {
      append_numbers(m, index, keep);
      if (m.cut) append_cuts(m, index, keep);
    }
    if (block.shifted) keep.extra.insert(keep.extra.end(), m.position_shift, m.position_shift + kBlock);
    keep.blocks.push_back(block);
  }
  void append_numbers(const Messages& m, std::size_t index, ViterbiChunk& keep) {
    const DD dd;
    const auto labels = static_cast<std::size_t>(tables_->labels),
               lanes = static_cast<std::size_t>(tables_->lanes);
    const auto padded = static_cast<std::size_t>(tables_->padded);
    const std::size_t first = index * keep.shape().rows();
    Real* const alpha = static_cast<Real*>(keep.alpha) + first;
    const std::size_t together = labels == padded ? kBlock : 1;  // slots, as they lie one after the other
    for (std::size_t slot = 0; slot < kBlock; slot += together)
      std::copy_n(m.alpha + slot * padded, together * labels, alpha + slot * labels);
    for (std::size_t c = 0; c < padded; c += hn::Lanes(dd)) {
      const std::size_t i = c / lanes * lanes * kBlock + c % lanes;
      const VD scale = hn::Add(hn::LoadU(dd, m.gamma_scale + c), hn::Set(dd, m.base));
      keep_logs(m.gamma_start + i, m.gamma_whole + i, lanes, scale, c, keep.starts + first);
    }
    if (!tables_->tail) return;
    const VD scale = hn::Set(dd, m.scale + m.base);
    for (std::size_t c = 0; c < padded; c += hn::Lanes(dd))
      keep_logs(m.tail + c, m.tail_whole + c, padded, scale, c, keep.tails + first);
  }
  // Keeps the labels from c on, in the 16 slots of a block, as logarithms: numbers, `step` entries from slot
  // to slot.
  HWY_INLINE void keep_logs(const Real* numbers, const typename Run::Whole* whole, std::size_t step, VD scale,
                            std::size_t c, double* rows) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    for (std::size_t slot = 0; slot < kBlock; ++slot) {
      store_labels(hn::Add(Run::log_of(numbers, whole), scale), c, labels, rows + slot * labels);
      numbers += step, whole += step;
    }
  }
  // What labels with forbidden positions have in place of the numbers: segments between two of these, too.
  void append_cuts(const Messages& m, std::size_t index, ViterbiChunk& keep) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const auto padded = static_cast<std::size_t>(tables_->padded);
    if (keep.cuts.empty()) keep.cuts.assign(labels * keep.capacity, 0);
    for (std::size_t c = 0; c < labels; ++c) {
      if (m.content[c] != kNegativeInfinity) continue;
      double content = 0, most = kNegativeInfinity;
      std::uint16_t cuts = 0;
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        const double start = m.started_log[slot * padded + c] + m.base - content;
        keep.starts[(index * kBlock + slot) * labels + c] = start;
        most = std::max(most, start);
        const double score = run_.content()[slot * padded + c];
        if (score == kNegativeInfinity) {
          cuts = static_cast<std::uint16_t>(cuts | (1U << slot));
        } else {
          content += score;
        }
      }
      keep.cuts[c * keep.capacity + index] = cuts;
      keep.content[c * keep.capacity + index] = content;
      keep.start_bound[c * keep.capacity + index] = most;
    }
  }
  // Stores the values of the labels c, c + 1, ..., as far as there are such labels, in their row.
  static HWY_INLINE void store_labels(VD values, std::size_t c, std::size_t labels, double* row) {
    const DD dd;
    if (c + hn::Lanes(dd) <= labels) {
      hn::StoreU(values, dd, row + c);
    } else if (c < labels) {
      hn::BlendedStore(values, hn::FirstN(dd, labels - c), dd, row + c);
    }
  }
  void append_logs(const Messages& m, ViterbiChunk& keep) const {
    const auto labels = static_cast<std::size_t>(tables_->labels);
    const auto padded = static_cast<std::size_t>(tables_->padded);
    const auto put = [&](double value) { keep.extra.push_back(value + m.base); };
    const auto put_rows = [&](const double* rows) {
      for (std::size_t slot = 0; slot < kBlock; ++slot) {
        for (std::size_t c = 0; c < labels; ++c) put(rows[slot * padded + c]);
      }
    };
    put_rows(m.alpha_log);
    for (std::size_t c = 0; c < labels; ++c) {
      for (std::size_t slot = 0; slot < kBlock; ++slot) put(m.started_log[slot * padded + c]);
    }
    if (tables_->tail) put_rows(m.tail_log);
  }

  std::shared_ptr<const Tables> tables_;
  Run run_;
  ScratchMessages<Real, typename Run::Whole> scratch_;
  ViterbiChunk all_;  // messages of the chunk at work
  ChunkFollower follower_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
