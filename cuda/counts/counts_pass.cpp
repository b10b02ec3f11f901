#include "cuda/counts/counts_pass.h"

#include <algorithm>
#include <cmath>

#include "core/sizes.h"
#include "cuda/engine/device_needs.h"

namespace semicrf::cuda {

template <class Real>
CountsPass<Real>::CountsPass(const DeviceChain<Real, LogSemiring>& forward_chain, const ChainModel& model,
                             cudaStream_t stream)
    : chain_(forward_chain),
      model_(model),
      stream_(stream),
      labels_(wide(model.num_labels)),
      groups_(ceil_div(wide(model.max_duration), wide(kBlock))),
      entries_(groups_ * kBlock * labels_ + labels_ * labels_ + labels_) {
  build_weights();
}

// Per group of 16 durations and label a power of two below the largest bias, and what every duration is over
// it.
template <class Real>
void CountsPass<Real>::build_weights() {
  const auto& host = chain_.host();
  std::vector<int> power(groups_ * labels_, kNoPower);
  std::vector<double> weight(groups_ * kBlock * labels_, 0.0);
  for (std::size_t m = 0; m < groups_; ++m) {
    const std::size_t first = m * kBlock;
    const std::size_t last = std::min(first + kBlock, wide(host.duration));
    for (std::size_t c = 0; c < labels_; ++c) {
      const auto bias = [&](std::size_t k) { return host.bias[k * wide(host.width) + c]; };
      double most = kNone;
      for (std::size_t k = first; k < last; ++k) most = std::max(most, bias(k));
      if (most == kNone) continue;
      const int n = static_cast<int>(std::floor(std::clamp(most / kLog2, -1e8, 1e8)));
      power[m * labels_ + c] = n;
      for (std::size_t k = first; k < last; ++k) weight[k * labels_ + c] = std::exp(bias(k) - n * kLog2);
    }
  }
  bias_power_.upload(power, stream_);
  weight_.upload(weight, stream_);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real>
BlockNumbers<Real> CountsPass<Real>::numbers_of(int which, std::size_t tasks, int blocks) {
  const std::size_t all = tasks * wide(blocks) * labels_;
  numbers_[which].reserve(all * kBlock);
  scales_[which].reserve(all);
  return {numbers_[which].get(), scales_[which].get(), blocks};
}

template <class Real>
CountsParameters<Real> CountsPass<Real>::parameters(const CountsWork<Real>& work, std::size_t batch) {
  CountsParameters<Real> p = work.parameters;
  p.tables = chain_.view();
  p.bias_power = bias_power_.get();
  p.weight = weight_.get();
  p.entries = static_cast<std::int64_t>(entries_);
  p.groups = static_cast<int>(groups_);
  const auto blocks = static_cast<int>(ceil_div<std::int64_t>(work.mark, kBlock));
  const int at_marks = (p.tables.duration - 1 + kBlock - 1) / kBlock;
  p.pieces = ceil_div(blocks, kPieceBlocks);
  p.starts = numbers_of(0, batch, blocks);
  p.ends = numbers_of(1, batch, blocks);
  p.before = numbers_of(2, batch, at_marks);
  p.after = numbers_of(3, batch, at_marks);
  within_.reserve(batch * wide(p.pieces) * kBlock * labels_);
  if (p.tables.tail != 0) tails_.reserve(batch * wide(p.pieces) * labels_);
  parts_.reserve(batch * entries_);
  p.within = within_.get();
  p.tails = tails_.get();
  p.parts = parts_.get();
  return p;
}

template <class Real>
void CountsPass<Real>::begin(const CountsWork<Real>& work) {
  const std::size_t blocks = wide(ceil_div<std::int64_t>(work.mark, kBlock));
  const std::size_t at_marks = ceil_div(wide(model_.max_duration) - 1, wide(kBlock));
  const std::size_t numbers =
      2 * (blocks + at_marks) * labels_ * (kBlock * sizeof(Real) + sizeof(BlockScale));
  const std::size_t of_piece = kBlock * sizeof(double) + sizeof(TailPiece);
  const std::size_t rows = entries_ * sizeof(double) + (blocks / kPieceBlocks + 1) * labels_ * of_piece;
  const std::size_t batch = std::clamp<std::size_t>(kMostCounts / (numbers + rows), 1, work.num_tasks);
  CountsParameters<Real> p = parameters(work, batch);
  p.level = work.parameters.forward.shift;
  if (work.subtract_position_max) {
    level_.reserve(wide(work.rows));
    p.num_tasks = static_cast<int>(work.num_tasks);
    find_levels(p, work.mark, level_.get(), stream_);
    p.level = level_.get();
  }
  const std::vector<std::int64_t>& begins = work.chunk_begins;
  const std::size_t chunks = begins.size() - 1;
  send_begins(work);
  chunks_.reserve(chunks * entries_);
  chunks_.clear(chunks * entries_, stream_);
  sums_ = work.sums;
  send_sums();
  for (std::size_t first = 0; first < work.num_tasks; first += batch) {
    p.tasks = work.parameters.tasks + first;
    const LocalLogZ& z = work.parameters.z;
    p.z = {z.whole + first, z.offset + first, z.log + first};
    p.num_tasks = static_cast<int>(std::min(batch, work.num_tasks - first));
    prepare_blocks(p, stream_);
    count_durations(p, stream_);
    count_transitions(p, stream_);
    count_tails(p, stream_);
    const auto chunk_of = [&](std::int64_t task) {
      return std::upper_bound(begins.begin(), begins.end(), task) - begins.begin() - 1;
    };
    const auto begin = static_cast<std::int64_t>(first);
    const std::int64_t first_chunk = chunk_of(begin);
    const std::int64_t last_chunk = chunk_of(begin + p.num_tasks - 1);
    add_rows({begins_.get(), begin, p.num_tasks, first_chunk, last_chunk - first_chunk + 1}, parts_.get(),
             p.entries, chunks_.get(), stream_);
  }
  add_rows({begins_.get() + begins.size(), 0, static_cast<std::int64_t>(chunks), 0,
            static_cast<std::int64_t>(sums_.size())},
           chunks_.get(), p.entries, totals_.get(), stream_);
  totals_.download(host_totals_.get(), 0, sums_.size() * entries_, stream_);
}

// Where the rows of every chunk begin; and then the chunks of every sum.
template <class Real>
void CountsPass<Real>::send_begins(const CountsWork<Real>& work) {
  const std::size_t count = work.chunk_begins.size() + work.sum_begins.size();
  host_begins_.reserve(count);
  std::copy(work.sum_begins.begin(), work.sum_begins.end(),
            std::copy(work.chunk_begins.begin(), work.chunk_begins.end(), host_begins_.get()));
  begins_.upload(host_begins_.get(), count, stream_);
}

// What is there of the sums. They lie as the parts do: durations of whole groups, transitions, tails.
template <class Real>
void CountsPass<Real>::send_sums() {
  const std::size_t count = sums_.size() * entries_;
  host_totals_.reserve(count);
  double* totals = host_totals_.get();
  std::fill_n(totals, count, 0.0);
  for (const ExpectedCounts* const counts : sums_) {
    std::copy(counts->duration.begin(), counts->duration.end(), totals);
    double* const transition = totals + groups_ * kBlock * labels_;
    std::copy(counts->transition.begin(), counts->transition.end(), transition);
    std::copy(counts->tail.begin(), counts->tail.end(), transition + labels_ * labels_);
    totals += entries_;
  }
  totals_.upload(host_totals_.get(), count, stream_);
}
template <class Real>
void CountsPass<Real>::write_sums() const {
  const double* totals = host_totals_.get();
  for (ExpectedCounts* const counts : sums_) {
    std::copy_n(totals, counts->duration.size(), counts->duration.begin());
    const double* const transition = totals + groups_ * kBlock * labels_;
    std::copy_n(transition, counts->transition.size(), counts->transition.begin());
    std::copy_n(transition + labels_ * labels_, counts->tail.size(), counts->tail.begin());
    totals += entries_;
  }
}

template class CountsPass<float>;
template class CountsPass<double>;

}  // namespace semicrf::cuda
