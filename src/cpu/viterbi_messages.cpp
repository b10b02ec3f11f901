#include "cpu/viterbi_messages.h"

#include <algorithm>
#include <utility>

namespace semicrf::cpu {

CpuViterbiMessages::CpuViterbiMessages(const TraceTables& tables, bool wide, const ScoreWindow& scores,
                                       PositionRange range, const BoundaryState* left,
                                       std::int64_t chunk_size, std::vector<ChunkPath> paths, Restore restore)
    : tables_(tables),
      tracer_(tables, wide),
      scores_(scores),
      range_(range),
      chunk_size_(chunk_size),
      paths_(std::move(paths)),
      restore_(std::move(restore)) {
  if (left != nullptr) left_ = *left;
  tracer_.look_at(scores_, range_, left_ ? &*left_ : nullptr,
                  [this](std::int64_t position) -> const ViterbiChunk& { return messages_at(position); });
}

const ViterbiChunk& CpuViterbiMessages::messages_at(std::int64_t position) const {
  const std::size_t chunk = chunk_of(position);
  return chunk == restored_ ? all_ : paths_[chunk].at(position);
}

// When the cursor stands where a segment of the chunk's known path ends: takes the rest of that path.
bool CpuViterbiMessages::join_known_path(std::size_t chunk, TraceCursor& cursor,
                                         std::vector<Segment>& reversed) {
  const ChunkPath& path = paths_[chunk];
  if (walked_ != chunk) {
    walked_ = chunk;
    piece_ = 0;
    piece_end_ = std::min(range_.begin + chunk_size_ * static_cast<std::int64_t>(chunk + 1), range_.end);
  }
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

// Computes the chunk under the cursor again when the next step needs messages that were not kept.
void CpuViterbiMessages::provide(const TraceCursor& cursor) {
  const std::size_t chunk = chunk_of(cursor.boundary - 1);
  if (chunk == restored_) return;
  const std::int64_t begin = std::max(paths_[chunk].head.begin, cursor.boundary - tables_.longest);
  if (paths_[chunk].covers(begin, cursor.boundary)) return;
  restore_(chunk, all_);
  all_.whole = paths_[chunk].head.whole;
  all_.offset = paths_[chunk].head.offset;
  restored_ = chunk;
  tracer_.forget_place();
}

bool CpuViterbiMessages::trace(TraceCursor& cursor, std::vector<Segment>& reversed) {
  while (cursor.phase != TraceCursor::Phase::kDone) {
    if (cursor.phase == TraceCursor::Phase::kFindStart && cursor.boundary > range_.begin) {
      if (join_known_path(chunk_of(cursor.boundary - 1), cursor, reversed)) return true;
    }
    if (cursor.boundary > range_.begin) provide(cursor);
    if (!tracer_.step(cursor, reversed)) return false;
  }
  return false;
}

}  // namespace semicrf::cpu
