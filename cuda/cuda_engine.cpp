// What the operations share: tables, plans and memory.
#include "cuda/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }

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
void CudaEngine<Real>::end_stage(const char* name) {
  if (stage_seconds_ == nullptr) return;
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  const auto now = std::chrono::steady_clock::now();
  if (*name != '\0') (*stage_seconds_)[name] += std::chrono::duration<double>(now - stage_begin_).count();
  stage_begin_ = now;
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
void CudaEngine<Real>::repeat_forward_kernel() {
  log_forward().relaunch(log_forward().last_parameters());
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template class CudaEngine<float>;
template class CudaEngine<double>;

}  // namespace semicrf::cuda
