#include "cuda/viterbi/viterbi_pass.h"

#include "core/sizes.h"

namespace semicrf::cuda {

template <class Real>
auto ViterbiPass<Real>::sweep() -> Sweep& {
  if (!sweep_) sweep_ = std::make_unique<Sweep>(context_, Direction::kForward);
  return *sweep_;
}

template <class Real>
TraceInput<Real> ViterbiPass<Real>::trace_input(const PassInput& input, const BoundaryState* left) {
  if (!buffers_) buffers_ = std::make_shared<TraceBuffers>();
  return {sweep(), input, messages_, unused(places_), buffers_, left, context_.stream.get()};
}

template <class Real>
const std::vector<RunOutcome>& ViterbiPass<Real>::keep_messages(const PassInput& input,
                                                                const BoundaryState* left) {
  MessageBuffers<Real>& messages = *unused(messages_);
  messages.reserve(input.layout.tokens, {context_.model.num_labels, context_.model.has_tail(), true, false});
  return sweep().run(input.layout, input.scores->on_device(), left, &messages);
}

template <class Real>
ViterbiWindow ViterbiPass<Real>::window(const PassInput& input, const BoundaryState* left, bool keep) {
  const std::vector<RunOutcome>& outcomes =
      keep ? keep_messages(input, left) : sweep().run(input.layout, input.scores->on_device(), left, nullptr);
  ViterbiWindow result;
  result.chunks = std::move(context_.reports_of(input.layout, outcomes).front());
  result.right = sweep().state_at_end();
  if (keep) result.messages = std::make_unique<CudaViterbiMessages<Real>>(trace_input(input, left));
  return result;
}

template <class Real>
bool ViterbiPass<Real>::join(ViterbiWindow& window, const BoundaryState& left) {
  if (!sweep().join(left)) return false;
  window.right = sweep().state_at_end();
  if (window.messages)
    static_cast<CudaViterbiMessages<Real>&>(*window.messages).place(sweep().outcomes(), &left);
  return true;
}

template <class Real>
DeviceContext::Reports ViterbiPass<Real>::compute_messages(const PassInput& input) {
  return context_.reports_of(input.layout, keep_messages(input, nullptr));
}

// The paths of the sequences that have one, in one piece each as long as there are enough of them.
template <class Real>
auto ViterbiPass<Real>::trace(const PassInput& input) -> std::vector<Path> {
  const SequenceLayout& layout = input.layout;
  const TraceInput<Real> traced_input = trace_input(input, nullptr);
  PathFollower<Real> follower(buffers_, context_.stream.get());
  follower.begin();
  const TraceCut pieces = trace_cut(layout.rows(), context_.model.max_duration);
  std::vector<std::size_t> traced;  // sequences
  for (std::size_t i = 0; i < layout.sequences.size(); ++i) {
    const PlacedSequence& sequence = layout.sequences[i];
    int label = 0;
    if (best_final_score(sweep().state_at_end(i), &label) == kNegativeInfinity) continue;
    traced.push_back(i);
    follower.add({sequence.first_row + sequence.length, 0, TracePhase::kFindStart, label}, sequence.first_row,
                 true, pieces);
  }
  PinnedBuffer<TraceRecord>& host = buffers_->parts[0];
  host.reserve(wide(layout.rows()) + 1);
  follower.follow(traced_input.parameters(), host.get());
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(buffers_->down.get()));
  std::vector<Path> paths(layout.sequences.size());
  const TraceRecord* at = host.get();
  for (std::size_t n = 0; n < traced.size(); ++n) {
    paths[traced[n]] = {at, wide(follower.records_of(n))};
    at += follower.records_of(n);
  }
  return paths;
}

template class ViterbiPass<float>;
template class ViterbiPass<double>;

}  // namespace semicrf::cuda
