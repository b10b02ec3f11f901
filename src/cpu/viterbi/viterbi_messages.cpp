#include "cpu/viterbi/viterbi_messages.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace semicrf::cpu {

namespace {

std::size_t blocks_of(std::int64_t positions) {
  return static_cast<std::size_t>((positions + kBlock - 1) / kBlock);
}

}  // namespace

void ChunkPath::move_by(double more_whole, double more_offset) {
  for (ViterbiChunk* part : {&head, &tail}) {
    part->whole += more_whole;
    part->offset += more_offset;
  }
}

bool ChunkPath::covers(std::int64_t begin, std::int64_t end) const {
  if (tail.empty() || begin >= tail.begin) return true;
  return end <= head.begin + kBlock * static_cast<std::int64_t>(head.blocks.size());
}

ChunkPath::Kept ChunkPath::kept_blocks(const ChainModel& model, std::size_t blocks) {
  const std::int64_t longest = model.max_duration;
  // A segment that ends within K of the left edge, or is in its tail there, may start in the chunk before. At
  // the right edge: the starts of segments that end in the next chunk, and room for paths to run together.
  const Kept kept{blocks_of(longest + 1) + 1, blocks_of(std::max<std::int64_t>(4 * longest, 256)) + 1};
  return kept.head + kept.tail >= blocks ? Kept{blocks, 0} : kept;
}

std::size_t ChunkPath::bytes(const ChainModel& model, std::int64_t positions,
                             const ViterbiChunk::Shape& shape) {
  const Kept blocks = kept_blocks(model, blocks_of(positions));
  const std::size_t kept = blocks.head + blocks.tail;
  return kept * ViterbiChunk::bytes_per_block(shape) + static_cast<std::size_t>(positions) * sizeof(Piece) +
         sizeof(ChunkPath);
}

ChunkFollower::ChunkFollower(const TraceTables& tables)
    : tables_(tables), tracer_(tables), sums_(tables.labels + kBlock) {}

std::size_t ChunkPath::usual_bytes(const ChainModel& model, std::int64_t positions,
                                   const ViterbiChunk::Shape& shape) {
  const Kept blocks = kept_blocks(model, blocks_of(positions));
  return (blocks.head + blocks.tail) * ViterbiChunk::usual_bytes_per_block(shape) +
         blocks_of(positions) * sizeof(Piece) + sizeof(ChunkPath);
}

// Sends off the walks: the rightmost from `label`, the others from the best label where they begin.
void ChunkFollower::walk(const ViterbiChunk& all, PositionRange chunk, int label) {
  const std::int64_t length = chunk.size();
  const std::int64_t stretch = (length / kWalks + kBlock) / kBlock * kBlock;
  for (int w = 0; w < kWalks; ++w) {
    Walk& walk = walks_[w];
    walk.pieces.clear();
    walk.boundary = std::max<std::int64_t>(0, length - w * stretch);
    walk.stop = std::max<std::int64_t>(0, walk.boundary - stretch);
    walk.walking = walk.boundary > 0;
    walk.find_start = true;
    walk.label = w == 0 || !walk.walking ? label : tracer_.best_label(chunk.begin + walk.boundary);
    walk_begins_[w] = walk.boundary;
  }
  const auto run = [&](const auto& scans, const auto* alpha) {
    FastMessages<std::remove_cvref_t<decltype(*alpha)>> messages;
    messages.alpha = alpha;
    messages.starts = all.starts;
    messages.start_bound = all.start_bound;
    messages.content = all.content;
    messages.source_offset = all.source_offset.data();
    messages.cuts = all.cuts.empty() ? nullptr : all.cuts.data();
    messages.capacity = all.capacity;
    messages.reversed_bias = tables_.reversed_bias.data() + kBlock;
    messages.largest_bias = tables_.largest_bias.data();
    messages.into = tables_.into.data();
    messages.labels = tables_.model->num_labels;
    messages.longest = tables_.longest;
    messages.first_chunk = chunk.begin == 0;
    scans.follow(messages, walks_.data(), kWalks, sums_.data());
  };
  if (all.shape().wide) {
    run(tables_.scans.wide, static_cast<const double*>(all.alpha));
  } else {
    run(tables_.scans.single, static_cast<const std::int32_t*>(all.alpha));
  }
}

// Takes the rest of a walk when the cursor stands where one of its segments ends.
bool ChunkFollower::join_walk(PositionRange chunk, TraceCursor& cursor, std::vector<Walk::Piece>& pieces) {
  const std::int64_t boundary = cursor.boundary - chunk.begin;
  while (next_walk_ < kWalks && walk_at_ > boundary) {
    const Walk& walk = walks_[next_walk_];
    if (next_piece_ < walk.pieces.size()) {
      walk_at_ -= walk.pieces[next_piece_++].length;
    } else {
      begin_walk(next_walk_ + 1);
    }
  }
  if (next_walk_ == kWalks || walk_at_ != boundary) return false;
  const Walk& walk = walks_[next_walk_];
  if (next_piece_ == walk.pieces.size() || walk.pieces[next_piece_].label != cursor.label) return false;
  pieces.insert(pieces.end(), walk.pieces.begin() + static_cast<std::ptrdiff_t>(next_piece_),
                walk.pieces.end());
  cursor.boundary = chunk.begin + walk.boundary;
  cursor.label = walk.label;
  cursor.phase = walk.find_start ? TraceCursor::Phase::kFindStart : TraceCursor::Phase::kFindSource;
  if (cursor.boundary == 0) cursor.phase = TraceCursor::Phase::kDone;
  begin_walk(next_walk_ + 1);
  return true;
}

void ChunkFollower::begin_walk(int walk) {
  next_walk_ = walk;
  next_piece_ = 0;
  if (walk < kWalks) walk_at_ = walk_begins_[walk];
}

void ChunkFollower::follow(const ScoreWindow& scores, PositionRange chunk, const ViterbiChunk& all, int label,
                           ChunkPath& path) {
  TraceCursor cursor;
  cursor.phase = TraceCursor::Phase::kFindStart;
  cursor.boundary = cursor.segment_end = chunk.end;
  cursor.label = label;
  tracer_.look_at(scores, chunk, nullptr, [&all](std::int64_t) -> const ViterbiChunk& { return all; });
  begin_walk(kWalks);
  if (!tables_.model->has_tail()) {
    walk(all, chunk, label);
    begin_walk(0);
  }
  pieces_.clear();
  bool moved = true;
  while (moved) {
    if (cursor.phase == TraceCursor::Phase::kFindStart && join_walk(chunk, cursor, pieces_)) continue;
    reversed_.clear();
    moved = tracer_.step(cursor, reversed_);
    for (const Segment& s : reversed_)
      pieces_.push_back({static_cast<std::uint32_t>(s.end - s.begin), s.label});
  }
  path.rest = cursor;
  path.pieces.assign(pieces_.begin(), pieces_.end());

  const std::size_t blocks = all.blocks.size();
  const ChunkPath::Kept kept = ChunkPath::kept_blocks(*tables_.model, blocks);
  path.head = all.part(0, kept.head);
  path.tail = kept.tail == 0 ? ViterbiChunk() : all.part(blocks - kept.tail, kept.tail);
}

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
