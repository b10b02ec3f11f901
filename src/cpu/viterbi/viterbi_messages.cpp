#include "cpu/viterbi/viterbi_messages.h"

#include <algorithm>
#include <utility>

namespace semicrf::cpu {

CpuViterbiMessages::CpuViterbiMessages(const TraceTables& tables, const ScoreWindow& scores,
                                       std::vector<Chunk> chunks, Restore restore)
    : tables_(tables),
      tracer_(tables),
      scores_(scores),
      chunks_(std::move(chunks)),
      restore_(std::move(restore)),
      entered_(chunks_.size()) {}

// Every chunk is followed from its own messages and the state at its left edge, wherever windows are cut:
// sums that are equal but for rounding then decide for the same path.
void CpuViterbiMessages::enter(std::size_t chunk) {
  entered_ = chunk;
  restart_pieces();
  restored_ = false;
  const auto& left = chunks_[chunk].left;
  tracer_.look_at(scores_, chunks_[chunk].range, left ? &*left : nullptr,
                  [this](std::int64_t position) -> const ViterbiChunk& { return messages_at(position); });
}

void CpuViterbiMessages::restart_pieces() {
  piece_ = 0;
  piece_end_ = chunks_[entered_].range.end;
}

const ViterbiChunk& CpuViterbiMessages::messages_at(std::int64_t position) const {
  return restored_ ? all_ : chunks_[entered_].path.at(position);
}

// When the cursor stands where a segment of the chunk's known path ends, or is in its tail: takes the rest of
// that path.
bool CpuViterbiMessages::join_known_path(TraceCursor& cursor, std::vector<Segment>& reversed) {
  const ChunkPath& path = chunks_[entered_].path;
  const auto end_of_rest = path.pieces.size();
  if (piece_ > 0 && cursor.boundary >= piece_end_ + path.pieces[piece_ - 1].length) restart_pieces();
  while (piece_ < end_of_rest && piece_end_ > cursor.boundary) piece_end_ -= path.pieces[piece_++].length;
  const ChunkPath::Piece known = piece_ < end_of_rest ? path.pieces[piece_] : ChunkPath::Piece{};
  const bool ends_here = piece_ < end_of_rest && piece_end_ == cursor.boundary && known.label == cursor.label;
  if (cursor.phase == TraceCursor::Phase::kFindStart) {
    if (!ends_here) return false;
    take_pieces(cursor, cursor.boundary, reversed);
    return true;
  }
  // Where a segment in its tail begins depends on the boundary and the label alone, not on its end.
  if (ends_here && known.length > tables_.longest) {
    take_pieces(cursor, cursor.segment_end, reversed);
    return true;
  }
  if (piece_ > 0 && piece_end_ < cursor.boundary - tables_.longest &&
      path.pieces[piece_ - 1].label == cursor.label) {
    reversed.push_back({piece_end_, cursor.segment_end, cursor.label});
    take_pieces(cursor, piece_end_, reversed);
    return true;
  }
  if (piece_ == end_of_rest && piece_end_ >= cursor.boundary && cursor.boundary > path.rest.boundary &&
      path.rest.phase == TraceCursor::Phase::kInTail && path.rest.label == cursor.label) {
    cursor.boundary = path.rest.boundary;
    return true;
  }
  return false;
}

// The known path from its next piece on, which ends at `end` here.
void CpuViterbiMessages::take_pieces(TraceCursor& cursor, std::int64_t end, std::vector<Segment>& reversed) {
  const ChunkPath& path = chunks_[entered_].path;
  for (; piece_ < path.pieces.size(); ++piece_) {
    piece_end_ -= path.pieces[piece_].length;
    reversed.push_back({piece_end_, end, path.pieces[piece_].label});
    end = piece_end_;
  }
  cursor = path.rest;
}

// Computes the chunk again when the next step needs messages that were not kept. False: an edge does not have
// what it needs.
bool CpuViterbiMessages::provide(const TraceCursor& cursor) {
  const Chunk& chunk = chunks_[entered_];
  const std::int64_t in_tail = cursor.phase == TraceCursor::Phase::kInTail ? 1 : 0;
  const std::int64_t begin = std::max(chunk.range.begin, cursor.boundary - tables_.longest - in_tail);
  if (is_edge()) return begin > chunk.range.begin && begin >= chunk.path.right_part().begin;
  if (restored_ || chunk.path.covers(begin, cursor.boundary)) return true;
  restore_(chunk.range, chunk.redone ? &*chunk.left : nullptr, all_);
  all_.whole = chunk.path.head.whole;
  all_.offset = chunk.path.head.offset;
  restored_ = true;
  tracer_.forget_place();
  return true;
}

std::size_t CpuViterbiMessages::edge_bytes(const ChainModel& model, std::int64_t chunk,
                                           std::size_t path_bytes) {
  const auto blocks = static_cast<std::size_t>((chunk + kBlock - 1) / kBlock);
  const ChunkPath::Kept kept = ChunkPath::kept_blocks(model, blocks);
  const std::size_t rows = kBlock * (kept.tail > 0 ? kept.tail : kept.head);
  return path_bytes + rows * static_cast<std::size_t>(model.num_labels) * sizeof(double);
}

std::unique_ptr<ViterbiMessages> CpuViterbiMessages::right_edge(std::int64_t /*positions*/) {
  Chunk last = std::move(chunks_.back());
  entered_ = chunks_.size();
  last.left.reset();  // the path left of the chunk is followed elsewhere
  if (!last.path.tail.empty()) last.path.head = ViterbiChunk();
  const PositionRange range{last.path.right_part().begin, last.range.end};
  std::vector<Chunk> chunks;
  chunks.push_back(std::move(last));
  auto edge = std::make_unique<CpuViterbiMessages>(tables_, scores_, std::move(chunks), nullptr);
  edge->keep_scores(scores_, range);
  return edge;
}

void CpuViterbiMessages::keep_scores(const ScoreWindow& scores, PositionRange range) {
  scores_ = scores;
  scores_.begin = range.begin;
  scores_.end = range.end;
  scores_.emissions = scores_.start_scores = scores_.end_scores = {};
  const auto first = static_cast<std::size_t>(range.begin - scores.begin) * tables_.labels;
  const auto count = static_cast<std::size_t>(range.size()) * tables_.labels;
  const auto keep = [&](const auto* from, auto& rows, auto& to) {
    if (from == nullptr) return;
    rows.assign(from + first, from + first + count);
    to = rows.data();
  };
  keep(scores.emissions.f32, rows32_, scores_.emissions.f32);
  keep(scores.emissions.f64, rows64_, scores_.emissions.f64);
}

bool CpuViterbiMessages::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  while (cursor.phase != TraceCursor::Phase::kDone && cursor.boundary > chunks_.front().range.begin) {
    const std::int64_t size = chunks_.front().range.size();
    const auto chunk = static_cast<std::size_t>((cursor.boundary - 1 - chunks_.front().range.begin) / size);
    if (chunk != entered_) enter(chunk);
    const bool joined = cursor.phase != TraceCursor::Phase::kFindSource && join_known_path(cursor, reversed);
    if (joined && is_edge()) return false;
    if (!joined) {
      if (!provide(cursor)) return false;
      tracer_.step(cursor, reversed);
    }
    // A segment that begins at the chunk's left edge: its source is in the state there.
    if (cursor.phase == TraceCursor::Phase::kFindSource && cursor.boundary == chunks_[entered_].range.begin)
      tracer_.step(cursor, reversed);
    if (joined) return true;
  }
  return false;
}

}  // namespace semicrf::cpu
