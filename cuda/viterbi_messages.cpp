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
std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }

// Segments brought to the host at a time: while one part is taken over, the next is copied.
constexpr std::int64_t kPart = 1 << 20;

}  // namespace

TraceCut trace_cut(std::int64_t positions, int max_duration) {
  // Pieces for all groups of lanes a large card holds; but what a piece computes besides must not be most of
  // it.
  constexpr std::int64_t kPieces = 1 << 13;
  constexpr std::int64_t kShortest = 256;
  TraceCut cut;
  cut.halo = 2 * static_cast<std::int64_t>(max_duration) + 128;
  cut.piece = std::max({kShortest, cut.halo / 2, (positions + kPieces - 1) / kPieces});
  return cut;
}

template <class Real>
CudaViterbiMessages<Real>::CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass,
                                               std::shared_ptr<const DeviceWindow> window,
                                               std::shared_ptr<const StoreBuffers<Real>> store,
                                               std::shared_ptr<TraceBuffers> buffers,
                                               const std::vector<RunOutcome>& outcomes, PositionRange range,
                                               std::int64_t run, const BoundaryState* left,
                                               cudaStream_t stream)
    : tables_(pass.chain().view()),
      window_(std::move(window)),
      store_(std::move(store)),
      buffers_(std::move(buffers)),
      range_(range),
      run_(run),
      stream_(stream),
      has_left_(left != nullptr) {
  std::vector<BlockOrigin> runs;
  double mass = 0;  // position shifts since the window's first position: left out of all values
  for (const RunOutcome& outcome : outcomes) {
    runs.push_back({outcome.whole + outcome.report.origin_whole + outcome.report.mass_before - mass,
                    outcome.offset + outcome.report.origin});
    mass += outcome.report.mass_inside;
  }
  buffers_->runs.upload(runs, stream);
  buffers_->blocks.reserve(store_->blocks());
  if (buffers_->largest_bias.size() == 0) {
    const auto& host = pass.chain().host();
    std::vector<double> largest(wide(host.labels), kNegativeInfinity);
    for (int k = 0; k < host.duration; ++k)
      for (std::size_t c = 0; c < largest.size(); ++c)
        largest[c] = std::max(largest[c], host.bias[wide(k) * wide(host.width) + c]);
    buffers_->largest_bias.upload(largest, stream);
  }
  if (left != nullptr) {
    left_ = {left->whole, left->offset};
    std::vector<double> entries = left->ring;
    entries.insert(entries.end(), left->message.begin(), left->message.end());
    entries.insert(entries.end(), left->tail.begin(), left->tail.end());
    buffers_->left_entries.upload(entries, stream);
  }
  place_blocks(parameters(), stream);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
}

// From left to right; the last one begins at the cursor.
template <class Real>
std::vector<TracePiece> CudaViterbiMessages<Real>::make_pieces(const TraceCursor& cursor) const {
  const TraceCut cut = trace_cut(range_.size(), tables_.duration);
  std::vector<TracePiece> pieces;
  const std::int64_t end = std::max(cursor.boundary, range_.begin + 1);
  std::int64_t out = 0;
  for (std::int64_t left = range_.begin; left < end; left += cut.piece) {
    TracePiece piece{};
    piece.left = left;
    piece.right = std::min(left + cut.piece, end);
    piece.out = out;
    piece.result = static_cast<int>(pieces.size());
    out += piece.right - piece.left + 2;
    if (piece.right == end) {
      piece.start = state_of(cursor);
    } else {
      piece.start = {std::min(piece.right + cut.halo, end), 0, TracePhase::kFindStart, 0};
      piece.guess = 1;
    }
    pieces.push_back(piece);
  }
  return pieces;
}

template <class Real>
TraceParameters<Real> CudaViterbiMessages<Real>::parameters() const {
  TraceParameters<Real> p{};
  p.tables = tables_;
  p.sequence = window_->view();
  p.store = store_->view();
  p.left_state = has_left_ ? buffers_->left_entries.get() : nullptr;
  p.left = left_;
  p.runs = buffers_->runs.get();
  p.blocks = buffers_->blocks.get();
  p.largest_bias = buffers_->largest_bias.get();
  p.range_begin = range_.begin;
  p.range_end = range_.end;
  p.run = run_;
  p.pieces = buffers_->pieces.get();
  p.records = buffers_->records.get();
  p.results = buffers_->results.get();
  return p;
}

template <class Real>
void CudaViterbiMessages<Real>::launch(const std::vector<TracePiece>& pieces) {
  buffers_->pieces.upload(pieces, stream_);
  trace_pieces(parameters(), static_cast<int>(pieces.size()), stream_);
}

// Traces all pieces; then, together, those whose right neighbour left the path elsewhere than they took it
// up; and so on.
template <class Real>
void CudaViterbiMessages<Real>::follow(const TraceCursor& cursor) {
  std::vector<TracePiece> pieces = make_pieces(cursor);
  buffers_->results.reserve(pieces.size());
  buffers_->records.reserve(wide(pieces.back().out + (pieces.back().right - pieces.back().left) + 2));
  launch(pieces);
  std::vector<TraceResult> results = buffers_->results.download(pieces.size(), stream_);
  std::size_t first = 0;  // the leftmost piece that the path reaches
  for (;;) {
    std::vector<TracePiece> again;
    for (std::size_t i = pieces.size(); i-- > 0;) {
      if (i + 1 < pieces.size() && !same_state(results[i].entry, results[i + 1].exit)) {
        pieces[i].start = results[i + 1].exit;
        pieces[i].guess = 0;
        again.push_back(pieces[i]);
      }
      first = i;
      if (results[i].blocked != 0 || results[i].exit.phase == TracePhase::kDone) break;
    }
    if (again.empty()) break;
    launch(again);
    results = buffers_->results.download(pieces.size(), stream_);
  }
  final_ = results[first].exit;
  end_ = cursor.phase == TraceCursor::Phase::kInTail ? cursor.segment_end : cursor.boundary;
  gather(pieces, results, first);
  followed_ = true;
  given_ = 0;
}

// The records of pieces from `first` on, right to left, into one array.
template <class Real>
void CudaViterbiMessages<Real>::gather(const std::vector<TracePiece>& pieces,
                                       const std::vector<TraceResult>& results, std::size_t first) {
  std::vector<std::int64_t> from, offsets;
  std::vector<int> counts;
  total_ = 0;
  for (std::size_t i = pieces.size(); i-- > first;) {
    from.push_back(pieces[i].out);
    offsets.push_back(total_);
    counts.push_back(results[i].records);
    total_ += results[i].records;
  }
  if (total_ == 0) return;
  TraceBuffers& b = *buffers_;
  b.path.reserve(wide(total_));
  b.first.upload(from, stream_);
  b.offsets.upload(offsets, stream_);
  b.counts.upload(counts, stream_);
  gather_records(b.records.get(), b.first.get(), b.offsets.get(), b.counts.get(),
                 static_cast<int>(counts.size()), b.path.get(), stream_);
}

// Begins to copy the part of the path from segment `first` on.
template <class Real>
void CudaViterbiMessages<Real>::fetch(std::int64_t first) {
  if (first >= total_) return;
  const std::size_t count = wide(std::min(kPart, total_ - first));
  const std::size_t slot = wide(first / kPart % 2);
  buffers_->parts[slot].reserve(count);
  buffers_->path.download(buffers_->parts[slot].get(), wide(first), count, stream_);
  buffers_->copied[slot].record(stream_);
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
    follow(cursor);
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

template <class Real>
std::span<const TraceRecord> CudaViterbiMessages<Real>::take_packed(TraceCursor& cursor) {
  followed_ = false;
  move_to(cursor);
  PinnedBuffer<TraceRecord>& host = buffers_->parts[0];
  host.reserve(wide(total_));
  buffers_->path.download(host.get(), 0, wide(total_), stream_);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return {host.get(), wide(total_)};
}

template class CudaViterbiMessages<float>;
template class CudaViterbiMessages<double>;

}  // namespace semicrf::cuda
