// Forward messages of one chunk as natural logarithms, row by row. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_FORWARD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_FORWARD_ROWS_INL_H_
#undef SEMICRF_CPU_SIMD_FORWARD_ROWS_INL_H_
#else
#define SEMICRF_CPU_SIMD_FORWARD_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

// Writes what a forward run leaves behind, relative to the run's own origin: levels are its base and mass,
// and are added to the values where nobody asks for them.
template <class Real, class D>
class ForwardRows : public RealVectors<Real, D, LogSemiring> {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Run = BlockRun<Real, D, LogSemiring>;
  using Vectors = RealVectors<Real, D, LogSemiring>;
  using typename Vectors::DD;
  using typename Vectors::VD;

  // `out` points at the chunk's first row.
  ForwardRows(const Tables& tables, const ForwardArrays& out)
      : out_(out),
        width_(static_cast<std::size_t>(tables.padded)),
        labels_(static_cast<std::size_t>(tables.labels)),
        tail_(tables.tail),
        content_(width_),
        row_(width_) {}

  // Before each block.
  void before(const Run& run) { mass_ = run.mass(); }

  // After block `block` of the run.
  void write(const Run& run, PositionRange chunk, std::int64_t block, const BlockMessages<Real>& m) {
    const std::int64_t begin = block * kBlock;
    const auto slots = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, chunk.end - begin));
    std::fill_n(content_.get(), width_, 0.0);
    double level = m.base + mass_;
    for (std::size_t j = 0; j < slots; ++j) {
      const auto at = static_cast<std::size_t>(begin - chunk.begin) + j;
      if (out_.starts != nullptr) {
        const double* score = run.has_edge_scores() ? run.first_scores() + j * width_ : nullptr;
        load(m.exact ? m.start_log : nullptr, m.start, m.start_scale, j, score);
        store(out_.starts, out_.start_levels, at, level);
      }
      if (out_.start_levels != nullptr) out_.start_levels[at] = level;
      if (m.position_shift != nullptr) level += m.position_shift[j];
      if (out_.ends != nullptr) {
        load(m.exact ? m.alpha_log : nullptr, m.alpha, m.alpha_scale, j, nullptr);
        store(out_.ends, out_.end_levels, at, level);
      }
      if (out_.tails != nullptr) write_tails(run, m, j, at, level);
      if (out_.end_levels != nullptr) out_.end_levels[at] = level;
    }
  }

 private:
  void write_tails(const Run& run, const BlockMessages<Real>& m, std::size_t j, std::size_t at,
                   double level) {
    if (!tail_) {
      std::fill_n(out_.tails + at * labels_, labels_, kNegativeInfinity);
      return;
    }
    for (std::size_t c = 0; c < width_; ++c) content_[c] += run.content()[j * width_ + c];
    if (m.exact) {
      load(m.tail_log, nullptr, nullptr, j, nullptr);
    } else {
      load(nullptr, m.tail, m.tail_scale, j, content_.get());
    }
    store(out_.tails, out_.end_levels, at, level);
  }

  // row_: row j of the logarithms if there are any, else of the numbers; plus `more`, which may be null.
  void load(const double* logs, const Real* numbers, const double* scale, std::size_t j, const double* more) {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd)) {
      VD x = logs != nullptr ? hn::LoadU(dd, logs + j * width_ + c)
                             : hn::Add(Vectors::log_of(numbers + j * width_ + c), hn::LoadU(dd, scale + c));
      if (more != nullptr) x = hn::Add(x, hn::LoadU(dd, more + c));
      hn::Store(x, dd, row_.get() + c);
    }
  }
  void store(double* to, const double* levels, std::size_t at, double level) const {
    const double more = levels != nullptr ? 0.0 : level;
    for (std::size_t c = 0; c < labels_; ++c) to[at * labels_ + c] = row_[c] + more;
  }

  const ForwardArrays out_;
  std::size_t width_, labels_;
  bool tail_;
  double mass_ = 0;  // of the run before the block
  AlignedArray<double> content_, row_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
