#include "cuda/posteriors/anchors.h"

#include <algorithm>
#include <cmath>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kAnchorBlocks = 1056;
constexpr std::size_t kAnchorNumbers = std::size_t(1) << 26;  // doubles

}  // namespace

template <class Real>
void Anchors<Real>::prepare(const ChainTables<Real, LogSemiring>& tables, cudaStream_t stream) {
  if (bias_linear_.size() != 0) return;
  const std::size_t labels = wide(tables.labels);
  const AnchorBias layout(tables.duration);
  std::vector<double> linear(layout.size(tables.labels), 0.0);
  for (std::size_t c = 0; c < labels; ++c) {
    const double largest = tables.largest_bias[c];
    if (largest == kNegativeInfinity) continue;
    for (int k = 0; k < tables.duration; ++k) {
      const double bias = tables.bias[wide(k) * wide(tables.width) + c];
      linear[layout.index(static_cast<int>(c), k)] = std::exp(bias - largest);
    }
  }
  bias_linear_.upload(linear, stream);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// Each interval is done from its right end.
template <class Real>
void Anchors<Real>::list_tasks(const SequenceLayout& layout, const Sweep& forward_sweep,
                               const Sweep& backward_sweep) {
  const std::vector<RunOutcome>& forward = forward_sweep.outcomes();
  const std::vector<RunOutcome>& backward = backward_sweep.outcomes();
  tasks_.clear();
  std::size_t first = 0, last = 0;  // runs of the sequence
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (i == last) {
      first = i;
      while (last < forward.size() && forward[last].sequence == forward[first].sequence) ++last;
    }
    const std::size_t opposite = first + (last - 1 - i);
    const PositionRange run = forward[i].range;
    const PlacedSequence& sequence = layout.sequences[wide(forward[i].sequence)];
    const std::int64_t step = sequence.cut.mark;
    const std::int64_t last_mark = ceil_div(run.size(), step);
    for (std::int64_t begin = run.begin; begin < run.end; begin += step) {
      AnchorTask task{};
      task.begin = begin;
      task.end = std::min(begin + step, run.end);
      task.first_row = sequence.first_row + (begin - sequence.range.begin);
      task.sequence = forward[i].sequence;
      task.forward_run = static_cast<int>(i);
      task.backward_run = static_cast<int>(opposite);
      task.forward_state = forward[i].first_state + static_cast<int>((begin - run.begin) / step) + 1;
      const std::int64_t mark = ceil_div(task.end - run.begin, step);
      task.backward_state = backward[opposite].first_state + static_cast<int>(last_mark - mark);
      task.at_sequence_end = task.end == sequence.length ? 1 : 0;
      task.crossed = 1 - task.at_sequence_end;
      if (task.at_sequence_end != 0 && forward_sweep.chain().host().cut_end != 0) {
        task.crossed = 1;
        task.backward_state = backward_sweep.slot_at_cut();
      }
      tasks_.push_back(task);
    }
  }
}

template <class Real>
void Anchors<Real>::find(const SequenceLayout& layout, const Sweep& forward, const Sweep& backward,
                         cudaStream_t stream) {
  list_tasks(layout, forward, backward);
  const std::size_t count = tasks_.size();
  const TablesView<Real> tables = forward.chain().view();
  const std::size_t workspace = anchor_workspace(tables.duration);
  const std::size_t most =
      workspace == 0 ? kAnchorBlocks : std::max<std::size_t>(1, kAnchorNumbers / workspace);
  const int blocks = static_cast<int>(std::min({count, kAnchorBlocks, most}));
  host_tasks_.reserve(count);
  std::copy(tasks_.begin(), tasks_.end(), host_tasks_.get());
  device_tasks_.upload(host_tasks_.get(), count, stream);
  AnchorParameters p{};
  const auto slice = [&](void* memory) {
    Slices slices(memory);
    p.numbers = workspace == 0 ? nullptr : slices.add<double>(wide(blocks) * workspace);
    p.crossing = slices.add<double>(count * wide(tables.labels));
    for (double** const per_task : {&p.z.whole, &p.z.offset, &p.z.log}) *per_task = slices.add<double>(count);
    p.fallbacks = slices.add<int>(count);
    return slices.bytes();
  };
  memory_.reserve(slice(nullptr));
  slice(memory_.get());
  p.forward = forward.states();
  p.backward = backward.states();
  p.forward_reports = forward.reports();
  p.backward_reports = backward.reports();
  p.tasks = device_tasks_.get();
  p.tables = tables;
  p.bias_linear = bias_linear_.get();
  p.bias_rows = AnchorBias(tables.duration).rows;
  p.num_tasks = static_cast<int>(count);
  parameters_ = p;
  find_anchors(p, blocks, stream);
}

template <class Real>
void Anchors<Real>::download_fallbacks(cudaStream_t stream) {
  host_fallbacks_.reserve(tasks_.size());
  SEMICRF_CUDA_CHECK(cudaMemcpyAsync(host_fallbacks_.get(), parameters_.fallbacks,
                                     tasks_.size() * sizeof(int), cudaMemcpyDeviceToHost, stream));
}

template class Anchors<float>;
template class Anchors<double>;

}  // namespace semicrf::cuda
