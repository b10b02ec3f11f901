// The segments of a path, which come out right to left and are wanted left to right, without holding them all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/segment.h"

namespace semicrf {

class TempSpool;

// Filled right to left, then read left to right as often as needed. Beyond a few MiB it lives in a temporary file.
class SegmentList {
 public:
  SegmentList();
  ~SegmentList();
  SegmentList(SegmentList&&) noexcept;
  SegmentList& operator=(SegmentList&&) noexcept;

  // Appends segments that lie left of all segments so far, given right to left.
  void append_reversed(std::span<const Segment> reversed);
  std::int64_t size() const { return count_; }

  // Reads left to right. Several readers may follow each other, not interleave with append_reversed.
  class Reader {
   public:
    explicit Reader(const SegmentList& list) : list_(&list), next_(list.count_) {}
    // The next segment; false at the end.
    bool next(Segment& segment);

   private:
    const SegmentList* list_;
    std::int64_t next_;  // one past the index (in order of appending) of the next segment to give
    std::vector<Segment> block_;
    std::int64_t block_begin_ = 0;
  };

 private:
  std::int64_t count_ = 0;
  std::unique_ptr<TempSpool> spool_;
};

}  // namespace semicrf
