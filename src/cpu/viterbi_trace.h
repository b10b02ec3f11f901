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
  struct Place {
    const ViterbiChunk* chunk;
    const ViterbiChunk::Block* block;
    std::size_t slot;
    std::int64_t block_begin;
  };
  // What values are relative to: a whole number and the rest.
  struct Origin {
    double whole = 0;
    double offset = 0;
  };
  Place place(std::int64_t position) const;

  double value(const Place& at, std::size_t array, std::size_t scale, int label, const Origin& origin) const;
  Origin origin_at(std::int64_t boundary) const;
  double left_shift(const Origin& origin) const;
  double alpha(std::int64_t boundary, int label, const Origin& origin) const;
  double start_message(std::int64_t boundary, int label, const Origin& origin) const;
  double tail(std::int64_t boundary, int label, const Origin& origin) const;
  double content(std::int64_t position, int label) const;
  double content_sum(std::int64_t begin, std::int64_t end, int label) const;
  double start_score(std::int64_t position, int label) const;
  double ring(std::int64_t boundary, int label, const Origin& origin) const;
  double started(std::int64_t boundary, int label, const Origin& origin) const;

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
  std::vector<double> position_max_;  // of the range, only under position-max centring
  std::vector<double> bias_;          // (C, K): a label's durations side by side
};

}  // namespace semicrf::cpu
