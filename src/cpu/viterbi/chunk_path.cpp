#include "cpu/viterbi/chunk_path.h"

#include <algorithm>
#include <type_traits>

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

}  // namespace semicrf::cpu
