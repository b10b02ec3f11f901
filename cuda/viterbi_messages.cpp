#include "cuda/viterbi_messages.h"

#include <algorithm>

#include "cuda/sizes.h"

namespace semicrf::cuda {
namespace {

bool same_state(const TraceState& a, const TraceState& b) {
  return a.boundary == b.boundary && a.phase == b.phase && a.label == b.label &&
         (a.phase != TracePhase::kInTail || a.segment_end == b.segment_end);
}
TraceState state_of(const TraceCursor& cursor) {
  return {cursor.boundary, cursor.segment_end, static_cast<TracePhase>(cursor.phase), cursor.label};
}

// Segments brought to the host at a time: while one part is taken over, the next is copied.
constexpr std::int64_t kPart = 1 << 20;

std::size_t shared_limit() { return wide(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)); }

}  // namespace

template <class Real>
CudaViterbiMessages<Real>::CudaViterbiMessages(
    const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
    std::shared_ptr<const StoreBuffers<Real>> store, std::shared_ptr<TracePlaces> places,
    std::shared_ptr<TraceBuffers> buffers, const std::vector<RunOutcome>& outcomes, PositionRange range,
    std::int64_t run, const BoundaryState* left, cudaStream_t stream)
    : tables_(pass.chain().view()),
      shape_(trace_shape(tables_.labels, tables_.duration, tables_.tail != 0, sizeof(Real), shared_limit())),
      window_(std::move(window)),
      store_(std::move(store)),
      places_(std::move(places)),
      buffers_(std::move(buffers)),
      range_(range),
      run_(run),
      stream_(stream) {
  places_->blocks.reserve(store_->blocks());
  places_->links.reserve(store_->blocks());
  places_->far_key.reserve(store_->blocks() * wide(tables_.labels));
  if (buffers_->largest_bias.size() == 0) {
    const auto& host = pass.chain().host();
    std::vector<double> largest(wide(host.labels), kNegativeInfinity);
    for (int k = 0; k < host.duration; ++k)
      for (std::size_t c = 0; c < largest.size(); ++c)
        largest[c] = std::max(largest[c], host.bias[wide(k) * wide(host.width) + c]);
    buffers_->largest_bias.upload(largest, stream);
  }
  place(outcomes, left);
}

template <class Real>
void CudaViterbiMessages<Real>::join(const BoundaryState& left, const std::vector<RunOutcome>& outcomes) {
  place(outcomes, &left);
}

// Brings all blocks to common scales.
template <class Real>
void CudaViterbiMessages<Real>::place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left) {
  std::vector<BlockOrigin> runs;
  double mass = 0;  // position shifts since the window's first position: left out of all values
  for (const RunOutcome& outcome : outcomes) {
    runs.push_back({outcome.whole + outcome.report.origin_whole + outcome.report.mass_before - mass,
                    outcome.offset + outcome.report.origin});
    mass += outcome.report.mass_inside;
  }
  places_->runs.upload(runs, stream_);
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

// The first one begins at the cursor.
template <class Real>
void CudaViterbiMessages<Real>::make_pieces(const TraceCursor& cursor) {
  const TraceCut cut = trace_cut(range_.size(), tables_.duration);
  // Steps of an edge must not need what lies left of it.
  const std::int64_t begin = range_.begin + (is_edge_ ? tables_.duration + 2 * kBlock : 0);
  const std::int64_t end = std::max(cursor.boundary, begin + 1);
  pieces_ = wide((end - begin + cut.piece - 1) / cut.piece);
  buffers_->host_pieces.reserve(pieces_);
  records_ = 0;
  for (std::size_t i = 0; i < pieces_; ++i) {
    TracePiece& piece = buffers_->host_pieces.get()[i];
    piece.left = begin + static_cast<std::int64_t>(pieces_ - 1 - i) * cut.piece;
    piece.right = std::min(piece.left + cut.piece, end);
    piece.out = records_;
    piece.result = static_cast<int>(i);
    piece.guess = i > 0 ? 1 : 0;
    piece.start = i > 0 ? TraceState{std::min(piece.right + cut.halo, end), 0, TracePhase::kFindStart, 0}
                        : state_of(cursor);
    records_ += piece.right - piece.left + 2;
  }
}

template <class Real>
TraceParameters<Real> CudaViterbiMessages<Real>::parameters() const {
  TraceParameters<Real> p{};
  p.tables = tables_;
  p.sequence = window_->view();
  p.store = store_->view();
  p.left_state = has_left_ ? places_->left_entries.get() : nullptr;
  p.left = left_;
  p.runs = places_->runs.get();
  p.blocks = places_->blocks.get();
  p.links = places_->links.get();
  p.far_key = places_->far_key.get();
  p.largest_bias = buffers_->largest_bias.get();
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = run_;
  p.shape = shape_;
  p.pieces = buffers_->pieces.get();
  p.records = buffers_->records.get();
  p.results = buffers_->results.get();
  return p;
}

// Sends all pieces on their way.
template <class Real>
std::vector<typename CudaViterbiMessages<Real>::Batch> CudaViterbiMessages<Real>::send_out() {
  TraceBuffers& b = *buffers_;
  b.results.reserve(pieces_);
  b.host_results.reserve(2 * pieces_);
  b.records.reserve(wide(records_));
  b.path.reserve(wide(records_));
  b.tasks.reserve(pieces_);
  b.host_tasks.reserve(pieces_);
  b.pieces.upload(b.host_pieces.get(), pieces_, stream_);
  b.ready.record(stream_);
  const std::size_t count = trace_batches(pieces_);
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; ++i) {
    const Batch batch{pieces_ * i / count, pieces_ * (i + 1) / count};
    const cudaStream_t stream = b.following[i].get();
    b.ready.hold(stream);
    trace_pieces(parameters(), static_cast<int>(batch.first), static_cast<int>(batch.last - batch.first),
                 stream);
    b.results.download(b.host_results.get() + batch.first, batch.first, batch.last - batch.first, stream);
    b.followed[i].record(stream);
    batches.push_back(batch);
  }
  return batches;
}

// Where the path is known, batch after batch from right to left, it is put in order, and copied to `host`
// unless that is null, while pieces further left are still followed.
template <class Real>
void CudaViterbiMessages<Real>::follow(const TraceCursor& cursor, TraceRecord* host) {
  make_pieces(cursor);
  std::vector<Batch> batches = send_out();
  const TraceBuffers& b = *buffers_;
  total_ = given_ = 0;
  bool goes_on = true;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    b.followed[i].wait();
    if (!goes_on) continue;  // the path ended right of these pieces
    goes_on = settle(batches[i], i);
    gather(batches[i], host);
  }
  end_ = cursor.phase == TraceCursor::Phase::kInTail ? cursor.segment_end : cursor.boundary;
  followed_ = true;
}

// Pieces whose right neighbour left the path elsewhere than they took it up: a segment may pass over all of
// them; they may have been right before a neighbour was changed; else they are followed again, together, but
// for those whose neighbour is followed again itself. And so on. False: the path ends in this batch, which
// then ends there as well.
template <class Real>
bool CudaViterbiMessages<Real>::settle(Batch& batch, std::size_t index) {
  TracePiece* const pieces = buffers_->host_pieces.get();
  TraceResult* const results = buffers_->host_results.get();
  const std::vector<TraceResult> guessed(results + batch.first, results + batch.last);
  std::vector<char> followed_again(guessed.size(), 0);
  for (;;) {
    std::vector<TracePiece> again;
    std::size_t last = batch.last;
    bool neighbour_stays = true;
    for (std::size_t i = batch.first; i < last; ++i) {
      const std::size_t own = i - batch.first;
      bool stays = i == 0 || !neighbour_stays || same_state(results[i].entry, results[i - 1].exit);
      if (!stays) {
        const TraceState& truth = results[i - 1].exit;
        stays = true;
        if (followed_again[own] == 0 && same_state(guessed[own].entry, truth)) {
          results[i] = guessed[own];
        } else if (truth.phase == TracePhase::kFindSource && truth.boundary <= pieces[i].left &&
                   pieces[i].left != range_.begin) {
          results[i] = {truth, truth, 0, 0};
        } else {
          stays = false;
          followed_again[own] = 1;
          pieces[i].start = truth;
          pieces[i].guess = 0;
          again.push_back(pieces[i]);
        }
      }
      neighbour_stays = stays;
      if (results[i].blocked != 0 || results[i].exit.phase == TracePhase::kDone) last = i + 1;
    }
    if (again.empty()) {
      batch.last = last;
      final_ = results[last - 1].exit;
      return results[last - 1].blocked == 0 && final_.phase != TracePhase::kDone;
    }
    follow_again(again, index);
  }
}

template <class Real>
void CudaViterbiMessages<Real>::follow_again(const std::vector<TracePiece>& again, std::size_t index) {
  TraceBuffers& b = *buffers_;
  const cudaStream_t stream = b.following[index].get();
  b.again.upload(again, stream);
  TraceParameters<Real> p = parameters();
  p.pieces = b.again.get();
  trace_pieces(p, 0, static_cast<int>(again.size()), stream);
  // Beside the others, some of which were changed here.
  const auto first = wide(again.front().result);
  TraceResult* const host = b.host_results.get();
  b.results.download(host + pieces_, first, wide(again.back().result) + 1 - first, stream);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  for (const TracePiece& piece : again) host[piece.result] = host[pieces_ + wide(piece.result) - first];
}

// The records of a batch after those right of it.
template <class Real>
void CudaViterbiMessages<Real>::gather(const Batch& batch, TraceRecord* host) {
  TraceBuffers& b = *buffers_;
  const std::int64_t before = total_;
  for (std::size_t i = batch.first; i < batch.last; ++i) {
    const std::int64_t count = b.host_results.get()[i].records;
    b.host_tasks.get()[i] = {b.host_pieces.get()[i].out, total_, count};
    total_ += count;
  }
  if (total_ == before) return;
  const cudaStream_t stream = b.down.get();
  const std::size_t count = batch.last - batch.first;
  GatherTask* const tasks = b.tasks.get() + batch.first;
  upload_bytes(tasks, b.host_tasks.get() + batch.first, count * sizeof(GatherTask), stream);
  gather_records(b.records.get(), tasks, static_cast<int>(count), b.path.get(), stream);
  if (host != nullptr) b.path.download(host + before, wide(before), wide(total_ - before), stream);
}

// Begins to copy the part of the path from segment `first` on.
template <class Real>
void CudaViterbiMessages<Real>::fetch(std::int64_t first) {
  if (first >= total_) return;
  const std::size_t count = wide(std::min(kPart, total_ - first));
  const std::size_t slot = wide(first / kPart % 2);
  buffers_->parts[slot].reserve(count);
  const cudaStream_t stream = buffers_->down.get();
  buffers_->path.download(buffers_->parts[slot].get(), wide(first), count, stream);
  buffers_->copied[slot].record(stream);
}

template <class Real>
void CudaViterbiMessages<Real>::move_to(TraceCursor& cursor) const {
  cursor.boundary = final_.boundary;
  cursor.segment_end = final_.segment_end;
  cursor.phase = static_cast<TraceCursor::Phase>(final_.phase);
  cursor.label = final_.label;
}

template <class Real>
bool CudaViterbiMessages<Real>::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  if (!followed_) {
    if (cursor.phase == TraceCursor::Phase::kDone) return false;
    if (is_edge_ && cursor.boundary <= range_.begin + tables_.duration + 2 * kBlock) return false;
    follow(cursor, nullptr);
    fetch(0);
  }
  if (given_ < total_) {
    const std::int64_t part = given_;
    given_ = std::min(total_, part + kPart);
    fetch(given_);
    buffers_->copied[wide(part / kPart % 2)].wait();
    const TraceRecord* records = buffers_->parts[wide(part / kPart % 2)].get();
    reversed.reserve(reversed.size() + wide(given_ - part));
    constexpr TraceRecord kLabels = (TraceRecord{1} << kRecordLabelBits) - 1;
    for (std::int64_t i = 0; i < given_ - part; ++i) {
      const std::int64_t begin = end_ - static_cast<std::int64_t>(records[i] >> kRecordLabelBits);
      reversed.push_back({begin, end_, static_cast<int>(records[i] & kLabels)});
      end_ = begin;
    }
  }
  if (given_ < total_) return true;
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
  return {host.get(), wide(total_)};
}

template class CudaViterbiMessages<float>;
template class CudaViterbiMessages<double>;

}  // namespace semicrf::cuda
