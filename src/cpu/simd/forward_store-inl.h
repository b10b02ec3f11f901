// Forward messages of one chunk, kept until the backward run meets them. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#undef SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#else
#define SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real, class D>
class ForwardStore {
 public:
  using Tables = ChainTables<Real, D, LogSemiring>;
  using Vectors = RealVectors<Real, D, LogSemiring>;
  using Whole = typename Vectors::Whole;
  using Messages = BlockMessages<Real, Whole>;

  explicit ForwardStore(const Tables& tables)
      : t_(tables), width_(static_cast<std::size_t>(tables.padded)), rows_(kBlock * width_) {}

  static std::size_t bytes(std::size_t width, std::int64_t positions, bool tails) {
    const auto blocks = static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
    const std::size_t arrays = tails ? 3 : 2;
    const std::size_t row = arrays * (sizeof(Real) + sizeof(double)) + (tails ? sizeof(Whole) : 0);
    return blocks * (width * (kBlock * row + sizeof(Real) + sizeof(Whole) + sizeof(double)) + sizeof(Block));
  }

  // Where no block is in logarithms.
  static std::size_t usual_bytes(std::size_t width, std::int64_t positions, bool tails) {
    const auto blocks = static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
    return bytes(width, positions, tails) - blocks * width * kBlock * (tails ? 3 : 2) * sizeof(double);
  }

  // `tails`: keep the tail of every position, for the expected counts.
  void reset(std::int64_t positions, bool tails) {
    const auto blocks = static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
    tails_ = tails;
    arrays_ = tails ? 3 : 2;
    if (blocks * arrays_ * rows_ > numbers_.size()) numbers_ = AlignedArray<Real>(blocks * arrays_ * rows_);
    if (tails && blocks * rows_ > tail_whole_.size()) tail_whole_ = AlignedArray<Whole>(blocks * rows_);
    if (blocks * width_ > tail_logs_.size()) {
      tail_logs_ = AlignedArray<double>(blocks * width_);
      last_alpha_ = AlignedArray<Real>(blocks * width_);
      last_alpha_whole_ = AlignedArray<Whole>(blocks * width_);
    }
    logs_.clear();
    blocks_.clear();
  }

  // `tail_log` is the tail at the block's right boundary, content summed up to there, relative to
  // `tail_base`.
  void append(const Messages& m, const AlignedArray<double>& tail_log, double tail_base) {
    const std::size_t block = blocks_.size();
    for (std::size_t c = 0; c < width_; ++c)
      tail_logs_[block * width_ + c] = tail_log[c] + (tail_base - m.base);
    blocks_.push_back({m.base, m.scale, m.exact ? static_cast<std::ptrdiff_t>(logs_.size()) : -1, m.units});
    if (m.exact) {
      logs_.insert(logs_.end(), m.alpha_log, m.alpha_log + rows_);
      logs_.insert(logs_.end(), m.start_log, m.start_log + rows_);
      if (tails_) logs_.insert(logs_.end(), m.tail_log, m.tail_log + rows_);
      return;
    }
    const std::size_t last = (kBlock - 1) * width_;
    std::copy_n(m.alpha_number + last, width_, last_alpha_.get() + block * width_);
    std::copy_n(m.alpha_whole + last, width_, last_alpha_whole_.get() + block * width_);
    Real* numbers = numbers_.get() + block * arrays_ * rows_;
    std::copy_n(m.alpha, rows_, numbers);
    std::copy_n(m.start, rows_, numbers + rows_);
    if (!tails_) return;
    std::copy_n(m.tail, rows_, numbers + 2 * rows_);
    std::copy_n(m.tail_whole, rows_, tail_whole_.get() + block * rows_);
  }

  // What a block's logarithms and scale are relative to, a whole number.
  double base(std::size_t block) const { return blocks_[block].base; }
  bool exact(std::size_t block) const { return blocks_[block].logs >= 0; }
  // As in BlockMessages.
  double scale(std::size_t block) const { return blocks_[block].scale; }
  const std::array<Whole, kBlock + 1>& units(std::size_t block) const { return blocks_[block].units; }
  const Real* alpha(std::size_t block) const { return numbers_.get() + block * arrays_ * rows_; }
  const Real* start(std::size_t block) const { return alpha(block) + rows_; }
  const Real* tail(std::size_t block) const { return alpha(block) + 2 * rows_; }
  const Whole* tail_whole(std::size_t block) const { return tail_whole_.get() + block * rows_; }
  // Alpha at the block's last boundary, as alpha_number and alpha_whole in BlockMessages: the start messages
  // that are made of it, and certified, are those of the next block.
  const Real* last_alpha(std::size_t block) const { return last_alpha_.get() + block * width_; }
  const Whole* last_alpha_whole(std::size_t block) const { return last_alpha_whole_.get() + block * width_; }
  const double* tail_log(std::size_t block) const { return tail_logs_.get() + block * width_; }
  const double* alpha_log(std::size_t block) const { return logs_.data() + blocks_[block].logs; }
  const double* start_log(std::size_t block) const { return alpha_log(block) + rows_; }
  const double* tail_rows_log(std::size_t block) const { return alpha_log(block) + 2 * rows_; }

  // One value as a logarithm, either way.
  double alpha_value(std::size_t block, std::size_t slot, std::size_t c) const {
    if (exact(block)) return alpha_log(block)[slot * width_ + c];
    const Block& b = blocks_[block];
    if (slot == kBlock - 1) {
      const double units = static_cast<double>(t_.transitions.out_whole[c]) * kLog2;
      return Vectors::log_value(last_alpha(block)[c], last_alpha_whole(block)[c]) - units + b.scale;
    }
    return log_value(alpha(block)[slot * width_ + c], b.units[slot + 1] - t_.transitions.out_whole[c],
                     b.scale);
  }
  double start_value(std::size_t block, std::size_t slot, std::size_t c) const {
    if (exact(block)) return start_log(block)[slot * width_ + c];
    const Block& b = blocks_[block];
    return log_value(start(block)[slot * width_ + c], b.units[slot] + t_.transitions.into_whole[c], b.scale);
  }

  // Rows (padded) of logarithms, either way.
  void load_alpha(std::size_t block, std::size_t slot, double* out) const {
    if (exact(block)) {
      std::copy_n(alpha_log(block) + slot * width_, width_, out);
      return;
    }
    const Block& b = blocks_[block];
    if (slot == kBlock - 1) {
      for (std::size_t c = 0; c < width_; ++c) out[c] = alpha_value(block, slot, c);
      return;
    }
    Vectors::log_row(alpha(block) + slot * width_, width_, b.units[slot + 1], t_.transitions.out_whole.get(),
                     -1, b.scale, out);
  }
  void load_starts(std::size_t block, std::size_t slot, double* out) const {
    if (exact(block)) {
      std::copy_n(start_log(block) + slot * width_, width_, out);
      return;
    }
    const Block& b = blocks_[block];
    Vectors::log_row(start(block) + slot * width_, width_, b.units[slot], t_.transitions.into_whole.get(), 1,
                     b.scale, out);
  }

 private:
  struct Block {
    double base, scale;
    std::ptrdiff_t logs;  // place of the block's first logarithm, or -1
    std::array<Whole, kBlock + 1> units;
  };
  static double log_value(Real number, Whole units, double scale) {
    if (!(number > Real(0))) return kNegativeInfinity;
    return std::log(static_cast<double>(number)) + static_cast<double>(units) * kLog2 + scale;
  }

  const Tables& t_;
  std::size_t width_, rows_;
  bool tails_ = false;
  std::size_t arrays_ = 2;
  AlignedArray<Real> numbers_;  // per block: alpha (16, padded), start (16, padded), tail when kept
  AlignedArray<Whole> tail_whole_;
  AlignedArray<double> tail_logs_;  // (blocks, padded)
  AlignedArray<Real> last_alpha_;   // (blocks, padded)
  AlignedArray<Whole> last_alpha_whole_;
  std::vector<double> logs_;  // per exact block: alpha, start, tail when kept
  std::vector<Block> blocks_;
};

// Forward messages of one chunk as natural logarithms, row by row. Included once per instruction set.
//
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
