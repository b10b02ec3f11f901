#include "analyses/viterbi/segment_list.h"

namespace semicrf {
namespace {

constexpr std::int64_t kBlockSegments = SpooledArray<PackedSegment>::kBlock;

}  // namespace

void SegmentList::append_reversed(std::span<const Segment> reversed) {
  for (const Segment& segment : reversed) {
    if (size() % kBlockSegments == 0) block_begins_.push_back(segment.begin);
    block_begins_.back() = segment.begin;
    segments_.append(pack(segment));
  }
}

SegmentList SegmentList::relabelled(std::int64_t end,
                                    const std::function<int(const Segment&)>& label_of) const {
  SegmentList result;
  ReverseReader reader(*this, end);
  for (Segment segment; reader.next(segment);) {
    segment.label = label_of(segment);
    result.append_reversed({&segment, 1});
  }
  return result;
}

SegmentList::Reader::Reader(const SegmentList& list, std::int64_t first)
    : list_(&list), remaining_(list.size() - first) {}

// Loads the block that has the segment at index remaining_ (in the order of appending), and sets `begin_` to
// the begin of that segment.
void SegmentList::Reader::load(std::int64_t block) {
  block_index_ = block;
  list_->segments_.load_block(block, block_);
  begin_ = list_->block_begins_[block];
  for (auto i = std::ssize(block_) - 1; i > remaining_ % kBlockSegments; --i)
    begin_ += packed_length(block_[i]);
}

bool SegmentList::Reader::next(Segment& segment) {
  if (remaining_ == 0) return false;
  --remaining_;
  if (remaining_ / kBlockSegments != block_index_) load(remaining_ / kBlockSegments);
  const PackedSegment packed = block_[remaining_ % kBlockSegments];
  segment = {begin_, begin_ + packed_length(packed), packed_label(packed)};
  begin_ = segment.end;
  return true;
}

}  // namespace semicrf
