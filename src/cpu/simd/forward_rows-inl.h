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
template <class Real, class D, class Semiring>
class ForwardRows : public RealVectors<Real, D, Semiring> {
 public:
  using Tables = ChainTables<Real, D, Semiring>;
  using Run = BlockRun<Real, D, Semiring>;
  using Vectors = RealVectors<Real, D, Semiring>;
  using Messages = typename Run::Messages;
  using Whole = typename Vectors::Whole;
  using typename Vectors::DD;
  using typename Vectors::VD;

  // `out` points at the chunk's first row.
  ForwardRows(const Tables& tables, const ForwardArrays& out)
      : t_(tables),
        out_(out),
        width_(static_cast<std::size_t>(tables.padded)),
        labels_(static_cast<std::size_t>(tables.labels)),
        tail_(tables.tail),
        content_(width_),
        row_(width_) {}

  // Before each block.
  void before(const Run& run) { mass_ = run.mass(); }

  // After block `block` of the run.
  void write(const Run& run, PositionRange chunk, std::int64_t block, const Messages& m) {
    const std::int64_t begin = block * kBlock;
    const auto slots = static_cast<std::size_t>(std::min<std::int64_t>(kBlock, chunk.end - begin));
    std::fill_n(content_.get(), width_, 0.0);
    double level = m.base + mass_;
    for (std::size_t j = 0; j < slots; ++j) {
      const auto at = static_cast<std::size_t>(begin - chunk.begin) + j;
      if (out_.starts != nullptr) {
        const double* score = run.has_edge_scores() ? run.first_scores() + j * width_ : nullptr;
        m.load_starts(t_, j, row_.get());
        for (std::size_t c = 0; score != nullptr && c < width_; ++c) row_[c] += score[c];
        store(out_.starts, out_.start_levels, at, level);
      }
      if (out_.start_levels != nullptr) out_.start_levels[at] = level;
      if (m.position_shift != nullptr) level += m.position_shift[j];
      if (out_.ends != nullptr) {
        m.load_alpha(t_, j, row_.get());
        store(out_.ends, out_.end_levels, at, level);
      }
      if (out_.tails != nullptr) write_tails(run, m, j, at, level);
      if (out_.end_levels != nullptr) out_.end_levels[at] = level;
    }
  }

 private:
  void write_tails(const Run& run, const Messages& m, std::size_t j, std::size_t at, double level) {
    if (!tail_) {
      std::fill_n(out_.tails + at * labels_, labels_, kNegativeInfinity);
      return;
    }
    for (std::size_t c = 0; c < width_; ++c) content_[c] += run.content()[j * width_ + c];
    if (m.exact) {
      std::copy_n(m.tail_log + j * width_, width_, row_.get());
    } else {
      load(m.tail + j * width_, m.tail_whole + j * width_, m.scale);
      for (std::size_t c = 0; c < width_; ++c) row_[c] += content_[c];
    }
    store(out_.tails, out_.end_levels, at, level);
  }

  // row_: logarithms of numbers times whole units.
  void load(const Real* numbers, const Whole* whole, double scale) {
    const DD dd;
    for (std::size_t c = 0; c < width_; c += hn::Lanes(dd))
      hn::Store(hn::Add(Vectors::log_of(numbers + c, whole + c), hn::Set(dd, scale)), dd, row_.get() + c);
  }
  void store(double* to, const double* levels, std::size_t at, double level) const {
    const double more = levels != nullptr ? 0.0 : level;
    for (std::size_t c = 0; c < labels_; ++c) to[at * labels_ + c] = row_[c] + more;
  }

  const Tables& t_;
  const ForwardArrays out_;
  std::size_t width_, labels_;
  bool tail_;
  double mass_ = 0;  // mass of the run before the block
  AlignedArray<double> content_, row_;
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
