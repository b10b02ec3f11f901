#include "cuda/cuda_engine.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cuda/cuda_engine_impl.h"

namespace semicrf {
namespace cuda {
namespace {

std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }
constexpr int kAnchorBlocks = 1024;

}  // namespace

template <class Real>
CudaEngine<Real>::CudaEngine(ChainModel model, int device, std::string device_name, std::size_t shared_limit)
    : model_(std::move(model)),
      device_(device),
      device_name_(std::move(device_name)),
      grid_(run_grid(model_.max_duration)),
      tile_(choose_tile(model_.num_labels, model_.max_duration, sizeof(Real), shared_limit)) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  SEMICRF_CUDA_CHECK(cudaStreamCreate(&stream_));
}

template <class Real>
CudaEngine<Real>::~CudaEngine() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

template <class Real>
std::string CudaEngine<Real>::description() const {
  return "cuda (" + device_name_ + ", cuda:" + std::to_string(device_) + ", " +
         (sizeof(Real) == sizeof(float) ? "float" : "double") + ")";
}

template <class Real>
typename CudaEngine<Real>::LogPass& CudaEngine<Real>::log_forward() {
  if (!log_forward_)
    log_forward_ = std::make_unique<LogPass>(model_, Direction::kForward, tile_, tolerance(), stream_);
  return *log_forward_;
}
template <class Real>
typename CudaEngine<Real>::LogPass& CudaEngine<Real>::log_backward() {
  if (!log_backward_)
    log_backward_ = std::make_unique<LogPass>(model_, Direction::kBackward, tile_, tolerance(), stream_);
  return *log_backward_;
}
template <class Real>
typename CudaEngine<Real>::MaxPass& CudaEngine<Real>::max_forward() {
  if (!max_forward_)
    max_forward_ = std::make_unique<MaxPass>(model_, Direction::kForward, tile_, tolerance(), stream_);
  return *max_forward_;
}

// Device memory: the scores, the messages, the states.
template <class Real>
std::size_t CudaEngine<Real>::viterbi_bytes(std::int64_t positions, bool keep_messages) const {
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t arrays = model_.has_tail() ? 3 : 2;
  const std::size_t scores = wide(positions) * labels * 3 * sizeof(double);
  const std::size_t kept =
      wide(positions) *
      (labels * (arrays * (sizeof(Real) + sizeof(double) / 16 + 1) + 2) + sizeof(double) + 16);
  const std::size_t states =
      wide(positions / grid_.unit + 2) * 2 * (wide(model_.max_duration) + 2) * labels * sizeof(double);
  return scores + states + (keep_messages ? kept : 0);
}
template <class Real>
std::size_t CudaEngine<Real>::posterior_bytes(std::int64_t positions, bool) const {
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t outputs = wide(positions) * (3 * labels + 1) * sizeof(Real);
  return 2 * viterbi_bytes(positions, true) + outputs;
}

template <class Real>
PassPlan CudaEngine<Real>::plan_for(const ScoreWindow& scores, PositionRange range, Direction direction,
                                    bool with_marks) const {
  PassPlan plan;
  plan.direction = direction;
  plan.range = range;
  plan.run = run_length(grid_, scores.length, model_.num_labels);
  plan.mark = with_marks ? std::min(plan.run, grid_.warmup) : plan.run;
  plan.warmup = grid_.warmup;
  return plan;
}

// Fallbacks and repairs of the runs, by chunk of the grid.
template <class Real>
std::vector<ChunkReport> CudaEngine<Real>::reports_of(PositionRange range,
                                                      const std::vector<RunOutcome>& outcomes) const {
  std::vector<ChunkReport> chunks(chunk_of(range.end - 1, range) + 1);
  for (const RunOutcome& outcome : outcomes) {
    ChunkReport& chunk = chunks[chunk_of(outcome.range.begin, range)];
    chunk.fallbacks += outcome.report.fallbacks;
    chunk.repaired = chunk.repaired || outcome.repaired;
  }
  return chunks;
}

template <class Real>
template <class Semiring>
BoundaryState CudaEngine<Real>::final_state(const ChunkPass<Real, Semiring>& pass, const RunOutcome& last,
                                            std::int64_t boundary) const {
  BoundaryState state = pass.download_state(last.last_state, boundary);
  state.whole += last.whole;
  state.offset += last.offset;
  return state;
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, bool keep_messages) {
  upload(scores);
  return viterbi_window(scores, range, left, keep_messages);
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi_window(const ScoreWindow& scores, PositionRange range,
                                               const BoundaryState* left, bool keep_messages) {
  // Messages that are kept live as long as the window; the next one gets memory of its own.
  std::shared_ptr<StoreBuffers<Real>> store;
  if (keep_messages) {
    if (!viterbi_store_ || viterbi_store_.use_count() > 1)
      viterbi_store_ = std::make_shared<StoreBuffers<Real>>();
    store = viterbi_store_;
    store->reserve(range, model_.num_labels, model_.has_tail(), true);
  }
  const PassPlan plan = plan_for(scores, range, Direction::kForward, false);
  const std::vector<RunOutcome> outcomes = max_forward().run(plan, *window_, left, store.get());
  ViterbiWindow result;
  result.chunks = reports_of(range, outcomes);
  result.right = final_state(max_forward(), outcomes.back(), range.end);
  if (keep_messages) {
    result.messages = std::make_unique<CudaViterbiMessages<Real>>(max_forward(), window_, std::move(store),
                                                                  outcomes, range, plan.run, left, stream_);
  }
  return result;
}

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
  const int blocks = static_cast<int>(std::min<std::size_t>(tasks.size(), kAnchorBlocks));
  anchor_buffer_.upload(tasks, stream_);
  anchor_starts_.reserve(wide(blocks) * longest);
  anchor_ends_.reserve(wide(blocks) * longest);
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
  p.starts = anchor_starts_.get();
  p.ends = anchor_ends_.get();
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
void CudaEngine<Real>::combine_all(const std::vector<AnchorTask>& tasks, PositionRange range,
                                   const PosteriorArrays& out, std::vector<ChunkReport>& chunks) {
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
  sums_.reserve(tasks.size() * 4);
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
  const std::vector<double> sums = sums_.download(tasks.size() * 4, stream_);
  const std::vector<int> fallbacks = anchor_fallbacks_.download(tasks.size(), stream_);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    ChunkReport& chunk = chunks[chunk_of(tasks[i].begin, range)];
    chunk.fallbacks += fallbacks[i];
    chunk.label_entropy += sums[4 * i];
    chunk.boundary_mass += sums[4 * i + 1];
    chunk.boundary_plogp += sums[4 * i + 2];
    const double error = sums[4 * i + 3];
    if (!(error <= chunk.max_normalization_error)) chunk.max_normalization_error = error;
  }
}

// Counts are added to what the caller has, interval by interval in their order, so that windows do not change
// a digit.
template <class Real>
void CudaEngine<Real>::count_all(const std::vector<AnchorTask>& tasks, std::int64_t mark,
                                 ExpectedCounts& counts) {
  constexpr std::size_t kMostWorkspace = std::size_t(1) << 30;
  counts.shape_for(model_);
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t rows = wide(mark + 1) * labels;
  const std::size_t durations = wide(model_.max_duration) * labels;
  const std::size_t parts = durations + labels * labels + labels;
  const std::size_t batch =
      std::clamp<std::size_t>(kMostWorkspace / ((6 * rows + parts) * sizeof(double)), 1, tasks.size());
  count_rows_.reserve(batch * rows * 5);
  count_forbidden_.reserve(batch * rows);
  count_parts_.reserve(batch * parts);
  std::vector<double> totals = counts.duration;
  totals.insert(totals.end(), counts.transition.begin(), counts.transition.end());
  totals.insert(totals.end(), counts.tail.begin(), counts.tail.end());
  totals.resize(parts, 0.0);
  count_totals_.upload(totals, stream_);

  CountsParameters<Real> p{};
  p.forward = forward_store_.view();
  p.backward = backward_store_.view();
  p.forward_states = log_forward().states();
  p.backward_states = log_backward().states();
  p.sequence = window_->on_device();
  p.backward_reports = log_backward().reports();
  p.tasks = anchor_buffer_.get();
  p.z_whole = z_whole_.get();
  p.z_offset = z_offset_.get();
  p.z_log = z_log_.get();
  const TablesView<Real> tables = log_forward().chain().view();
  p.bias = tables.bias;
  p.transition_log = tables.transition_log;
  p.log_tail = tables.log_tail;
  p.last_bias = tables.last_bias;
  p.first_scores = tables.first_scores;
  p.last_scores = tables.last_scores;
  p.starts = count_rows_.get();
  p.ends = p.starts + batch * rows;
  p.alpha = p.ends + batch * rows;
  p.delta = p.alpha + batch * rows;
  p.tail_rows = p.delta + batch * rows;
  p.forbidden = count_forbidden_.get();
  p.durations = count_parts_.get();
  p.transitions = p.durations + batch * durations;
  p.tails = p.transitions + batch * labels * labels;
  p.mark = mark;
  p.labels = model_.num_labels;
  p.width = tables.width;
  p.duration = model_.max_duration;
  p.tail = model_.has_tail() ? 1 : 0;
  p.uniform = model_.initial == InitialTerm::kUniform ? 1 : 0;
  double* const totals_at = count_totals_.get();
  for (std::size_t first = 0; first < tasks.size(); first += batch) {
    p.first_task = static_cast<int>(first);
    const int count = static_cast<int>(std::min(batch, tasks.size() - first));
    count_intervals(p, count, stream_);
    add_partials(p.durations, count, static_cast<std::int64_t>(durations), totals_at, stream_);
    add_partials(p.transitions, count, static_cast<std::int64_t>(labels * labels), totals_at + durations,
                 stream_);
    add_partials(p.tails, count, static_cast<std::int64_t>(labels), totals_at + durations + labels * labels,
                 stream_);
  }
  totals = count_totals_.download(parts, stream_);
  const auto at = totals.begin();
  const auto end_of_durations = at + static_cast<std::ptrdiff_t>(durations);
  const auto end_of_transitions = end_of_durations + static_cast<std::ptrdiff_t>(labels * labels);
  std::copy(at, end_of_durations, counts.duration.begin());
  std::copy(end_of_durations, end_of_transitions, counts.transition.begin());
  if (!counts.tail.empty()) std::copy(end_of_transitions, totals.end(), counts.tail.begin());
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
  find_all_anchors(tasks);
  combine_all(tasks, range, out, result.chunks);
  if (out.counts != nullptr) count_all(tasks, ahead.mark, *out.counts);
  return result;
}

template <class Real>
void CudaEngine<Real>::upload(const ScoreWindow& scores) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  // Messages that are still traced through read the scores they were computed from.
  if (!window_ || window_.use_count() > 1) window_ = std::make_shared<DeviceWindow>();
  window_->upload(scores, model_.num_labels, stream_);
}
template <class Real>
std::vector<RunOutcome> CudaEngine<Real>::forward_pass(const ScoreWindow& scores, PositionRange range) {
  return log_forward().run(plan_for(scores, range, Direction::kForward, false), *window_, nullptr, nullptr);
}
template <class Real>
void CudaEngine<Real>::posterior_pass(const ScoreWindow& scores, PositionRange range,
                                      const PosteriorArrays& wanted) {
  compute_posteriors(scores, range, nullptr, nullptr, wanted);
}
template <class Real>
void CudaEngine<Real>::repeat_forward_kernel() {
  log_forward().relaunch(log_forward().last_parameters());
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}
template <class Real>
std::vector<Segment> CudaEngine<Real>::viterbi_path(const ScoreWindow& scores) {
  const PositionRange range{0, scores.length};
  const std::unique_ptr<ViterbiMessages> messages = viterbi_window(scores, range, nullptr, true).messages;
  TraceCursor cursor{TraceCursor::Phase::kFindStart, range.end, 0, 0};
  std::vector<Segment> reversed;
  messages->trace(cursor, reversed);
  return reversed;
}

template <class Real>
ForwardWindow CudaEngine<Real>::forward(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, const ForwardArrays& out) {
  upload(scores);
  const bool keep = out.starts != nullptr || out.ends != nullptr || out.tails != nullptr ||
                    out.start_levels != nullptr || out.end_levels != nullptr;
  if (keep) {
    forward_store_.reserve(range, model_.num_labels, model_.has_tail(), true);
    forward_store_.clear(stream_);
  }
  const PassPlan plan = plan_for(scores, range, Direction::kForward, false);
  const std::vector<RunOutcome> outcomes =
      log_forward().run(plan, *window_, left, keep ? &forward_store_ : nullptr);
  ForwardWindow result;
  result.chunks = reports_of(range, outcomes);
  result.right = final_state(log_forward(), outcomes.back(), range.end);
  result.whole = left != nullptr ? left->whole : 0.0;
  if (keep) write_forward(scores, range, outcomes, plan.run, out, result.whole);
  return result;
}

// Messages as logarithms, from their numbers and scales. On the host: this is for drawing segmentations,
// which reads them there.
template <class Real>
void CudaEngine<Real>::write_forward(const ScoreWindow& scores, PositionRange range,
                                     const std::vector<RunOutcome>& outcomes, std::int64_t run,
                                     const ForwardArrays& out, double whole) {
  const auto kept = forward_store_.download(stream_);
  const std::size_t labels = wide(model_.num_labels);
  const auto log_of = [](Real number) {
    return number > Real(0) ? std::log(static_cast<double>(number)) : kNegativeInfinity;
  };
  for (std::int64_t block = 0; block * kBlock < range.size(); ++block) {
    const RunOutcome& outcome = outcomes[wide(block * kBlock / run)];
    const std::size_t b = wide(block);
    const double run_whole = outcome.whole + outcome.report.origin_whole - whole;
    const double run_offset = outcome.offset + outcome.report.origin;
    double shifts = kept.mass[b];  // of all positions before this one
    const std::int64_t count = std::min<std::int64_t>(kBlock, range.size() - block * kBlock);
    std::vector<double> content(labels, 0.0);
    for (std::int64_t slot = 0; slot < count; ++slot) {
      const std::size_t row = b * kBlock + wide(slot);
      const std::size_t in_window = wide(range.begin - scores.begin) + row;
      const bool exact = kept.exact[b] != 0;
      const std::size_t pool = exact ? (wide(kept.exact[b] - 1) * kBlock + wide(slot)) * labels : 0;
      const double before = run_whole + kept.base[b] + shifts;
      shifts += kept.shift[row];
      const double after = run_whole + kept.base[b] + shifts;
      const double start_level = out.start_levels != nullptr ? 0.0 : before;
      const double end_level = out.end_levels != nullptr ? 0.0 : after;
      if (out.start_levels != nullptr) out.start_levels[row] = before;
      if (out.end_levels != nullptr) out.end_levels[row] = after;
      double most = kNegativeInfinity;
      for (std::size_t c = 0; c < labels; ++c)
        most = std::max(most, scores.emissions.at(in_window * labels + c));
      for (std::size_t c = 0; c < labels; ++c) {
        const std::size_t at = row * labels + c;
        const std::size_t scale = b * labels + c;
        if (out.starts != nullptr) {
          double value = exact ? kept.pool_start[pool + c] : log_of(kept.start[at]) + kept.start_scale[scale];
          if (!scores.start_scores.empty()) value += scores.start_scores.at(in_window * labels + c);
          if (range.begin + block * kBlock + slot == 0 && !model_.start_scores.empty())
            value += model_.start_scores[c];
          out.starts[at] = (value + run_offset) + start_level;
        }
        if (out.ends != nullptr) {
          const double value =
              exact ? kept.pool_alpha[pool + c] : log_of(kept.alpha[at]) + kept.alpha_scale[scale];
          out.ends[at] = (value + run_offset) + end_level;
        }
        if (out.tails == nullptr) continue;
        // A fast block's tail share lacks the content of the block up to the position.
        double score = scores.emissions.at(in_window * labels + c) - kept.shift[row];
        if (scores.subtract_position_max && most != kNegativeInfinity) score -= most;
        if (!scores.baseline.empty()) score -= scores.baseline[c];
        content[c] += score;
        double value = kNegativeInfinity;
        if (model_.has_tail()) {
          value =
              exact ? kept.pool_tail[pool + c] : log_of(kept.tail[at]) + kept.alpha_scale[scale] + content[c];
        }
        out.tails[at] = (value + run_offset) + end_level;
      }
    }
  }
}

template class CudaEngine<float>;
template class CudaEngine<double>;

}  // namespace cuda

namespace {

constexpr int kOldestMajor = 7;
constexpr int kOldestMinor = 5;

// What this build and driver offer: the number of devices, or why there is none.
std::string count_devices(int* count) {
  *count = 0;
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) return "no NVIDIA driver is installed";
  cudaRuntimeGetVersion(&runtime);
  const cudaError_t status = cudaGetDeviceCount(count);
  if (status == cudaSuccess && *count > 0) return "";
  cudaGetLastError();
  if (driver < runtime / 1000 * 1000) {
    return "the NVIDIA driver is too old: it supports CUDA " + std::to_string(driver / 1000) + "." +
           std::to_string(driver % 1000 / 10) + ", this program needs " + std::to_string(runtime / 1000) +
           ".0";
  }
  return status == cudaErrorNoDevice || status == cudaSuccess ? std::string("no GPU is visible")
                                                              : std::string(cudaGetErrorString(status));
}

}  // namespace

std::string cuda_obstacle() {
  int count = 0;
  return count_devices(&count);
}

std::unique_ptr<Engine> make_cuda_engine(ChainModel model, Precision precision,
                                         const std::vector<int>& devices) {
  int count = 0;
  const std::string obstacle = count_devices(&count);
  if (!obstacle.empty()) throw DeviceError({"", "", obstacle, "use --device auto or --device cpu"});
  const int device = devices.empty() ? 0 : devices.front();
  for (const int wanted : devices) {
    if (wanted >= 0 && wanted < count) continue;
    throw DeviceError({"", "",
                       "cuda:" + std::to_string(wanted) + " is not visible, " + std::to_string(count) +
                           (count == 1 ? " GPU is" : " GPUs are"),
                       "see CUDA_VISIBLE_DEVICES"});
  }
  cudaDeviceProp properties{};
  SEMICRF_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  if (properties.major < kOldestMajor ||
      (properties.major == kOldestMajor && properties.minor < kOldestMinor)) {
    throw DeviceError({"", "",
                       std::string(properties.name) + " has compute capability " +
                           std::to_string(properties.major) + "." + std::to_string(properties.minor) +
                           ", 7.5 is the least",
                       "use --device cpu"});
  }
  int shared = 0;
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (precision == Precision::kFloat) {
    return std::make_unique<cuda::CudaEngine<float>>(std::move(model), device, properties.name,
                                                     static_cast<std::size_t>(shared));
  }
  return std::make_unique<cuda::CudaEngine<double>>(std::move(model), device, properties.name,
                                                    static_cast<std::size_t>(shared));
}

}  // namespace semicrf
