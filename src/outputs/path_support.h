// What the posteriors of a piece say about the segments of its path, put together from blocks of positions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/spooled_array.h"
#include "io/segments/segment_columns.h"

namespace semicrf {

class PathSupport {
 public:
  // `intervals`: of starts, too, which are known at the end of a piece only.
  explicit PathSupport(bool intervals = false) : intervals_(intervals) {}

  // Before the blocks of a piece, with its path and, where these were computed, the shares of its segments.
  // `result` must stay until the last block.
  void begin_piece(const PieceResult& result);
  // Together they call visit(segment, support) for every segment; without intervals add_block() does for
  // every one that ends in the block. Means are taken position by position from the left, so that blocks do
  // not change a digit.
  using Visit = std::function<void(const Segment&, const SegmentPosteriors&)>;
  void add_block(const PosteriorBlock& block, const Visit& visit);
  void end_piece(const PieceResult& result, const Visit& visit);

 private:
  void close_segment(const Visit& visit);

  bool intervals_;
  std::optional<SpooledArray<SegmentPosteriors>> waiting_;  // for their intervals
  std::optional<SegmentList::Reader> path_;
  std::optional<SpooledNumbers::Reader> log_shares_;
  Segment segment_;  // whose posteriors are being collected
  bool open_ = false;
  SegmentPosteriors support_;
};

}  // namespace semicrf
