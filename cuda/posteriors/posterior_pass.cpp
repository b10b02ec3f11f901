#include "cuda/posteriors/posterior_pass.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "cuda/device/device_buffer.h"

namespace semicrf::cuda {

namespace {

constexpr std::size_t kSliceBytes = std::size_t{4} << 20;

// Copies rows [first, first + count) of all sequences to where those of each go; null: nowhere.
template <class Real>
void copy_rows(const SequenceLayout& layout, std::span<double* const> to, std::size_t columns,
               std::int64_t first, std::int64_t count, const Real* rows) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const PlacedSequence& sequence = layout.sequences[i];
    const std::int64_t begin = std::max(first, sequence.first_row);
    const std::int64_t end = std::min(first + count, sequence.first_row + sequence.range.size());
    if (begin >= end || to[i] == nullptr) continue;
    std::copy_n(rows + wide(begin - first) * columns, wide(end - begin) * columns,
                to[i] + wide(begin - sequence.first_row) * columns);
  }
}

}  // namespace

template <class Real>
void PosteriorRows<Real>::download_array(const DeviceBuffer<Real>& from, std::size_t columns,
                                         const SequenceLayout& layout, std::span<double* const> to,
                                         cudaStream_t stream) {
  const std::int64_t rows = layout.rows();
  const std::int64_t most =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kSliceBytes / (columns * sizeof(Real))));
  const auto fetch = [&](std::int64_t first) {
    const std::size_t turn = wide(first / most % 2);
    const std::int64_t count = std::min(most, rows - first);
    host_[turn].reserve(wide(count) * columns);
    from.download(host_[turn].get(), wide(first) * columns, wide(count) * columns, stream);
    copied_[turn].record(stream);
  };
  fetch(0);
  for (std::int64_t first = 0; first < rows; first += most) {
    if (first + most < rows) fetch(first + most);
    const std::size_t turn = wide(first / most % 2);
    copied_[turn].wait();
    copy_rows(layout, to, columns, first, std::min(most, rows - first), host_[turn].get());
  }
}

template <class Real>
void PosteriorRows<Real>::copy_array(const DeviceBuffer<Real>& from, std::size_t columns,
                                     const SequenceLayout& layout, std::span<const PosteriorArrays> out,
                                     void* DevicePosteriors::*array, cudaStream_t stream) {
  std::vector<DeviceCopy> copies;
  for (std::size_t i = 0; i < out.size(); ++i) {
    void* const to = out[i].on_device != nullptr ? out[i].on_device->*array : nullptr;
    if (to == nullptr) continue;
    const PlacedSequence& sequence = layout.sequences[i];
    copies.push_back({static_cast<unsigned char*>(to),
                      reinterpret_cast<const unsigned char*>(from.get() + wide(sequence.first_row) * columns),
                      wide(sequence.range.size()) * columns * sizeof(Real)});
  }
  copy_within_device(copies, stream);
}

template <class Real>
void PosteriorRows<Real>::download(const SequenceLayout& layout, std::size_t num_labels,
                                   std::span<const PosteriorArrays> out, cudaStream_t stream) {
  const auto download_wanted = [&](const DeviceBuffer<Real>& from, std::size_t columns,
                                   double* PosteriorArrays::*array, void* DevicePosteriors::*device_array) {
    copy_array(from, columns, layout, out, device_array, stream);
    std::vector<double*> to;
    bool wanted = false;
    for (const PosteriorArrays& arrays : out) {
      to.push_back(arrays.*array);
      wanted = wanted || arrays.*array != nullptr;
    }
    if (wanted) download_array(from, columns, layout, to, stream);
  };
  download_wanted(boundary, 1, &PosteriorArrays::boundary, &DevicePosteriors::boundary);
  download_wanted(labels, num_labels, &PosteriorArrays::labels, &DevicePosteriors::labels);
  download_wanted(starts, num_labels, &PosteriorArrays::starts, &DevicePosteriors::starts);
  download_wanted(ends, num_labels, &PosteriorArrays::ends, &DevicePosteriors::ends);
}

template struct PosteriorRows<float>;
template struct PosteriorRows<double>;

namespace {

std::size_t pieces_of(const SequenceLayout& layout) {
  return wide(ceil_div<std::int64_t>(layout.longest_mark(), kCombineBlocks * kBlock));
}

}  // namespace

bool PosteriorWork::wants(double* PosteriorArrays::*array, void* DevicePosteriors::*device_array) const {
  return std::any_of(out.begin(), out.end(), [&](const PosteriorArrays& arrays) {
    return arrays.*array != nullptr ||
           (arrays.on_device != nullptr && arrays.on_device->*device_array != nullptr);
  });
}

template <class Real>
auto PosteriorPass<Real>::backward() -> Sweep& {
  if (!backward_) backward_ = std::make_unique<Sweep>(context_, Direction::kBackward);
  return *backward_;
}

template <class Real>
void PosteriorPass<Real>::begin_sweeps(const PosteriorWork& work, const BoundaryState* left,
                                       const BoundaryState* right) {
  const cudaStream_t stream = context_.stream.get();
  const ChainModel& model = context_.model;
  const SequenceLayout& layout = work.input.layout;
  const bool counts = !work.counts.empty();
  MessageBuffers<Real>& forward_messages = forward_.messages();
  // Blocks that the ends of sequences cut are exact.
  const std::size_t exact = layout.sequences.size() + message_blocks(layout.tokens.size()) / 16;
  forward_messages.reserve(layout.tokens, {model.num_labels, counts && model.has_tail(), counts}, exact);
  backward_messages_.reserve(layout.tokens, {model.num_labels, false, false}, exact);
  Sweep& forward = forward_.sweep();
  anchors_.prepare(forward.chain().host(), stream);
  if (counts) {
    for (ExpectedCounts* const own : work.counts) own->shape_for(model);
    if (!counts_) counts_ = std::make_unique<CountsPass<Real>>(forward.chain(), model, stream);
  }
  Sweep& back = backward();
  scores_ready_.record(stream);
  scores_ready_.make_wait(context_.backward_stream.get());
  const SequenceView* const sequences = work.input.scores->on_device();
  forward.begin(layout, sequences, left, &forward_messages);
  back.begin(layout, sequences, right, &backward_messages_);
  backward_done_.record(context_.backward_stream.get());
  backward_done_.make_wait(stream);
}

template <class Real>
void PosteriorPass<Real>::finish_sweeps() {
  forward_.sweep().finish();
  backward().finish();
}

// log Z of whole sequences, and the counts that cut edges add; several sequences side by side, in their
// order.
template <class Real>
void PosteriorPass<Real>::look_at_edges(const PosteriorWork& work) {
  const std::vector<PlacedSequence>& sequences = work.input.layout.sequences;
  const bool counting = !work.counts.empty() && context_.cut_sums;
  log_partitions_.assign(sequences.size(), kNegativeInfinity);
  std::vector<BoundaryState> ends, begins;
  std::vector<std::int64_t> last_marks(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    ends.push_back(forward_.sweep().state_at_end(i));
    if (counting) begins.push_back(backward().state_at_end(i));
  }
  for (const AnchorTask& task : anchors_.tasks()) last_marks[wide(task.sequence)] = task.begin;
  std::vector<ExpectedCounts> counts(counting ? sequences.size() : 0);
  parallel_for(context_.cut_sums ? context_.threads : 1, sequences.size(), [&](std::size_t i, int) {
    log_partitions_[i] = context_.log_partition(ends[i]);
    if (!counting) return;
    counts[i].shape_for(context_.model);
    context_.cut_sums->add_counts(
        {sequences[i].length, log_partitions_[i], begins[i], ends[i], last_marks[i]}, counts[i]);
  });
  for (std::size_t i = 0; i < counts.size(); ++i) work.counts[i]->add(counts[i]);
}

// No head scores what a cut hides.
template <class Real>
void PosteriorPass<Real>::hide_cut_edges(const PosteriorWork& work) {
  const CutEdges cut = context_.model.cut;
  const std::size_t labels = wide(context_.model.num_labels);
  const auto hide = [&](DeviceBuffer<Real>& rows, std::int64_t row) {
    SEMICRF_CUDA_CHECK(
        cudaMemsetAsync(rows.get() + wide(row) * labels, 0, labels * sizeof(Real), context_.stream.get()));
  };
  for (const PlacedSequence& sequence : work.input.layout.sequences) {
    if (cut.left && work.wants_starts()) hide(rows_.starts, sequence.first_row);
    if (cut.right && work.wants_ends()) hide(rows_.ends, sequence.first_row + sequence.length - 1);
  }
}

template <class Real>
void PosteriorPass<Real>::find_anchors(const PosteriorWork& work) {
  anchors_.find(work.input.layout, forward_.sweep(), backward(), context_.stream.get());
}

template <class Real>
void PosteriorPass<Real>::combine(const PosteriorWork& work) {
  const cudaStream_t stream = context_.stream.get();
  const SequenceLayout& layout = work.input.layout;
  const std::size_t labels = wide(context_.model.num_labels);
  const std::size_t blocks = forward_.messages().blocks();
  const std::size_t tasks = anchors_.tasks().size();
  const std::size_t pieces = pieces_of(layout);
  CombineParameters<Real> p{};
  p.forward = forward_.messages().view();
  p.backward = backward_messages_.view();
  const AnchorParameters& anchors = anchors_.on_device();
  p.tasks = anchors.tasks;
  p.crossing = anchors.crossing;
  p.z = anchors.z;
  p.labels = context_.model.num_labels;
  p.num_tasks = static_cast<int>(tasks);
  if (!work.counts.empty()) {
    norm_log_.reserve(blocks);
    p.norm_log = norm_log_.get();
  }
  p.pieces = static_cast<int>(pieces);
  if (pieces > 1) piece_sums_.reserve(tasks * pieces * labels);
  p.piece_sums = piece_sums_.get();
  sums_.reserve(tasks * pieces * 4);
  sums_.clear(tasks * pieces * 4, stream);
  p.sums = sums_.get();
  const auto room = [&](bool needed, DeviceBuffer<Real>& buffer, std::size_t columns) -> Real* {
    if (!needed) return nullptr;
    const std::size_t count = blocks * kBlock * columns;
    buffer.reserve(count);
    // Rows between the sequences of a batch are copied to the host with the others.
    if (!layout.alone()) buffer.clear(count, stream);
    return buffer.get();
  };
  const HeadRequest& heads = work.heads;
  p.boundary = room(work.wants_boundary(), rows_.boundary, 1);
  p.label_rows = room(work.wants_labels() || !heads.targets.empty(), rows_.labels, labels);
  p.starts = room(work.wants_starts(), rows_.starts, labels);
  p.ends = room(work.wants_ends(), rows_.ends, labels);
  combine_messages(p, stream);
  hide_cut_edges(work);
  host_sums_.reserve(tasks * pieces * 4);
  sums_.download(host_sums_.get(), 0, tasks * pieces * 4, stream);
  anchors_.download_fallbacks(stream);
}

template <class Real>
void PosteriorPass<Real>::count(const PosteriorWork& work) {
  if (work.counts.empty()) return;
  const std::vector<AnchorTask>& tasks = anchors_.tasks();
  const AnchorParameters& anchors = anchors_.on_device();
  CountsWork<Real> counts;
  CountsParameters<Real>& p = counts.parameters;
  p.forward = forward_.messages().view();
  p.backward = backward_messages_.view();
  p.forward_states = forward_.sweep().states();
  p.backward_states = backward().states();
  p.sequences = work.input.scores->on_device();
  p.tasks = anchors.tasks;
  p.z = anchors.z;
  p.norm_log = norm_log_.get();
  counts.num_tasks = tasks.size();
  counts.rows = static_cast<std::int64_t>(forward_.messages().blocks()) * kBlock;
  counts.mark = work.input.layout.longest_mark();
  counts.subtract_position_max = work.input.scores->view().subtract_position_max != 0;
  // Windows and sequences begin with a chunk.
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::size_t sequence = wide(tasks[i].sequence);
    const PlacedSequence& placed = work.input.layout.sequences[sequence];
    if ((tasks[i].begin - placed.range.begin) % placed.cut.chunk != 0) continue;
    if (counts.sums.empty() || counts.sums.back() != work.counts[sequence]) {
      counts.sums.push_back(work.counts[sequence]);
      counts.sum_begins.push_back(static_cast<std::int64_t>(counts.chunk_begins.size()));
    }
    counts.chunk_begins.push_back(static_cast<std::int64_t>(i));
  }
  counts.sum_begins.push_back(static_cast<std::int64_t>(counts.chunk_begins.size()));
  counts.chunk_begins.push_back(static_cast<std::int64_t>(tasks.size()));
  counts_->begin(counts);
}

template <class Real>
void PosteriorPass<Real>::sum_heads(const PosteriorWork& work) {
  if (work.heads.targets.empty()) return;
  head_sums_.begin(work.heads, work.input.layout, {rows_.labels.get(), rows_.starts.get(), rows_.ends.get()},
                   context_.model.num_labels, context_.stream.get());
}

template <class Real>
void PosteriorPass<Real>::use_messages(const PosteriorWork& work) {
  find_anchors(work);
  combine(work);
  count(work);
  sum_heads(work);
}

template <class Real>
DeviceContext::Reports PosteriorPass<Real>::run(const PosteriorWork& work, const BoundaryState* left,
                                                const BoundaryState* right) {
  begin_sweeps(work, left, right);
  const bool used_ahead = !look_first_;
  if (used_ahead) use_messages(work);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(context_.stream.get()));
  look_first_ = !(forward_.sweep().settled() && backward().settled());
  finish_sweeps();
  if (!used_ahead || look_first_) {
    use_messages(work);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(context_.stream.get()));
  }
  if (!work.counts.empty()) counts_->write_sums();
  if (!work.heads.targets.empty()) head_sums_.write_to_targets(work.heads, context_.model.num_labels);
  return reports(work);
}

// Reports of the runs of both directions and of the intervals, by chunk of the grid.
template <class Real>
DeviceContext::Reports PosteriorPass<Real>::reports(const PosteriorWork& work) {
  const SequenceLayout& layout = work.input.layout;
  DeviceContext::Reports reports =
      context_.reports_of(layout, forward_.sweep().outcomes(), &backward().outcomes());
  const std::size_t pieces = pieces_of(layout);
  const std::vector<AnchorTask>& tasks = anchors_.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::size_t sequence = wide(tasks[i].sequence);
    ChunkReport& chunk = reports[sequence][layout.sequences[sequence].chunk_of(tasks[i].begin)];
    chunk.fallbacks += anchors_.fallbacks()[i];
    const double* const sums = host_sums_.get() + 4 * pieces * i;
    for (const double* of = sums; of < sums + 4 * pieces; of += 4) {
      if (!std::all_of(of, of + 4, [](double x) { return std::isfinite(x); }))
        throw std::logic_error("posteriors of positions " + std::to_string(tasks[i].begin) + " to " +
                               std::to_string(tasks[i].end) +
                               " of a sequence are not numbers; please report this");
      chunk.label_entropy += of[0];
      chunk.boundary_mass += of[1];
      chunk.boundary_plogp += of[2];
      if (!(of[3] <= chunk.max_normalization_error)) chunk.max_normalization_error = of[3];
    }
  }
  return reports;
}

template <class Real>
void PosteriorPass<Real>::download_rows(const PosteriorWork& work) {
  rows_.download(work.input.layout, wide(context_.model.num_labels), work.out, context_.stream.get());
}

template <class Real>
PosteriorWindow PosteriorPass<Real>::window(const PosteriorWork& work, const BoundaryState* left,
                                            const BoundaryState* right) {
  DeviceContext::Reports reports = run(work, left, right);
  if (context_.cut_sums && !work.counts.empty()) look_at_edges(work);
  PosteriorWindow result;
  result.chunks = std::move(reports.front());
  result.right_forward = forward_.sweep().state_at_end();
  result.left_backward = backward().state_at_end();
  const PlacedSequence& sequence = work.input.layout.sequences.front();
  result.right_warmed.boundary = sequence.range.end;
  // Where the state on the right is not known, the first run is compared with nothing, and so never repaired.
  if (sequence.range.end != sequence.length && right == nullptr)
    result.right_warmed = backward().state_at_begin();
  download_rows(work);
  return result;
}

template <class Real>
std::vector<SequenceResult> PosteriorPass<Real>::sequences(const PosteriorWork& work) {
  DeviceContext::Reports reports = run(work, nullptr, nullptr);
  look_at_edges(work);
  std::vector<SequenceResult> results;
  results.reserve(reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i)
    results.push_back({log_partitions_[i], std::move(reports[i])});
  download_rows(work);
  return results;
}

template <class Real>
bool PosteriorPass<Real>::join(PosteriorWindow& window, const BoundaryState& left) {
  if (!forward_.sweep().join(left)) return false;
  window.right_forward = forward_.sweep().state_at_end();
  return true;
}

template class PosteriorPass<float>;
template class PosteriorPass<double>;

}  // namespace semicrf::cuda
