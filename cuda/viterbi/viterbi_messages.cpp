#include "cuda/viterbi/viterbi_messages.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

TraceState state_of(const TraceCursor& cursor) {
  return {cursor.boundary, cursor.segment_end, static_cast<TracePhase>(cursor.phase), cursor.label};
}

// Segments brought to the host at a time: while one part is taken over, the next is copied.
constexpr std::int64_t kPart = 1 << 20;

}  // namespace

template <class Real>
CudaViterbiMessages<Real>::CudaViterbiMessages(
    const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
    std::shared_ptr<const StoreBuffers<Real>> store, std::shared_ptr<TracePlaces> places,
    std::shared_ptr<TraceBuffers> buffers, const std::vector<RunOutcome>& outcomes, PositionRange range,
    std::int64_t run, const BoundaryState* left, cudaStream_t stream)
    : tables_(pass.chain().view()),
      window_(std::move(window)),
      store_(std::move(store)),
      places_(std::move(places)),
      buffers_(std::move(buffers)),
      range_(range),
      run_(run),
      stream_(stream),
      follower_(buffers_, stream) {
  places_->reserve(store_->blocks(), wide(tables_.labels));
  prepare_traceback(pass.chain().host(), *buffers_, stream);
  place(outcomes, left);
}

template <class Real>
void CudaViterbiMessages<Real>::place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left) {
  places_->runs.upload(run_origins(outcomes), stream_);
  has_left_ = left != nullptr;
  if (left != nullptr) {
    left_ = {left->whole, left->offset};
    std::vector<double> entries = left->ring;
    entries.insert(entries.end(), left->message.begin(), left->message.end());
    entries.insert(entries.end(), left->tail.begin(), left->tail.end());
    places_->left_entries.upload(entries, stream_);
  }
  place_blocks(parameters(), stream_);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real>
TraceParameters<Real> CudaViterbiMessages<Real>::parameters() const {
  TraceParameters<Real> p = trace_parameters(tables_, store_->view(), *places_, *buffers_);
  p.sequence = window_->view();
  p.left_state = has_left_ ? places_->left_entries.get() : nullptr;
  p.left = left_;
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = run_;
  return p;
}

template <class Real>
void CudaViterbiMessages<Real>::follow(const TraceCursor& cursor, TraceRecord* host) {
  // Steps of an edge must not need what lies left of it.
  const std::int64_t begin = range_.begin + (is_edge_ ? tables_.duration + 2 * kBlock : 0);
  follower_.begin();
  follower_.add(state_of(cursor), begin, !is_edge_, trace_cut(range_.size(), tables_.duration));
  follower_.follow(parameters(), host);
  given_ = 0;
  end_ = cursor.phase == TraceCursor::Phase::kInTail ? cursor.segment_end : cursor.boundary;
  followed_ = true;
}

// Begins to copy the part of the path from segment `first` on.
template <class Real>
void CudaViterbiMessages<Real>::fetch(std::int64_t first) {
  const std::int64_t total = follower_.segments();
  if (first >= total) return;
  const std::size_t count = wide(std::min(kPart, total - first));
  const std::size_t slot = wide(first / kPart % 2);
  buffers_->parts[slot].reserve(count);
  const cudaStream_t stream = buffers_->down.get();
  buffers_->path.download(buffers_->parts[slot].get(), wide(first), count, stream);
  buffers_->copied[slot].record(stream);
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
    if (is_edge_ && cursor.boundary <= range_.begin + tables_.duration + 2 * kBlock) return false;
    follow(cursor, nullptr);
    fetch(0);
  }
  const std::int64_t total = follower_.segments();
  if (given_ < total) {
    const std::int64_t part = given_;
    given_ = std::min(total, part + kPart);
    fetch(given_);
    buffers_->copied[wide(part / kPart % 2)].wait();
    const TraceRecord* const records = buffers_->parts[wide(part / kPart % 2)].get();
    end_ = unpack({records, wide(given_ - part)}, end_, reversed);
  }
  if (given_ < total) return true;
  move_to(cursor);
  followed_ = false;
  return false;
}

// Blocks that are exact have numbers elsewhere: with one of them there is no edge.
template <class Real>
std::unique_ptr<ViterbiMessages> CudaViterbiMessages<Real>::right_edge(std::int64_t positions) {
  const std::int64_t kept = std::min(positions / kBlock * kBlock, range_.size() / kBlock * kBlock);
  const PositionRange range{(range_.end - kept) / kBlock * kBlock, range_.end};
  const auto first = wide((range.begin - range_.begin) / kBlock);
  auto store = std::make_shared<StoreBuffers<Real>>();
  store->reserve(range, tables_.labels, tables_.tail != 0, true);
  if (!store->copy_blocks(*store_, first, stream_)) return nullptr;
  auto places = std::make_shared<TracePlaces>();
  const std::size_t blocks = store->blocks();
  const std::size_t labels = wide(tables_.labels);
  places->blocks.copy(places_->blocks, first, blocks, stream_);
  places->links.copy(places_->links, first, blocks, stream_);
  places->far_key.copy(places_->far_key, first * labels, blocks * labels, stream_);
  auto edge = std::make_unique<CudaViterbiMessages<Real>>(*this);
  edge->store_ = std::move(store);
  edge->places_ = std::move(places);
  edge->range_ = range;
  edge->has_left_ = false;
  edge->is_edge_ = true;
  edge->followed_ = false;
  return edge;
}

template <class Real>
std::span<const TraceRecord> CudaViterbiMessages<Real>::trace_packed(TraceCursor& cursor) {
  PinnedBuffer<TraceRecord>& host = buffers_->parts[0];
  host.reserve(wide(range_.size()) + 1);
  follow(cursor, host.get());
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(buffers_->down.get()));
  followed_ = false;
  move_to(cursor);
  return {host.get(), wide(follower_.segments())};
}

template class CudaViterbiMessages<float>;
template class CudaViterbiMessages<double>;

}  // namespace semicrf::cuda
