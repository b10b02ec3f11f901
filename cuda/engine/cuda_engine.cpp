// What the operations share: tables, plans and memory.
#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"
#include "engine/device_memory.h"

namespace semicrf::cuda {

template <class Real>
CudaEngine<Real>::CudaEngine(ChainModel model, int device, const std::string& device_name,
                             std::size_t shared_limit, std::size_t memory, int threads)
    : Engine(describe(std::move(model), device, device_name), this, *this),
      device_(device),
      memory_(memory),
      threads_(threads),
      grid_(run_grid(model_.max_duration)),
      tile_(choose_tile(model_.num_labels, model_.max_duration, sizeof(Real), shared_limit)) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  SEMICRF_CUDA_CHECK(cudaStreamCreate(&stream_));
  SEMICRF_CUDA_CHECK(cudaStreamCreateWithFlags(&backward_stream_, cudaStreamNonBlocking));
}

template <class Real>
CudaEngine<Real>::~CudaEngine() {
  cudaSetDevice(device_);
  copies_.reset();  // before what it copies to
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
  if (backward_stream_ == nullptr) return;
  cudaStreamSynchronize(backward_stream_);
  cudaStreamDestroy(backward_stream_);
}

template <class Real>
EngineInfo CudaEngine<Real>::describe(ChainModel model, int device, const std::string& device_name) {
  const RunGrid grid = run_grid(model.max_duration);
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  EngineInfo info;
  info.name = "cuda";
  info.description = "cuda (" + device_name + ", cuda:" + std::to_string(device) + ", " +
                     (kSingle ? "float" : "double") + ")";
  info.model = std::move(model);
  info.precision = kSingle ? Precision::kFloat : Precision::kDouble;
  info.grid = {grid.chunk, grid.warmup, tolerance()};
  info.projects = true;
  return info;
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
    log_backward_ =
        std::make_unique<LogPass>(model_, Direction::kBackward, tile_, tolerance(), backward_stream_);
  return *log_backward_;
}
template <class Real>
typename CudaEngine<Real>::MaxPass& CudaEngine<Real>::max_forward() {
  if (!max_forward_)
    max_forward_ = std::make_unique<MaxPass>(model_, Direction::kForward, tile_, tolerance(), stream_);
  return *max_forward_;
}

template <class Real>
ModelShape CudaEngine<Real>::model_shape() const {
  return {model_.num_labels, model_.max_duration, model_.has_tail(), sizeof(Real), teams_of(tile_)};
}

// Of the host: pinned buffers of scores and paths, and what is known of the pieces of a path.
template <class Real>
std::size_t CudaEngine<Real>::viterbi_bytes(std::int64_t positions, bool keep_messages) const {
  constexpr std::size_t kPerThread = std::size_t{2} << 20;
  constexpr std::size_t kPaths = std::size_t{16} << 20;
  constexpr std::size_t kPiece = 256;
  const std::size_t pieces = wide(positions / grid_.unit + 1) * kPiece;
  return wide(threads_) * kPerThread + (keep_messages ? kPaths : 0) + pieces;
}
// And the rows that forward() and posteriors() convert there.
template <class Real>
std::size_t CudaEngine<Real>::posterior_bytes(std::int64_t positions, bool) const {
  constexpr std::size_t kRows = std::size_t{16} << 20;
  return viterbi_bytes(positions, false) + kRows;
}
template <class Real>
std::size_t CudaEngine<Real>::viterbi_device_bytes(const WindowShape& shape) const {
  return viterbi_need(model_shape(), grid_, shape, memory_);
}
template <class Real>
std::size_t CudaEngine<Real>::posterior_device_bytes(const WindowShape& shape, bool counts) const {
  return posterior_need(model_shape(), grid_, shape, counts, memory_);
}

template <class Real>
PlacedSequence CudaEngine<Real>::cut(std::int64_t length, PositionRange range, bool with_marks) const {
  PlacedSequence sequence{range, length};
  sequence.run = run_length(grid_, length, teams_of(tile_));
  sequence.mark = with_marks ? std::min(sequence.run, grid_.warmup) : sequence.run;
  return sequence;
}

template <class Real>
PassPlan CudaEngine<Real>::plan_for(const ScoreWindow& scores, PositionRange range, Direction direction,
                                    bool with_marks) const {
  PassPlan plan;
  plan.direction = direction;
  plan.layout = SequenceLayout(cut(scores.length, range, with_marks));
  plan.warmup = run_warmup(grid_, sizeof(Real));
  return plan;
}

// Fallbacks and repairs of the runs, by chunk of the grid.
template <class Real>
std::vector<ChunkReport> CudaEngine<Real>::reports_of(PositionRange range,
                                                      const std::vector<RunOutcome>& outcomes) const {
  std::vector<ChunkReport> chunks(chunk_of(range.end - 1, range) + 1);
  for (const RunOutcome& outcome : outcomes) add_run(outcome, chunks[chunk_of(outcome.range.begin, range)]);
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

// Per position, all arrays.
template <class Real>
std::size_t CudaEngine<Real>::score_bytes(const ScoreWindow& scores) const {
  std::size_t bytes = 0;
  for (const ScoreArray* array : {&scores.emissions, &scores.start_scores, &scores.end_scores})
    bytes += array->f32 != nullptr ? sizeof(float) : (array->f64 != nullptr ? sizeof(double) : 0);
  for (const HeadTable* head : {scores.features.emission, scores.features.start, scores.features.finish})
    bytes += head == nullptr ? 0 : (scores.features.wide ? sizeof(double) : sizeof(float));
  return bytes * wide(model_.num_labels);
}

// Per position; of the rows of a window that were brought up last.
template <class Real>
std::size_t CudaEngine<Real>::feature_bytes(const ScoreWindow& scores) const {
  const FeatureRows& features = scores.features;
  if (features.empty()) return 0;
  const std::size_t value = features.rows.f32 != nullptr ? sizeof(float) : sizeof(double);
  return wide(features.tracks) * value + (features.true_labels != nullptr ? sizeof(int) : 0);
}

template <class Real>
bool CudaEngine<Real>::keeps(const ScoreWindow& scores) const {
  const std::int64_t rows = scores.end - scores.begin;
  return scores.sequence != 0 && keeps_sequence({scores.length, rows, rows, score_bytes(scores)}, memory_);
}

template <class Real>
void CudaEngine<Real>::free_window(const ScoreWindow& scores) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  if (!copies_) copies_ = std::make_unique<ScoreUpload>(device_, threads_);
  // Messages that are still traced through read the scores they were computed from.
  const bool lent = window_ && window_.use_count() > 1;
  if (window_ && !(lent && !(keeps(scores) && window_->holds_sequence(scores)))) return;
  if (window_) window_->end_prefetch(*copies_);
  window_ = std::make_shared<DeviceWindow>();
}

template <class Real>
void CudaEngine<Real>::upload(const ScoreWindow& scores) {
  free_window(scores);
  window_->upload(scores, model_.num_labels, keeps(scores), *copies_, stream_);
}

// Of the sequence with this number, as long as the engine's window holds it.
template <class Real>
class CudaEngine<Real>::Prefetch final : public ScorePrefetch {
 public:
  Prefetch(CudaEngine& engine, std::uint64_t sequence) : engine_(engine), sequence_(sequence) {}
  ~Prefetch() override {
    if (holds()) engine_.window_->end_prefetch(*engine_.copies_);
  }
  bool sound(std::int64_t end) override {
    if (!holds()) return false;
    SEMICRF_CUDA_CHECK(cudaSetDevice(engine_.device_));
    return engine_.window_->sound(end, engine_.model_.num_labels, *engine_.copies_, engine_.stream_);
  }
  std::optional<BlockSums> block_sums(double mask) override {
    if (!holds()) return std::nullopt;
    SEMICRF_CUDA_CHECK(cudaSetDevice(engine_.device_));
    return engine_.window_->block_sums(mask, engine_.model_.num_labels, *engine_.copies_, engine_.stream_);
  }

 private:
  bool holds() const { return engine_.window_ && engine_.window_->sequence() == sequence_; }

  CudaEngine& engine_;
  std::uint64_t sequence_;
};

template <class Real>
std::unique_ptr<ScorePrefetch> CudaEngine<Real>::prefetch(const ScoreWindow& whole) {
  if (!keeps(whole)) return nullptr;
  free_window(whole);
  window_->prefetch(whole, model_.num_labels, *copies_);
  return std::make_unique<Prefetch>(*this, whole.sequence);
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
