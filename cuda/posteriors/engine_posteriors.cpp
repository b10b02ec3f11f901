// Posteriors: both directions beside each other, what meets at marks, and the two combined.
#include <algorithm>
#include <cmath>

#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kAnchorBlocks = 1056;
constexpr std::size_t kAnchorNumbers = std::size_t(1) << 26;  // doubles

std::size_t pieces_of(std::int64_t mark) {
  const std::int64_t piece = std::int64_t{kCombineBlocks} * kBlock;
  return wide((mark + piece - 1) / piece);
}

}  // namespace

// Intervals between marks, sequence by sequence and left to right: each is done from its right end.
template <class Real>
std::vector<AnchorTask> CudaEngine<Real>::anchor_tasks(const Work& work) const {
  const std::vector<RunOutcome>& forward = log_forward_->outcomes();
  const std::vector<RunOutcome>& backward = log_backward_->outcomes();
  std::vector<AnchorTask> tasks;
  std::size_t first = 0, last = 0;  // runs of the sequence
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (i == last) {
      first = i;
      while (last < forward.size() && forward[last].sequence == forward[first].sequence) ++last;
    }
    const std::size_t opposite = first + (last - 1 - i);
    const PositionRange run = forward[i].range;
    const PlacedSequence& sequence = work.plan.layout.sequences[wide(forward[i].sequence)];
    const std::int64_t step = sequence.mark;
    const std::int64_t last_mark = (run.end + step - 1) / step;
    for (std::int64_t begin = run.begin; begin < run.end; begin += step) {
      AnchorTask task{};
      task.begin = begin;
      task.end = std::min(begin + step, run.end);
      task.first_row = sequence.first_row + (begin - sequence.range.begin);
      task.sequence = forward[i].sequence;
      task.forward_run = forward[i].report_slot;
      task.backward_run = backward[opposite].report_slot;
      task.forward_state = forward[i].first_state + static_cast<int>((begin - run.begin) / step) + 1;
      const std::int64_t mark = (task.end + step - 1) / step;
      task.backward_state = backward[opposite].first_state + static_cast<int>(last_mark - mark);
      task.at_sequence_end = task.end == sequence.length ? 1 : 0;
      tasks.push_back(task);
    }
  }
  return tasks;
}

// Tables that what follows the sweeps reads.
template <class Real>
void CudaEngine<Real>::prepare_tables(bool counts) {
  if (bias_linear_.size() == 0) {
    const auto& host = log_forward().chain().host();
    const std::size_t labels = wide(host.labels);
    const std::size_t longest = wide(host.duration);
    std::vector<double> largest(labels, kNegativeInfinity);
    std::vector<double> linear(labels * longest, 0.0);
    for (std::size_t c = 0; c < labels; ++c) {
      const auto bias = [&](std::size_t k) { return host.bias[k * wide(host.width) + c]; };
      for (std::size_t k = 0; k < longest; ++k) largest[c] = std::max(largest[c], bias(k));
      if (largest[c] == kNegativeInfinity) continue;
      for (std::size_t k = 0; k < longest; ++k) linear[c * longest + k] = std::exp(bias(k) - largest[c]);
    }
    bias_linear_.upload(linear, stream_);
    largest_bias_.upload(largest, stream_);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  if (counts && !counts_pass_)
    counts_pass_ = std::make_unique<CountsPass<Real>>(log_forward().chain(), model_, stream_);
}

template <class Real>
void CudaEngine<Real>::find_all_anchors(const std::vector<AnchorTask>& tasks) {
  const auto& chain = log_forward().chain();
  const auto& host = chain.host();
  const std::size_t labels = wide(host.labels);
  const std::size_t workspace = anchor_workspace(host.duration);
  const std::size_t most =
      workspace == 0 ? kAnchorBlocks : std::max<std::size_t>(1, kAnchorNumbers / workspace);
  const int blocks = static_cast<int>(std::min({tasks.size(), kAnchorBlocks, most}));
  host_tasks_.reserve(tasks.size());
  std::copy(tasks.begin(), tasks.end(), host_tasks_.get());
  anchor_buffer_.upload(host_tasks_.get(), tasks.size(), stream_);
  anchor_numbers_.reserve(wide(blocks) * workspace);
  crossing_.reserve(tasks.size() * labels);
  z_whole_.reserve(tasks.size());
  z_offset_.reserve(tasks.size());
  z_log_.reserve(tasks.size());
  anchor_fallbacks_.reserve(tasks.size());
  AnchorParameters p{};
  p.forward = log_forward().states();
  p.backward = log_backward().states();
  p.forward_reports = log_forward().reports();
  p.backward_reports = log_backward().reports();
  p.tasks = anchor_buffer_.get();
  const TablesView<Real> tables = chain.view();
  p.bias = tables.bias;
  p.transition_log = tables.transition_log;
  p.log_tail = tables.log_tail;
  p.last_bias = tables.last_bias;
  p.bias_linear = bias_linear_.get();
  p.largest_bias = largest_bias_.get();
  p.numbers = workspace == 0 ? nullptr : anchor_numbers_.get();
  p.crossing = crossing_.get();
  p.z_whole = z_whole_.get();
  p.z_offset = z_offset_.get();
  p.z_log = z_log_.get();
  p.fallbacks = anchor_fallbacks_.get();
  p.labels = host.labels;
  p.width = host.width;
  p.duration = host.duration;
  p.tail = host.tail ? 1 : 0;
  p.num_tasks = static_cast<int>(tasks.size());
  find_anchors(p, blocks, stream_);
}

// What both directions left, made into posteriors and counts. Asynchronous.
template <class Real>
void CudaEngine<Real>::use_messages(const Work& work, const PosteriorArrays& wanted) {
  tasks_ = anchor_tasks(work);
  find_all_anchors(tasks_);
  end_stage("anchors");
  combine_all(tasks_.size(), work, wanted);
  end_stage("combining");
  if (wanted.counts != nullptr) count_all(tasks_, work, *wanted.counts);
  end_stage("counting");
  if (work.heads.targets.empty()) return;
  sum_heads(work);
  end_stage("heads");
}

template <class Real>
void CudaEngine<Real>::combine_all(std::size_t tasks, const Work& work, const PosteriorArrays& wanted) {
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t rows = forward_store_.blocks() * kBlock;
  CombineParameters<Real> p{};
  p.forward = forward_store_.view();
  p.backward = backward_store_.view();
  p.tasks = anchor_buffer_.get();
  p.crossing = crossing_.get();
  p.z_whole = z_whole_.get();
  p.z_offset = z_offset_.get();
  p.labels = model_.num_labels;
  p.num_tasks = static_cast<int>(tasks);
  if (wanted.counts != nullptr) {
    norm_log_.reserve(forward_store_.blocks());
    p.norm_log = norm_log_.get();
  }
  const std::size_t pieces = pieces_of(work.plan.layout.longest_mark());
  p.pieces = static_cast<int>(pieces);
  if (pieces > 1) piece_sums_.reserve(tasks * pieces * labels);
  p.piece_sums = piece_sums_.get();
  sums_.reserve(tasks * pieces * 4);
  sums_.clear(tasks * pieces * 4, stream_);
  p.sums = sums_.get();
  const auto room = [&](bool needed, DeviceBuffer<Real>& buffer, std::size_t count) -> Real* {
    if (!needed) return nullptr;
    buffer.reserve(count);
    // Rows between the sequences of a batch come down with the others.
    if (!work.plan.layout.alone()) buffer.clear(count, stream_);
    return buffer.get();
  };
  const HeadRequest& heads = work.heads;
  p.boundary = room(wanted.boundary != nullptr, boundary_, rows);
  p.label_rows = room(wanted.labels != nullptr || !heads.targets.empty(), labels_, rows * labels);
  p.starts = room(wanted.starts != nullptr || heads.wants(&ExpectedFeatures::start), starts_, rows * labels);
  p.ends = room(wanted.ends != nullptr || heads.wants(&ExpectedFeatures::finish), ends_, rows * labels);
  combine_messages(p, stream_);
  host_sums_.reserve(tasks * pieces * 4);
  host_fallbacks_.reserve(tasks);
  sums_.download(host_sums_.get(), 0, tasks * pieces * 4, stream_);
  anchor_fallbacks_.download(host_fallbacks_.get(), 0, tasks, stream_);
}

// Reports of the runs of both directions and of the intervals, by chunk of the grid.
template <class Real>
void CudaEngine<Real>::add_reports(const Work& work, Sweeps& sweeps) const {
  for (const PlacedSequence& sequence : work.plan.layout.sequences)
    sweeps.chunks.emplace_back(chunk_of(sequence.range.end - 1, sequence.range) + 1);
  const auto chunk_at = [&](int sequence, std::int64_t position) -> ChunkReport& {
    const PositionRange range = work.plan.layout.sequences[wide(sequence)].range;
    return sweeps.chunks[wide(sequence)][chunk_of(position, range)];
  };
  for (const auto* outcomes : {&sweeps.forward, &sweeps.backward}) {
    for (const RunOutcome& outcome : *outcomes) {
      ChunkReport& chunk = chunk_at(outcome.sequence, outcome.range.begin);
      chunk.fallbacks += outcome.report.fallbacks;
      chunk.repaired = chunk.repaired || outcome.repaired;
    }
  }
  const std::size_t pieces = pieces_of(work.plan.layout.longest_mark());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    ChunkReport& chunk = chunk_at(tasks_[i].sequence, tasks_[i].begin);
    chunk.fallbacks += host_fallbacks_.get()[i];
    const double* const sums = host_sums_.get() + 4 * pieces * i;
    for (const double* of = sums; of < sums + 4 * pieces; of += 4) {
      chunk.label_entropy += of[0];
      chunk.boundary_mass += of[1];
      chunk.boundary_plogp += of[2];
      if (!(of[3] <= chunk.max_normalization_error)) chunk.max_normalization_error = of[3];
    }
  }
}

// Everything but the rows, which stay on the device. What follows the sweeps is given to the device before
// the host has looked at them, and again when they were not right: then the next pass looks first.
template <class Real>
typename CudaEngine<Real>::Sweeps CudaEngine<Real>::sweep(const Work& work, const BoundaryState* left,
                                                          const BoundaryState* right,
                                                          const PosteriorArrays& wanted) {
  end_stage("");
  if (wanted.counts != nullptr) wanted.counts->shape_for(model_);
  forward_store_.reserve(work.plan.layout.tokens, model_.num_labels,
                         wanted.counts != nullptr && model_.has_tail(), wanted.counts != nullptr);
  backward_store_.reserve(work.plan.layout.tokens, model_.num_labels, false, false);
  // Blocks that the ends of sequences cut are exact.
  for (StoreBuffers<Real>* store : {&forward_store_, &backward_store_})
    store->reserve_pool(work.plan.layout.sequences.size() + store->blocks() / 16);
  prepare_tables(wanted.counts != nullptr);
  LogPass& ahead = log_forward();
  LogPass& back = log_backward();
  scores_ready_.record(stream_);
  scores_ready_.hold(backward_stream_);
  PassPlan plan = work.plan;
  plan.direction = Direction::kForward;
  ahead.begin(plan, work.sequences, left, &forward_store_);
  plan.direction = Direction::kBackward;
  back.begin(plan, work.sequences, right, &backward_store_);
  backward_done_.record(backward_stream_);
  backward_done_.hold(stream_);
  const bool look_first = cautious_ || stage_seconds_ != nullptr;
  if (!look_first) use_messages(work, wanted);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  cautious_ = !(ahead.settled() && back.settled());
  Sweeps result;
  result.forward = ahead.finish();
  result.backward = back.finish();
  end_stage("sweeps");
  if (look_first || cautious_) {
    use_messages(work, wanted);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  if (wanted.counts != nullptr) counts_pass_->take(*wanted.counts);
  if (!work.heads.targets.empty()) head_sums_.take(work.heads, model_.num_labels);
  add_reports(work, result);
  return result;
}

template <class Real>
PosteriorWindow CudaEngine<Real>::posteriors(const ScoreWindow& scores, PositionRange range,
                                             const BoundaryState* left, const BoundaryState* right,
                                             const PosteriorArrays& out) {
  upload(scores);
  PosteriorWindow result = compute_posteriors(scores, range, left, right, out);
  download_posteriors(SequenceLayout(PlacedSequence{range, scores.length}), {&out, 1});
  return result;
}

template <class Real>
PosteriorWindow CudaEngine<Real>::compute_posteriors(const ScoreWindow& scores, PositionRange range,
                                                     const BoundaryState* left, const BoundaryState* right,
                                                     const PosteriorArrays& out) {
  const Work work{plan_for(scores, range, Direction::kForward, true), window_->on_device(),
                  scores.subtract_position_max, head_request(scores, out.features)};
  Sweeps sweeps = sweep(work, left, right, out);
  PosteriorWindow result;
  result.chunks = std::move(sweeps.chunks.front());
  result.right_forward = final_state(log_forward(), sweeps.forward.back(), range.end);
  result.left_backward = final_state(log_backward(), sweeps.backward.back(), range.begin);
  result.right_warmed.boundary = range.end;
  // A run that was repaired has overwritten nothing but its own marks behind the first; the warmed state is
  // only asked for where the right one was not known.
  if (range.end != scores.length && right == nullptr)
    result.right_warmed = log_backward().download_state(sweeps.backward.front().first_state, range.end);
  return result;
}

template <class Real>
bool CudaEngine<Real>::join(PosteriorWindow& window, const BoundaryState& left) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  if (!log_forward().join(left)) return false;
  window.right_forward =
      final_state(log_forward(), log_forward().outcomes().back(), window.right_forward.boundary);
  return true;
}

template <class Real>
void CudaEngine<Real>::posterior_pass(const ScoreWindow& scores, PositionRange range,
                                      const PosteriorArrays& wanted) {
  compute_posteriors(scores, range, nullptr, nullptr, wanted);
}

template typename CudaEngine<float>::Sweeps CudaEngine<float>::sweep(const Work&, const BoundaryState*,
                                                                     const BoundaryState*,
                                                                     const PosteriorArrays&);
template typename CudaEngine<double>::Sweeps CudaEngine<double>::sweep(const Work&, const BoundaryState*,
                                                                       const BoundaryState*,
                                                                       const PosteriorArrays&);
template PosteriorWindow CudaEngine<float>::posteriors(const ScoreWindow&, PositionRange,
                                                       const BoundaryState*, const BoundaryState*,
                                                       const PosteriorArrays&);
template PosteriorWindow CudaEngine<double>::posteriors(const ScoreWindow&, PositionRange,
                                                        const BoundaryState*, const BoundaryState*,
                                                        const PosteriorArrays&);
template bool CudaEngine<float>::join(PosteriorWindow&, const BoundaryState&);
template bool CudaEngine<double>::join(PosteriorWindow&, const BoundaryState&);
template void CudaEngine<float>::posterior_pass(const ScoreWindow&, PositionRange, const PosteriorArrays&);
template void CudaEngine<double>::posterior_pass(const ScoreWindow&, PositionRange, const PosteriorArrays&);

}  // namespace semicrf::cuda
