#include "cuda/viterbi/viterbi_pass.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {

namespace {

TraceState state_of(const TraceCursor& cursor) {
  return {cursor.boundary, cursor.segment_end, static_cast<TracePhase>(cursor.phase), cursor.label};
}

// Records that are copied to the host at a time: while one part is read, the next is copied.
constexpr std::int64_t kPart = 1 << 20;

}  // namespace

// Steps of an edge must not need what lies left of it.
template <class Real>
std::int64_t CudaViterbiMessages<Real>::traced_from() const {
  return input_.range().begin + (is_edge_ ? input_.tables().duration + 2 * kBlock : 0);
}

template <class Real>
void CudaViterbiMessages<Real>::follow(const TraceCursor& cursor) {
  follower_.begin();
  follower_.add(state_of(cursor), traced_from(), !is_edge_,
                trace_cut(input_.range().size(), input_.tables().duration));
  follower_.follow(input_.parameters(), nullptr);
  written_ = 0;
  reader_ = RecordReader(cursor.phase == TraceCursor::Phase::kInTail ? cursor.segment_end : cursor.boundary);
  followed_ = true;
}

// Begins to copy the part of the path from record `first` on.
template <class Real>
void CudaViterbiMessages<Real>::fetch(std::int64_t first) {
  const std::int64_t total = follower_.records();
  if (first >= total) return;
  const std::size_t count = wide(std::min(kPart, total - first));
  const std::size_t slot = wide(first / kPart % 2);
  input_.buffers().parts[slot].reserve(count);
  const cudaStream_t stream = input_.buffers().down.get();
  input_.buffers().path.download(input_.buffers().parts[slot].get(), wide(first), count, stream);
  input_.buffers().copied[slot].record(stream);
}

template <class Real>
void CudaViterbiMessages<Real>::move_to(TraceCursor& cursor) const {
  const TraceState& state = follower_.last_state();
  cursor.boundary = state.boundary;
  cursor.segment_end = state.segment_end;
  cursor.phase = static_cast<TraceCursor::Phase>(state.phase);
  cursor.label = state.label;
}

template <class Real>
bool CudaViterbiMessages<Real>::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  if (!followed_) {
    if (cursor.phase == TraceCursor::Phase::kDone) return false;
    if (is_edge_ && cursor.boundary <= traced_from()) return false;
    follow(cursor);
    fetch(0);
  }
  const std::int64_t total = follower_.records();
  if (written_ < total) {
    const std::int64_t part = written_;
    written_ = std::min(total, part + kPart);
    fetch(written_);
    input_.buffers().copied[wide(part / kPart % 2)].wait();
    const TraceRecord* const records = input_.buffers().parts[wide(part / kPart % 2)].get();
    reader_.read({records, wide(written_ - part)}, reversed);
  }
  if (written_ < total) return true;
  move_to(cursor);
  followed_ = false;
  return false;
}

template <class Real>
std::unique_ptr<ViterbiMessages> CudaViterbiMessages<Real>::right_edge(std::int64_t positions) {
  const PositionRange range = input_.range();
  const std::int64_t kept = std::min(positions / kBlock * kBlock, range.size() / kBlock * kBlock);
  TraceInput<Real> edge_input = input_;
  if (!edge_input.cut_right_edge({(range.end - kept) / kBlock * kBlock, range.end})) return nullptr;
  auto edge = std::make_unique<CudaViterbiMessages<Real>>(std::move(edge_input));
  edge->is_edge_ = true;
  return edge;
}

template class CudaViterbiMessages<float>;
template class CudaViterbiMessages<double>;

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
