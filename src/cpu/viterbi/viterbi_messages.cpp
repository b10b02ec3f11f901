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

// Computes the chunk again when the next step needs messages that were not kept.
void CpuViterbiMessages::provide(const TraceCursor& cursor) {
  const Chunk& chunk = chunks_[entered_];
  const std::int64_t in_tail = cursor.phase == TraceCursor::Phase::kInTail ? 1 : 0;
  const std::int64_t begin = std::max(chunk.range.begin, cursor.boundary - tables_.longest - in_tail);
  if (restored_ || chunk.path.covers(begin, cursor.boundary)) return;
  restore_(chunk.range, chunk.redone ? &*chunk.left : nullptr, all_);
  all_.whole = chunk.path.head.whole;
  all_.offset = chunk.path.head.offset;
  restored_ = true;
  tracer_.forget_place();
}

bool CpuViterbiMessages::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  while (cursor.phase != TraceCursor::Phase::kDone && cursor.boundary > chunks_.front().range.begin) {
    const std::int64_t size = chunks_.front().range.size();
    const auto chunk = static_cast<std::size_t>((cursor.boundary - 1 - chunks_.front().range.begin) / size);
    if (chunk != entered_) enter(chunk);
    const bool joined = cursor.phase != TraceCursor::Phase::kFindSource && join_known_path(cursor, reversed);
    if (!joined) {
      provide(cursor);
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
