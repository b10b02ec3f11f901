// Viterbi over a window.
#include "cuda/engine/cuda_engine_impl.h"
#include "engine/device_memory.h"

namespace semicrf::cuda {

template <class Real>
bool CudaEngine<Real>::joins_windows(const WindowShape& shape) const {
  return joins_neighbours(model_shape(), shape, memory_);
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, bool keep_messages) {
  upload(scores);
  std::unique_ptr<CudaViterbiMessages<Real>> messages;
  ViterbiWindow result = viterbi_window(scores, range, left, keep_messages ? &messages : nullptr);
  result.messages = std::move(messages);
  return result;
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi_window(const ScoreWindow& scores, PositionRange range,
                                               const BoundaryState* left,
                                               std::unique_ptr<CudaViterbiMessages<Real>>* messages) {
  std::shared_ptr<StoreBuffers<Real>> store;
  if (messages != nullptr) {
    store = unused(viterbi_store_);
    store->reserve(range, model_.num_labels, model_.has_tail(), true);
  }
  const PassPlan plan = plan_for(scores, range, Direction::kForward, false);
  const std::vector<RunOutcome>& outcomes = max_forward().run(plan, *window_, left, store.get());
  ViterbiWindow result;
  result.chunks = reports_of(range, outcomes);
  result.right = final_state(max_forward(), outcomes.back(), range.end);
  if (messages != nullptr) {
    if (!trace_buffers_) trace_buffers_ = std::make_shared<TraceBuffers>();
    *messages = std::make_unique<CudaViterbiMessages<Real>>(
        max_forward(), window_, std::move(store), unused(trace_places_), trace_buffers_, outcomes, range,
        plan.layout.sequences[0].run, left, stream_);
  }
  return result;
}

template <class Real>
bool CudaEngine<Real>::join(ViterbiWindow& window, const BoundaryState& left) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  if (!max_forward().join(left)) return false;
  const std::vector<RunOutcome>& outcomes = max_forward().outcomes();
  window.right = final_state(max_forward(), outcomes.back(), window.right.boundary);
  if (window.messages) static_cast<CudaViterbiMessages<Real>&>(*window.messages).place(outcomes, &left);
  return true;
}

template <class Real>
std::span<const TraceRecord> CudaEngine<Real>::viterbi_path(const ScoreWindow& scores) {
  const PositionRange range{0, scores.length};
  std::unique_ptr<CudaViterbiMessages<Real>> messages;
  end_stage("");
  const ViterbiWindow window = viterbi_window(scores, range, nullptr, &messages);
  end_stage("sweep");
  TraceCursor cursor{TraceCursor::Phase::kFindStart, range.end, 0, 0};
  best_final_score(window.right, &cursor.label);
  const std::span<const TraceRecord> path = messages->trace_packed(cursor);
  end_stage("traceback");
  return path;
}

template bool CudaEngine<float>::joins_windows(const WindowShape&) const;
template bool CudaEngine<double>::joins_windows(const WindowShape&) const;
template ViterbiWindow CudaEngine<float>::viterbi(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                  bool);
template ViterbiWindow CudaEngine<double>::viterbi(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                   bool);
template bool CudaEngine<float>::join(ViterbiWindow&, const BoundaryState&);
template bool CudaEngine<double>::join(ViterbiWindow&, const BoundaryState&);
template std::span<const TraceRecord> CudaEngine<float>::viterbi_path(const ScoreWindow&);
template std::span<const TraceRecord> CudaEngine<double>::viterbi_path(const ScoreWindow&);

}  // namespace semicrf::cuda
