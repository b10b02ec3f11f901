// The kept messages of a Viterbi window: paths through its chunks, and what joins them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cpu/viterbi/path_tracer.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// What is left of a chunk's Viterbi messages once the path through the chunk has been followed from a guess.
//
// Paths that enter a chunk from the right in different states soon run together. So the thread that computed
// a chunk at once follows the path from the best label at its right edge, while the messages are in its
// cache, and keeps that path and the messages near both edges. The true path joins it after a few segments;
// where it does not, the chunk is computed again.
struct ChunkPath {
  using Piece = Walk::Piece;
  std::vector<Piece>
      pieces;         // segments that touch, right to left, the first one ends at the chunk's right edge
  TraceCursor rest;   // where following them stopped: what comes next needs the chunk to the left
  ViterbiChunk head;  // messages at the chunk's left edge, or all of them
  ViterbiChunk tail;  // messages at its right edge; empty when head has all

  void move_by(double more_whole, double more_offset);
  const ViterbiChunk& at(std::int64_t position) const {
    return tail.empty() || position < tail.begin ? head : tail;
  }
  // The messages at its right edge.
  const ViterbiChunk& right_part() const { return tail.empty() ? head : tail; }
  // Whether messages of all positions [begin, end) of the chunk are here.
  bool covers(std::int64_t begin, std::int64_t end) const;

  // How many blocks of a chunk are kept at its edges; tail 0: all are in head.
  struct Kept {
    std::size_t head = 0;
    std::size_t tail = 0;
  };
  static Kept kept_blocks(const ChainModel& model, std::size_t blocks);
  // Largest size of a chunk of this many positions.
  static std::size_t bytes(const ChainModel& model, std::int64_t positions, const ViterbiChunk::Shape& shape);
  // Its size as a rule: no exact block, and segments that are no shorter than a block.
  static std::size_t usual_bytes(const ChainModel& model, std::int64_t positions,
                                 const ViterbiChunk::Shape& shape);
};

class ChunkFollower {
 public:
  explicit ChunkFollower(const TraceTables& tables);

  // Follows the path from `label` at the right edge of `chunk`, whose messages are `all`; keeps what is
  // needed.
  void follow(const ScoreWindow& scores, PositionRange chunk, const ViterbiChunk& all, int label,
              ChunkPath& path);

 private:
  // Paths from guesses at this many places of a chunk are followed side by side, then joined.
  static constexpr int kWalks = 4;

  void walk(const ViterbiChunk& all, PositionRange chunk, int label);
  bool join_walk(PositionRange chunk, TraceCursor& cursor, std::vector<Walk::Piece>& pieces);
  void begin_walk(int walk);

  const TraceTables& tables_;
  PathTracer tracer_;
  std::vector<Segment> reversed_;
  std::vector<Walk::Piece> pieces_;
  std::vector<double> sums_;
  std::array<Walk, kWalks> walks_;                  // right to left
  std::array<std::int64_t, kWalks> walk_begins_{};  // the boundaries they begin at
  // The walk that the path may join next: its next piece, and the boundary where that ends.
  int next_walk_ = 0;
  std::size_t next_piece_ = 0;
  std::int64_t walk_at_ = 0;
};

class CpuViterbiMessages final : public ViterbiMessages {
 public:
  // Computes all messages of a chunk again, from the true state at its left edge or from a warm-up (null);
  // the same to the bit but for whole and offset.
  using Restore = std::function<void(PositionRange chunk, const BoundaryState* left, ViterbiChunk& all)>;

  struct Chunk {
    PositionRange range;
    std::optional<BoundaryState> left;  // true state at its left edge, none where the sequence begins
    bool redone = false;                // computed from that state, not from a warm-up
    ChunkPath path;
  };

  CpuViterbiMessages(const TraceTables& tables, const ScoreWindow& scores, std::vector<Chunk> chunks,
                     Restore restore);
  CpuViterbiMessages(const CpuViterbiMessages&) = delete;
  CpuViterbiMessages& operator=(const CpuViterbiMessages&) = delete;

  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;
  // The last chunk with its known path.
  std::unique_ptr<ViterbiMessages> right_edge(std::int64_t positions) override;

  // Largest size of an edge in chunks of this many positions, paths of which have `path_bytes`.
  static std::size_t edge_bytes(const ChainModel& model, std::int64_t chunk, std::size_t path_bytes);

 private:
  void enter(std::size_t chunk);
  const ViterbiChunk& messages_at(std::int64_t position) const;
  bool join_known_path(TraceCursor& cursor, std::vector<Segment>& reversed);
  void restart_pieces();
  void take_pieces(TraceCursor& cursor, std::int64_t end, std::vector<Segment>& reversed);
  bool provide(const TraceCursor& cursor);
  void keep_scores(const ScoreWindow& scores, PositionRange range);
  bool is_edge() const { return !restore_; }

  const TraceTables& tables_;
  PathTracer tracer_;
  ScoreWindow scores_;
  std::vector<Chunk> chunks_;
  Restore restore_;            // none: this is the right edge of a window
  std::vector<float> rows32_;  // the scores of an edge, in one of the two
  std::vector<double> rows64_;
  // The chunk under the cursor; the next piece of its known path and that piece's end (of the path's rest).
  std::size_t entered_;
  std::size_t piece_ = 0;
  std::int64_t piece_end_ = 0;
  bool restored_ = false;  // it had to be computed again
  ViterbiChunk all_;
};

}  // namespace semicrf::cpu
