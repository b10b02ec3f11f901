#include "cuda/viterbi/viterbi_messages.h"

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

}  // namespace semicrf::cuda
