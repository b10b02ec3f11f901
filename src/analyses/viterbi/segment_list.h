// The segments of a path, which come out right to left and are wanted left to right, without holding them
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/spooled_array.h"
#include "core/segment.h"

namespace semicrf {

// Segments that tile a stretch of positions. Filled right to left, then read left to right as often as
// needed. Beyond a few MiB it lives in a temporary file.
class SegmentList {
 public:
  // At most about `memory_limit` bytes are kept in memory.
  explicit SegmentList(std::size_t memory_limit = kSpoolMemory) : segments_(memory_limit) {}

  // Appends segments that end where the leftmost one so far begins, given right to left.
  void append_reversed(std::span<const Segment> reversed);
  std::int64_t size() const { return segments_.size(); }
  // A copy of the list with other labels. `end`: the end of the rightmost segment.
  SegmentList relabelled(std::int64_t end, const std::function<int(const Segment&)>& label_of) const;

  // Reads left to right, from the segment with index `first` (0 is the leftmost). Do not append meanwhile.
  class Reader {
   public:
    explicit Reader(const SegmentList& list, std::int64_t first = 0);
    // The next segment; false at the end.
    bool next(Segment& segment);

   private:
    void load(std::int64_t block);

    const SegmentList* list_;
    std::int64_t remaining_;            // segments from the next one to the last
    std::int64_t begin_ = 0;            // begin of the next segment
    std::vector<PackedSegment> block_;  // the block that holds the next segment, right to left
    std::int64_t block_index_ = -1;
  };

  // Reads right to left. Do not append meanwhile.
  class ReverseReader {
   public:
    // `end`: the end of the rightmost segment.
    ReverseReader(const SegmentList& list, std::int64_t end) : reader_(list.segments_), end_(end) {}
    // The next segment; false at the start.
    bool next(Segment& segment) {
      PackedSegment packed = 0;
      if (!reader_.next(packed)) return false;
      segment = {end_ - packed_length(packed), end_, packed_label(packed)};
      end_ = segment.begin;
      return true;
    }

   private:
    SpooledArray<PackedSegment>::Reader reader_;
    std::int64_t end_;
  };

 private:
  SpooledArray<PackedSegment> segments_;    // all segments, in the order of appending
  std::vector<std::int64_t> block_begins_;  // begin of the leftmost segment of each block, the open one's too
};

}  // namespace semicrf
