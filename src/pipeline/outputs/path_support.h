// What the posteriors of a piece say about the segments of its path, put together from blocks of positions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "io/text/segment_support.h"
#include "pipeline/analyses/piece_work.h"
#include "pipeline/outputs/start_interval.h"

namespace semicrf {

class PathSupport {
 public:
  // `interval_level`: the probability of the intervals of starts; absent: there are none.
  explicit PathSupport(std::optional<double> interval_level = {});

  // Before the blocks of a piece, with its path and, where these were computed, the shares of its segments.
  // `result` must stay until the last block.
  void begin_piece(const PieceResult& result);
  // Calls visit(segment, support) for every segment that ends in the block. Means are taken position by
  // position from the left, so that blocks do not change a digit.
  using Visit = std::function<void(const Segment&, const SegmentSupport&)>;
  void add_block(const PosteriorBlock& block, const Visit& visit);

 private:
  void close_segment(const Visit& visit);

  std::optional<StartInterval> interval_;
  std::optional<SegmentList::Reader> path_;
  std::optional<SpooledNumbers::Reader> log_shares_;
  Segment segment_;  // whose posteriors are being collected
  bool open_ = false;
  SegmentSupport support_;
};

}  // namespace semicrf
