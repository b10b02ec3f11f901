// The kept messages of a Viterbi window: paths through its chunks, and what joins them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "cpu/chunk_path.h"
#include "cpu/path_tracer.h"
#include "engine/engine.h"

namespace semicrf::cpu {

class CpuViterbiMessages final : public ViterbiMessages {
 public:
  // Computes all messages of a chunk again, the same to the bit but for whole and offset.
  using Restore = std::function<void(std::size_t chunk, ViterbiChunk& all)>;

  CpuViterbiMessages(const TraceTables& tables, bool wide, const ScoreWindow& scores, PositionRange range,
                     const BoundaryState* left, std::int64_t chunk_size, std::vector<ChunkPath> paths,
                     Restore restore);
  CpuViterbiMessages(const CpuViterbiMessages&) = delete;
  CpuViterbiMessages& operator=(const CpuViterbiMessages&) = delete;

  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;

 private:
  std::size_t chunk_of(std::int64_t position) const {
    return static_cast<std::size_t>((position - range_.begin) / chunk_size_);
  }
  const ViterbiChunk& messages_at(std::int64_t position) const;
  bool join_known_path(std::size_t chunk, TraceCursor& cursor, std::vector<Segment>& reversed);
  void provide(const TraceCursor& cursor);

  const TraceTables& tables_;
  PathTracer tracer_;
  ScoreWindow scores_;
  PositionRange range_;
  std::optional<BoundaryState> left_;
  std::int64_t chunk_size_;
  std::vector<ChunkPath> paths_;
  Restore restore_;
  // The known path that the cursor may join: its chunk, the next piece and that piece's end.
  std::size_t walked_ = static_cast<std::size_t>(-1);
  std::size_t piece_ = 0;
  std::int64_t piece_end_ = 0;
  // The chunk that had to be computed again, one at a time.
  std::size_t restored_ = static_cast<std::size_t>(-1);
  ViterbiChunk all_;
};

}  // namespace semicrf::cpu
