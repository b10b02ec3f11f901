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
  piece_ = 0;
  piece_end_ = chunks_[chunk].range.end;
  restored_ = false;
  const auto& left = chunks_[chunk].left;
  tracer_.look_at(scores_, chunks_[chunk].range, left ? &*left : nullptr,
                  [this](std::int64_t position) -> const ViterbiChunk& { return messages_at(position); });
}

const ViterbiChunk& CpuViterbiMessages::messages_at(std::int64_t position) const {
  return restored_ ? all_ : chunks_[entered_].path.at(position);
}

// When the cursor stands where a segment of the chunk's known path ends: takes the rest of that path.
bool CpuViterbiMessages::join_known_path(TraceCursor& cursor, std::vector<Segment>& reversed) {
  const ChunkPath& path = chunks_[entered_].path;
  while (piece_ < path.pieces.size() && piece_end_ > cursor.boundary)
    piece_end_ -= path.pieces[piece_++].length;
  if (piece_ == path.pieces.size() || piece_end_ != cursor.boundary ||
      path.pieces[piece_].label != cursor.label)
    return false;
  std::int64_t end = cursor.boundary;
  for (; piece_ < path.pieces.size(); ++piece_) {
    const std::int64_t begin = end - path.pieces[piece_].length;
    reversed.push_back({begin, end, path.pieces[piece_].label});
    end = begin;
  }
  piece_end_ = end;
  cursor = path.rest;
  return true;
}

// Computes the chunk again when the next step needs messages that were not kept.
void CpuViterbiMessages::provide(const TraceCursor& cursor) {
  const Chunk& chunk = chunks_[entered_];
  const std::int64_t begin = std::max(chunk.range.begin, cursor.boundary - tables_.longest);
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
    const bool joined = cursor.phase == TraceCursor::Phase::kFindStart && join_known_path(cursor, reversed);
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
