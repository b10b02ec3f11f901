// Forward messages of one chunk, kept until the backward run meets them. Included once per instruction set.
#if defined(SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#undef SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#else
#define SEMICRF_CPU_SIMD_FORWARD_STORE_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <vector>

#include "cpu/simd/block/block_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace semicrf::cpu {
namespace HWY_NAMESPACE {

template <class Real>
class ForwardStore {
 public:
  explicit ForwardStore(std::size_t width) : width_(width), rows_(kBlock * width) {}

  static std::size_t bytes(std::size_t width, std::int64_t positions, bool tails) {
    const auto blocks = static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
    const std::size_t arrays = tails ? 3 : 2;
    return blocks * width * (arrays * kBlock * (sizeof(Real) + sizeof(double)) + 4 * sizeof(double));
  }

  // `tails`: keep the tail of every position, for the expected counts.
  void reset(std::int64_t positions, bool tails) {
    const auto blocks = static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
    arrays_ = tails ? 3 : 2;
    if (blocks * arrays_ * rows_ > numbers_.size()) numbers_ = AlignedArray<Real>(blocks * arrays_ * rows_);
    if (blocks * 4 * width_ > scales_.size()) scales_ = AlignedArray<double>(blocks * 4 * width_);
    logs_.clear();
    exact_.clear();
    bases_.clear();
  }

  // `tail_log` is the tail at the block's right boundary, content summed up to there, relative to
  // `tail_base`.
  void append(const BlockMessages<Real>& m, const AlignedArray<double>& tail_log, double tail_base) {
    const std::size_t block = exact_.size();
    double* scales = scales_.get() + block * 4 * width_;
    for (std::size_t c = 0; c < width_; ++c) scales[2 * width_ + c] = tail_log[c] + (tail_base - m.base);
    bases_.push_back(m.base);
    if (m.exact) {
      exact_.push_back(static_cast<std::ptrdiff_t>(logs_.size()));
      logs_.insert(logs_.end(), m.alpha_log, m.alpha_log + rows_);
      logs_.insert(logs_.end(), m.start_log, m.start_log + rows_);
      if (arrays_ == 3) logs_.insert(logs_.end(), m.tail_log, m.tail_log + rows_);
      return;
    }
    exact_.push_back(-1);
    Real* numbers = numbers_.get() + block * arrays_ * rows_;
    std::copy_n(m.alpha, rows_, numbers);
    std::copy_n(m.start, rows_, numbers + rows_);
    if (arrays_ == 3) std::copy_n(m.tail, rows_, numbers + 2 * rows_);
    std::copy_n(m.alpha_scale, width_, scales);
    std::copy_n(m.start_scale, width_, scales + width_);
    if (arrays_ == 3) std::copy_n(m.tail_scale, width_, scales + 3 * width_);
  }

  // What a block's logarithms and scales are relative to, a whole number.
  double base(std::size_t block) const { return bases_[block]; }
  bool exact(std::size_t block) const { return exact_[block] >= 0; }
  const Real* alpha(std::size_t block) const { return numbers_.get() + block * arrays_ * rows_; }
  const Real* start(std::size_t block) const { return alpha(block) + rows_; }
  const Real* tail(std::size_t block) const { return alpha(block) + 2 * rows_; }  // as in BlockMessages
  const double* alpha_scale(std::size_t block) const { return scales_.get() + block * 4 * width_; }
  const double* start_scale(std::size_t block) const { return alpha_scale(block) + width_; }
  const double* tail_log(std::size_t block) const { return alpha_scale(block) + 2 * width_; }
  const double* tail_scale(std::size_t block) const { return alpha_scale(block) + 3 * width_; }
  const double* alpha_log(std::size_t block) const { return logs_.data() + exact_[block]; }
  const double* start_log(std::size_t block) const { return alpha_log(block) + rows_; }
  const double* tail_rows_log(std::size_t block) const { return alpha_log(block) + 2 * rows_; }

  // One value as a logarithm, either way.
  double alpha_value(std::size_t block, std::size_t slot, std::size_t c) const {
    return exact(block) ? alpha_log(block)[slot * width_ + c]
                        : log_value(alpha(block)[slot * width_ + c], alpha_scale(block)[c]);
  }
  double start_value(std::size_t block, std::size_t slot, std::size_t c) const {
    return exact(block) ? start_log(block)[slot * width_ + c]
                        : log_value(start(block)[slot * width_ + c], start_scale(block)[c]);
  }

 private:
  static double log_value(Real number, double scale) {
    return number > Real(0) ? std::log(static_cast<double>(number)) + scale : kNegativeInfinity;
  }

  std::size_t width_, rows_;
  std::size_t arrays_ = 2;
  AlignedArray<Real> numbers_;   // per block: alpha (16, padded), start (16, padded), tail when kept
  AlignedArray<double> scales_;  // per block: alpha, start, logarithm of the tail, tail (padded)
  std::vector<double> logs_;     // per exact block: the same
  std::vector<double> bases_;
  std::vector<std::ptrdiff_t> exact_;  // offset into logs_, or -1
};

}  // namespace HWY_NAMESPACE
}  // namespace semicrf::cpu
HWY_AFTER_NAMESPACE();

#endif
