// The traceback over the messages a Viterbi window kept: O(K + C) per segment, no back-pointers.
#pragma once

#include <optional>
#include <vector>

#include "cpu/chunk_kernel.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// Messages of the chunks of one window. The scores must outlive it.
class CpuViterbiMessages final : public ViterbiMessages {
 public:
  CpuViterbiMessages(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                     const BoundaryState* left, std::int64_t chunk_size, std::vector<ViterbiChunk> chunks);

  void trace(TraceCursor& cursor, std::vector<Segment>& reversed) const override;

 private:
  // A block, and the position of its first boundary.
  struct Place {
    const ViterbiChunk* chunk;
    const ViterbiChunk::Block* block;
    std::int64_t begin;
  };
  // What values are relative to: a whole number and the rest.
  struct Origin {
    double whole = 0;
    double offset = 0;
  };
  // The best start found so far of the segment that is being followed.
  struct Best {
    double score = kNegativeInfinity;
    std::int64_t duration = 1;
  };

  Place place(std::int64_t position) const;
  double number(const Place& at, std::size_t index) const;
  double scaled(const Place& at, std::size_t index, std::size_t scale, int label, const Origin& origin) const;
  Origin origin_at(std::int64_t boundary) const;
  double left_shift(const Origin& origin) const;
  double alpha(std::int64_t boundary, int label, const Origin& origin) const;
  double tail(std::int64_t boundary, int label, const Origin& origin) const;
  double content(const Place& at, std::int64_t position, int label) const;
  double content_sum(std::int64_t begin, std::int64_t end, int label) const;
  double started(std::int64_t boundary, int label, const Origin& origin) const;

  void scan_block(const Place& at, std::int64_t end, int label, double content_after, const Origin& origin,
                  Best& best) const;
  void scan_left_state(std::int64_t end, int label, double content_after, const Origin& origin,
                       Best& best) const;
  bool find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const;
  bool follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const;
  bool find_source(TraceCursor& cursor) const;
  void close_segment(TraceCursor& cursor, std::int64_t begin, std::int64_t end,
                     std::vector<Segment>& reversed) const;

  const ChainModel& model_;
  ScoreWindow scores_;
  PositionRange range_;
  std::optional<BoundaryState> left_;
  std::int64_t chunk_size_;
  std::vector<ViterbiChunk> chunks_;
  std::vector<double> position_max_;   // of the range, only under position-max centring
  std::vector<double> reversed_bias_;  // (C, K): entry K - k of a label is the score of duration k
  std::vector<double> into_;           // (C, C): [to][from] transition scores
};

}  // namespace semicrf::cpu
