// The kept messages of a Viterbi window: paths through its chunks, and what joins them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "cpu/viterbi/chunk_path.h"
#include "cpu/viterbi/path_tracer.h"
#include "engine/engine.h"

namespace semicrf::cpu {

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
