// Viterbi over a window.
#include "cuda/cuda_engine_impl.h"

namespace semicrf::cuda {

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

template <class Real>
std::vector<Segment> CudaEngine<Real>::viterbi_path(const ScoreWindow& scores) {
  const PositionRange range{0, scores.length};
  const std::unique_ptr<ViterbiMessages> messages = viterbi_window(scores, range, nullptr, true).messages;
  TraceCursor cursor{TraceCursor::Phase::kFindStart, range.end, 0, 0};
  std::vector<Segment> reversed;
  messages->trace(cursor, reversed);
  return reversed;
}

template ViterbiWindow CudaEngine<float>::viterbi(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                  bool);
template ViterbiWindow CudaEngine<double>::viterbi(const ScoreWindow&, PositionRange, const BoundaryState*,
                                                   bool);
template std::vector<Segment> CudaEngine<float>::viterbi_path(const ScoreWindow&);
template std::vector<Segment> CudaEngine<double>::viterbi_path(const ScoreWindow&);

}  // namespace semicrf::cuda
