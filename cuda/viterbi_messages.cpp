#include "cuda/viterbi_messages.h"

#include <algorithm>

namespace semicrf::cuda {
namespace {

bool same_state(const TraceState& a, const TraceState& b) {
  return a.boundary == b.boundary && a.phase == b.phase && a.label == b.label &&
         (a.phase != TracePhase::kInTail || a.segment_end == b.segment_end);
}
TraceState state_of(const TraceCursor& cursor) {
  return {cursor.boundary, cursor.segment_end, static_cast<TracePhase>(cursor.phase), cursor.label};
}

// Positions per piece, and how far right of it a path that is not known yet begins, in K.
constexpr std::int64_t kPiece = 2048;
constexpr std::int64_t kHaloDurations = 4;

}  // namespace

template <class Real>
CudaViterbiMessages<Real>::CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass,
                                               std::shared_ptr<const DeviceWindow> window,
                                               std::shared_ptr<const StoreBuffers<Real>> store,
                                               const std::vector<RunOutcome>& outcomes, PositionRange range,
                                               std::int64_t run, const BoundaryState* left,
                                               cudaStream_t stream)
    : tables_(pass.chain().view()),
      window_(std::move(window)),
      store_(std::move(store)),
      range_(range),
      run_(run),
      stream_(stream),
      has_left_(left != nullptr) {
  std::vector<double> whole, offset;
  double mass = 0;  // position shifts since the window's first position: left out of all values
  for (const RunOutcome& outcome : outcomes) {
    whole.push_back(outcome.whole + outcome.report.origin_whole + outcome.report.mass_before - mass);
    offset.push_back(outcome.offset + outcome.report.origin);
    mass += outcome.report.mass_inside;
  }
  run_whole_.upload(whole, stream);
  run_offset_.upload(offset, stream);
  const auto& host = pass.chain().host();
  std::vector<double> largest(static_cast<std::size_t>(host.labels), kNegativeInfinity);
  for (int k = 0; k < host.duration; ++k) {
    for (std::size_t c = 0; c < largest.size(); ++c) {
      largest[c] = std::max(
          largest[c], host.bias[static_cast<std::size_t>(k) * static_cast<std::size_t>(host.width) + c]);
    }
  }
  largest_bias_.upload(largest, stream);
  std::vector<double> entries;
  if (left != nullptr) {
    left_whole_ = left->whole;
    left_offset_ = left->offset;
    entries = left->ring;
    entries.insert(entries.end(), left->message.begin(), left->message.end());
    entries.insert(entries.end(), left->tail.begin(), left->tail.end());
    left_entries_.upload(entries, stream);
  }
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// From left to right; the last one begins at the cursor.
template <class Real>
std::vector<TracePiece> CudaViterbiMessages<Real>::make_pieces(const TraceCursor& cursor) const {
  std::vector<TracePiece> pieces;
  const std::int64_t halo = kHaloDurations * tables_.duration + 256;
  const std::int64_t length = std::max<std::int64_t>(kPiece, 4 * tables_.duration);
  const std::int64_t end = std::max(cursor.boundary, range_.begin + 1);
  std::int64_t out = 0;
  for (std::int64_t left = range_.begin; left < end; left += length) {
    TracePiece piece{};
    piece.left = left;
    piece.right = std::min(left + length, end);
    piece.out = out;
    out += piece.right - piece.left + 2;
    if (piece.right == end) {
      piece.start = state_of(cursor);
    } else {
      piece.start = {std::min(piece.right + halo, end), 0, TracePhase::kFindStart, 0};
      piece.guess = 1;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

template <class Real>
TraceParameters<Real> CudaViterbiMessages<Real>::parameters(const DeviceBuffer<TracePiece>& pieces,
                                                            const DeviceBuffer<TraceRecord>& records,
                                                            const DeviceBuffer<TraceResult>& results) const {
  TraceParameters<Real> p{};
  p.tables = tables_;
  p.sequence = window_->view();
  p.store = store_->view();
  p.left_state = has_left_ ? left_entries_.get() : nullptr;
  p.left_whole = left_whole_;
  p.left_offset = left_offset_;
  p.run_whole = run_whole_.get();
  p.run_offset = run_offset_.get();
  p.largest_bias = largest_bias_.get();
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = run_;
  p.pieces = pieces.get();
  p.records = records.get();
  p.results = results.get();
  return p;
}

template <class Real>
bool CudaViterbiMessages<Real>::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  if (cursor.phase == TraceCursor::Phase::kDone) return false;
  // Nothing but the source of a segment that starts at the window's left edge can be asked for left of its
  // first block.
  std::vector<TracePiece> pieces = make_pieces(cursor);
  DeviceBuffer<TracePiece> piece_buffer;
  DeviceBuffer<TraceResult> result_buffer(pieces.size());
  piece_buffer.upload(pieces, stream_);
  DeviceBuffer<TraceRecord> records(
      static_cast<std::size_t>(pieces.back().out + (pieces.back().right - pieces.back().left) + 2));
  trace_pieces(parameters(piece_buffer, records, result_buffer), static_cast<int>(pieces.size()), stream_);
  std::vector<TraceResult> results = result_buffer.download(pieces.size(), stream_);

  // Right to left: the state in which the path leaves a piece is the one the next must have entered in.
  TraceState state = pieces.back().start;
  std::size_t last_used = pieces.size();
  for (std::size_t i = pieces.size(); i-- > 0;) {
    if (i + 1 < pieces.size() && !same_state(results[i].entry, state)) {
      pieces[i].start = state;
      pieces[i].guess = 0;
      piece_buffer.upload(&pieces[i], 1, stream_);
      auto p = parameters(piece_buffer, records, result_buffer);
      p.results = result_buffer.get() + i;
      trace_pieces(p, 1, stream_);
      result_buffer.download(&results[i], i, 1, stream_);
      SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
    }
    state = results[i].exit;
    last_used = i;
    if (results[i].blocked != 0 || state.phase == TracePhase::kDone) break;
  }

  std::vector<std::int64_t> first, offsets;
  std::vector<int> counts;
  std::int64_t total = 0;
  for (std::size_t i = pieces.size(); i-- > last_used;) {
    first.push_back(pieces[i].out);
    offsets.push_back(total);
    counts.push_back(results[i].records);
    total += results[i].records;
  }
  std::vector<TraceRecord> found;
  if (total > 0) {
    DeviceBuffer<std::int64_t> first_buffer, offset_buffer;
    DeviceBuffer<int> count_buffer;
    DeviceBuffer<TraceRecord> gathered(static_cast<std::size_t>(total));
    first_buffer.upload(first, stream_);
    offset_buffer.upload(offsets, stream_);
    count_buffer.upload(counts, stream_);
    gather_records(records.get(), first_buffer.get(), offset_buffer.get(), count_buffer.get(),
                   static_cast<int>(counts.size()), gathered.get(), stream_);
    found = gathered.download(static_cast<std::size_t>(total), stream_);
  }
  // A segment ends where the one to its right begins; the first of them where the cursor stood.
  std::int64_t end = cursor.phase == TraceCursor::Phase::kInTail ? cursor.segment_end : cursor.boundary;
  const std::size_t room = reversed.size() + found.size();
  if (room > reversed.capacity()) reversed.reserve(std::max(room, 2 * reversed.capacity()));
  for (const TraceRecord& record : found) {
    const std::int64_t begin = range_.begin + record.begin;
    reversed.push_back({begin, end, record.label});
    end = begin;
  }
  cursor.boundary = state.boundary;
  cursor.segment_end = state.segment_end;
  cursor.phase = static_cast<TraceCursor::Phase>(state.phase);
  cursor.label = state.label;
  return false;
}

template class CudaViterbiMessages<float>;
template class CudaViterbiMessages<double>;

}  // namespace semicrf::cuda
