// Expected counts of tails: segments longer than K where they end, and the positions by which they exceed K
// (docs/algorithm.md, "Expected counts"). Right to left goes what follows when such a segment covers the
// position left of a boundary: it ends there or goes on. A thread per label and piece of an interval finds
// what the piece does with what reaches its right edge, and what it counts; a warp per label of an interval
// then goes from piece to piece.
#include "cuda/counts/counts_messages.cuh"
#include "cuda/device/launch.h"
#include "cuda/tables/warp_scan.cuh"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;
constexpr int kWarps = 4;

// Tails of label c in the blocks of an interval.
template <class Real>
class TailBlocks {
 public:
  __device__ TailBlocks(const CountsParameters<Real>& p, int index, int c)
      : p_(p),
        interval_(p, index),
        plain_(interval_.plain_blocks()),
        index_(index),
        c_(c),
        log_q_(p.tables.log_tail[c]),
        q_(exp(log_q_)) {}

  __device__ int blocks() const { return interval_.blocks; }
  __device__ __forceinline__ TailPiece piece_of(int block) const {
    TailPiece piece;
    const bool has_numbers = interval_.has_numbers(block);
    if (has_numbers && plain_.has(block) && from_numbers<true, false>(block, &piece)) return piece;
    if (!has_numbers ||
        (!from_other_numbers<false>(block, &piece) && !from_other_numbers<true>(block, &piece)))
      from_logs(block, &piece);
    return piece;
  }

 private:
  // Relative to the block's left edge contents cancel: the stored tails lack them from there on. kPlain: of
  // IntervalMessages' plain_blocks; kLarge: scores of any size. False when numbers leave their range.
  template <bool kPlain, bool kLarge>
  __device__ __forceinline__ bool from_numbers(int block, TailPiece* piece) const {
    constexpr double kMost = 1e80;
    const std::int64_t labels = p_.tables.labels;
    const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock;
    const std::int64_t scale_at = row / kBlock * labels + c_;
    const int count = kPlain ? kBlock : interval_.rows_of(block);
    Real tails[kBlock], ends[kBlock], content[kBlock];
    int power[kBlock], content_power[kBlock];
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot)
      tails[slot] = kPlain || slot < count ? p_.forward.tail.numbers[(row + slot) * labels + c_] : Real(0);
    load_block<kPlain>(p_.backward.gamma, row, count, labels, c_, ends, power);
    if (!content_numbers<kPlain, kLarge>(interval_, row, count, c_, content, content_power)) return false;
    if constexpr (!kPlain) {
      if (!interval_.template times_ends<kLarge>(row, count, c_, ends, power)) return false;
    }
    int most_end = kEmpty;
#pragma unroll
    for (int slot = 0; slot < kBlock; ++slot) {
      ends[slot] *= content[slot];
      power[slot] += content_power[slot];
      if (ends[slot] > Real(0)) most_end = larger(most_end, power[slot] + exponent_of(ends[slot]));
    }
    // `passed`: of one unit at the block's right edge.
    double reach = 0, passed = 1, most = 0, ending = 0, open = 0, factor = 0;
#pragma unroll
    for (int slot = kBlock - 1; slot >= 0; --slot) {
      if (!kPlain && slot >= count) continue;
      const double end = static_cast<double>(ends[slot]) * power_of_two(power[slot] - most_end, double());
      const double tail = static_cast<double>(tails[slot]);
      reach += end;
      ending = fma(tail, end, ending);
      open = fma(tail, reach, open);
      factor = fma(tail, passed, factor);
      most = fmax(most, fmax(reach, tail));
      reach *= q_;
      passed *= q_;
    }
    const double tail_scale = p_.forward.tail.scale[scale_at] + interval_.forward_level(row / kBlock);
    const double end_scale = p_.backward.gamma.scale[scale_at] + interval_.backward_level(row / kBlock) +
                             (is_empty(most_end) ? 0.0 : most_end * kLog2);
    const double whole = is_empty(most_end) ? kNone : tail_scale + end_scale;
    if (!(whole <= 300) || !(most <= kMost) || !(passed >= 1 / kMost)) return false;
    const double by = whole > -690 ? exp(whole) : 0.0;
    const double across = interval_.content_of(block, c_);
    piece->adds = reach > 0 ? log(reach) + end_scale : kNone;
    piece->decay = count * log_q_ + across;
    piece->factor = factor > 0 ? log(factor) + tail_scale + across : kNone;
    piece->ending = ending * by;
    piece->open = open * by;
    return true;
  }
  // Blocks with boundary scores, at an end of the sequence, or with fewer than 16 positions.
  template <bool kLarge>
  __device__ SEMICRF_NOINLINE bool from_other_numbers(int block, TailPiece* piece) const {
    return from_numbers<false, kLarge>(block, piece);
  }

  __device__ SEMICRF_NOINLINE void from_logs(int block, TailPiece* piece) const {
    BlockLogs logs;
    read_logs(p_, index_, block, c_, &logs);
    const std::int64_t at = interval_.first_row / kBlock + block;
    const bool fast = p_.forward.exact[at] == 0;
    double reach = kNone, passed = 0;
    *piece = TailPiece{};
    for (int slot = interval_.rows_of(block) - 1; slot >= 0; --slot) {
      const std::int64_t row = interval_.first_row + static_cast<std::int64_t>(block) * kBlock + slot;
      // The tail's share at the position's right boundary; a fast block's lacks the content since its first.
      double tail = interval_.stored(p_.forward, p_.forward.tail, row, c_) + interval_.forward_level(at);
      if (fast) tail += logs.content[slot];
      reach = log_add(logs.end[slot], reach);
      piece->ending += exp(tail + logs.end[slot]);
      piece->open += exp(tail + reach);
      piece->factor = log_add(piece->factor, tail + passed);
      const double step = interval_.score(row, c_) + log_q_;
      reach += step;
      passed += step;
    }
    piece->adds = reach;
    piece->decay = passed;
  }

  const CountsParameters<Real>& p_;
  const IntervalMessages<Real> interval_;
  const typename IntervalMessages<Real>::PlainBlocks plain_;
  const int index_, c_;
  const double log_q_, q_;
};

// A piece and the one to its left.
__device__ __forceinline__ void put_left(TailPiece& piece, const TailPiece& left) {
  piece.ending += left.ending;
  piece.open += left.open + exp(left.factor + piece.adds);
  piece.factor = log_add(piece.factor, left.factor + piece.decay);
  piece.adds = log_add(left.adds, piece.adds + left.decay);
  piece.decay += left.decay;
}

template <class Real>
__device__ __forceinline__ bool has_tail(const CountsParameters<Real>& p, int index, int c) {
  return p.tables.tail != 0 && p.tables.log_tail[c] != kNone && p.z.log[index] > kNone;
}

// A thread per label and piece of an interval.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    tail_pieces_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t teams = i / p.tables.labels;
  if (teams >= static_cast<std::int64_t>(p.num_tasks) * p.pieces) return;
  const int c = static_cast<int>(i % p.tables.labels);
  const int first = static_cast<int>(teams % p.pieces) * kPieceBlocks;
  const int index = static_cast<int>(teams / p.pieces);
  if (!has_tail(p, index, c)) return;
  const TailBlocks<Real> tails(p, index, c);
  const int last = first + kPieceBlocks < tails.blocks() ? first + kPieceBlocks : tails.blocks();
  TailPiece piece;
  for (int block = last - 1; block >= first; --block) put_left(piece, tails.piece_of(block));
  p.tails[i] = piece;
}

// Ends right of the interval's last boundary, as the stored backward messages are scaled. The warp together.
template <class Real>
__device__ double beyond_mark(const CountsParameters<Real>& p, int index, int c) {
  const IntervalMessages<Real> interval(p, index);
  if (!interval.task.crossed) return kNone;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const double* after = interval.after() + c;
  const double log_q = p.tables.log_tail[c];
  const std::int64_t labels = p.tables.labels;
  double tail = after[(p.tables.duration + 1) * labels];
  if (tail > kNone) tail += p.tables.duration * log_q - p.tables.last_bias[c];
  double most = tail;
  for (int d = 1 + lane; d <= p.tables.duration; d += 32)
    most = fmax(most, after[(d - 1) * labels] + d * log_q);
  most = warp_most(most);
  if (most == kNone) return kNone;
  double sum = lane == 0 ? exp(tail - most) : 0.0;
  for (int d = 1 + lane; d <= p.tables.duration; d += 32)
    sum += exp(after[(d - 1) * labels] + d * log_q - most);
  sum = warp_sum(sum);
  const int state = interval.task.backward_state;
  const std::int64_t block = (interval.first_row + interval.rows - 1) / kBlock;
  const double whole = p.backward_states.whole[state] - p.backward.mass[block];
  return most + log(sum) + p.backward_states.offset[state] + whole;
}

// A warp per label of an interval, a lane per piece: a scan over the lanes finds what reaches each piece from
// the right.
template <class Real>
__global__ void __launch_bounds__(kWarps * 32) tail_kernel(const __grid_constant__ CountsParameters<Real> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int c = static_cast<int>(i % p.tables.labels);
  const int index = static_cast<int>(i / p.tables.labels);
  if (index >= p.num_tasks) return;
  double* const part = p.parts + index * p.entries;
  const std::int64_t transitions = static_cast<std::int64_t>(p.groups) * kBlock * p.tables.labels;
  double* const positions =
      part + transitions + static_cast<std::int64_t>(p.tables.labels) * p.tables.labels + c;
  if (!has_tail(p, index, c)) {
    if (lane == 0) *positions = 0;
    return;
  }
  const int pieces = p.pieces;
  double right = beyond_mark(p, index, c);
  double ending = 0, open = 0;
  for (int last = pieces - 1; last >= 0; last -= 32) {
    const int at = last - lane;
    const TailPiece piece =
        at >= 0 ? p.tails[(static_cast<std::int64_t>(index) * pieces + at) * p.tables.labels + c]
                : TailPiece{};
    double adds = piece.adds, decay = piece.decay;
    scan_decaying(lane, &adds, &decay);
    const double reached = log_add(adds, right + decay);
    const double from_right = __shfl_up_sync(kAllLanes, reached, 1);
    ending += piece.ending;
    open += piece.open + exp(piece.factor + (lane == 0 ? right : from_right));
    right = __shfl_sync(kAllLanes, reached, 31);
  }
  ending = warp_sum(ending);
  open = warp_sum(open);
  if (lane != 0) return;
  part[static_cast<std::int64_t>(p.tables.duration - 1) * p.tables.labels + c] += ending;
  *positions = open;
}

}  // namespace

template <class Real>
void count_tails(const CountsParameters<Real>& parameters, cudaStream_t stream) {
  const std::int64_t lanes = static_cast<std::int64_t>(parameters.num_tasks) * parameters.tables.labels;
  if (parameters.tables.tail != 0)
    SEMICRF_CUDA_CHECK(
        launch(tail_pieces_kernel<Real>, shape_for(lanes * parameters.pieces, kThreads), stream, parameters));
  SEMICRF_CUDA_CHECK(launch(tail_kernel<Real>, shape_for(32 * lanes, 32 * kWarps), stream, parameters));
}

template void count_tails<float>(const CountsParameters<float>&, cudaStream_t);
template void count_tails<double>(const CountsParameters<double>&, cudaStream_t);

}  // namespace semicrf::cuda
