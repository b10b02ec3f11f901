// Posteriors of a window: both directions, what meets at marks, and the two combined.
#include <algorithm>
#include <cmath>

#include "cuda/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }
constexpr std::size_t kAnchorBlocks = 1056;
constexpr std::size_t kAnchorNumbers = std::size_t(1) << 26;  // doubles

}  // namespace

// Intervals between marks, left to right: each is done from its right end.
template <class Real>
std::vector<AnchorTask> CudaEngine<Real>::anchor_tasks(const PassPlan& plan,
                                                       const std::vector<RunOutcome>& forward,
                                                       const std::vector<RunOutcome>& backward,
                                                       std::int64_t length) const {
  std::vector<AnchorTask> tasks;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const std::size_t opposite = backward.size() - 1 - i;
    const PositionRange run = forward[i].range;
    const std::int64_t last_mark = (run.end + plan.mark - 1) / plan.mark;
    for (std::int64_t begin = run.begin; begin < run.end; begin += plan.mark) {
      AnchorTask task{};
      task.begin = begin;
      task.end = std::min(begin + plan.mark, run.end);
      task.forward_run = static_cast<int>(i);
      task.backward_run = static_cast<int>(opposite);
      task.forward_state = forward[i].first_state + static_cast<int>((begin - run.begin) / plan.mark) + 1;
      const std::int64_t mark = (task.end + plan.mark - 1) / plan.mark;
      task.backward_state = backward[opposite].first_state + static_cast<int>(last_mark - mark);
      task.at_sequence_end = task.end == length ? 1 : 0;
      tasks.push_back(task);
    }
  }
  return tasks;
}

template <class Real>
void CudaEngine<Real>::find_all_anchors(const std::vector<AnchorTask>& tasks) {
  const auto& chain = log_forward().chain();
  const auto& host = chain.host();
  const std::size_t labels = wide(host.labels);
  const std::size_t longest = wide(host.duration);
  if (bias_linear_.size() == 0) {
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
  const std::size_t workspace = anchor_workspace(host.duration);
  const std::size_t most =
      workspace == 0 ? kAnchorBlocks : std::max<std::size_t>(1, kAnchorNumbers / workspace);
  const int blocks = static_cast<int>(std::min({tasks.size(), kAnchorBlocks, most}));
  anchor_buffer_.upload(tasks, stream_);
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

template <class Real>
void CudaEngine<Real>::download_rows(const DeviceBuffer<Real>& from, std::size_t count, double* to) const {
  if constexpr (sizeof(Real) == sizeof(double)) {
    from.download(to, 0, count, stream_);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  } else {
    constexpr std::size_t kPart = std::size_t(1) << 22;
    std::vector<Real> part(std::min(kPart, count));
    for (std::size_t first = 0; first < count; first += kPart) {
      const std::size_t n = std::min(kPart, count - first);
      from.download(part.data(), first, n, stream_);
      SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
      std::copy_n(part.begin(), n, to + first);
    }
  }
}

template <class Real>
void CudaEngine<Real>::combine_all(const std::vector<AnchorTask>& tasks, std::int64_t mark,
                                   PositionRange range, const PosteriorArrays& out,
                                   std::vector<ChunkReport>& chunks) {
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
  p.num_tasks = static_cast<int>(tasks.size());
  if (out.counts != nullptr) {
    norm_log_.reserve(forward_store_.blocks());
    p.norm_log = norm_log_.get();
  }
  const std::int64_t piece = kCombineBlocks * kBlock;
  const std::size_t pieces = wide((mark + piece - 1) / piece);
  p.pieces = static_cast<int>(pieces);
  if (pieces > 1) piece_sums_.reserve(tasks.size() * pieces * labels);
  p.piece_sums = piece_sums_.get();
  sums_.reserve(tasks.size() * pieces * 4);
  sums_.clear(tasks.size() * pieces * 4, stream_);
  p.sums = sums_.get();
  const auto wanted = [&](const double* array, DeviceBuffer<Real>& buffer, std::size_t count) -> Real* {
    if (array == nullptr) return nullptr;
    buffer.reserve(count);
    return buffer.get();
  };
  p.boundary = wanted(out.boundary, boundary_, rows);
  p.label_rows = wanted(out.labels, labels_, rows * labels);
  p.starts = wanted(out.starts, starts_, rows * labels);
  p.ends = wanted(out.ends, ends_, rows * labels);
  combine_messages(p, stream_);
  const std::vector<double> sums = sums_.download(tasks.size() * pieces * 4, stream_);
  const std::vector<int> fallbacks = anchor_fallbacks_.download(tasks.size(), stream_);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ChunkReport& chunk = chunks[chunk_of(tasks[i].begin, range)];
    chunk.fallbacks += fallbacks[i];
    for (const double* of = &sums[4 * pieces * i]; of < &sums[4 * pieces * i] + 4 * pieces; of += 4) {
      chunk.label_entropy += of[0];
      chunk.boundary_mass += of[1];
      chunk.boundary_plogp += of[2];
      if (!(of[3] <= chunk.max_normalization_error)) chunk.max_normalization_error = of[3];
    }
  }
}

template <class Real>
void CudaEngine<Real>::download_posteriors(PositionRange range, const PosteriorArrays& out) const {
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t positions = wide(range.size());
  if (out.boundary != nullptr) download_rows(boundary_, positions, out.boundary);
  if (out.labels != nullptr) download_rows(labels_, positions * labels, out.labels);
  if (out.starts != nullptr) download_rows(starts_, positions * labels, out.starts);
  if (out.ends != nullptr) download_rows(ends_, positions * labels, out.ends);
}

template <class Real>
PosteriorWindow CudaEngine<Real>::posteriors(const ScoreWindow& scores, PositionRange range,
                                             const BoundaryState* left, const BoundaryState* right,
                                             const PosteriorArrays& out) {
  upload(scores);
  PosteriorWindow result = compute_posteriors(scores, range, left, right, out);
  download_posteriors(range, out);
  return result;
}

template <class Real>
PosteriorWindow CudaEngine<Real>::compute_posteriors(const ScoreWindow& scores, PositionRange range,
                                                     const BoundaryState* left, const BoundaryState* right,
                                                     const PosteriorArrays& out) {
  end_stage("");
  forward_store_.reserve(range, model_.num_labels, out.counts != nullptr && model_.has_tail(),
                         out.counts != nullptr);
  backward_store_.reserve(range, model_.num_labels, false, false);
  const PassPlan ahead = plan_for(scores, range, Direction::kForward, true);
  const PassPlan back = plan_for(scores, range, Direction::kBackward, true);
  const std::vector<RunOutcome> forward = log_forward().run(ahead, *window_, left, &forward_store_);
  const std::vector<RunOutcome> backward = log_backward().run(back, *window_, right, &backward_store_);

  PosteriorWindow result;
  result.chunks = reports_of(range, forward);
  const std::vector<ChunkReport> others = reports_of(range, backward);
  for (std::size_t i = 0; i < others.size(); ++i) {
    result.chunks[i].fallbacks += others[i].fallbacks;
    result.chunks[i].repaired = result.chunks[i].repaired || others[i].repaired;
  }
  result.right_forward = final_state(log_forward(), forward.back(), range.end);
  result.left_backward = final_state(log_backward(), backward.back(), range.begin);
  result.right_warmed.boundary = range.end;
  // A run that was repaired has overwritten nothing but its own marks behind the first; the warmed state is
  // only asked for where the right one was not known.
  if (range.end != scores.length && right == nullptr)
    result.right_warmed = log_backward().download_state(backward.front().first_state, range.end);

  const std::vector<AnchorTask> tasks = anchor_tasks(ahead, forward, backward, scores.length);
  end_stage("sweeps");
  find_all_anchors(tasks);
  end_stage("anchors");
  combine_all(tasks, ahead.mark, range, out, result.chunks);
  end_stage("combining");
  if (out.counts != nullptr) count_all(tasks, ahead.mark, *out.counts);
  end_stage("counting");
  return result;
}

template <class Real>
void CudaEngine<Real>::posterior_pass(const ScoreWindow& scores, PositionRange range,
                                      const PosteriorArrays& wanted) {
  compute_posteriors(scores, range, nullptr, nullptr, wanted);
}

template PosteriorWindow CudaEngine<float>::posteriors(const ScoreWindow&, PositionRange,
                                                       const BoundaryState*, const BoundaryState*,
                                                       const PosteriorArrays&);
template PosteriorWindow CudaEngine<double>::posteriors(const ScoreWindow&, PositionRange,
                                                        const BoundaryState*, const BoundaryState*,
                                                        const PosteriorArrays&);
template void CudaEngine<float>::posterior_pass(const ScoreWindow&, PositionRange, const PosteriorArrays&);
template void CudaEngine<double>::posterior_pass(const ScoreWindow&, PositionRange, const PosteriorArrays&);

}  // namespace semicrf::cuda
