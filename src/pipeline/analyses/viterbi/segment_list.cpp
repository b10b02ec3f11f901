#include "pipeline/analyses/viterbi/segment_list.h"

#include "io/files/temp_spool.h"
#include "pipeline/windows/memory_budget.h"
#include "pipeline/analyses/viterbi/packed_segment.h"

namespace semicrf {
namespace {

constexpr std::int64_t kBlockSegments = 4096;

}  // namespace

SegmentList::SegmentList(std::size_t memory_limit) : spool_(std::make_unique<TempSpool>(memory_limit, "")) {}
SegmentList::SegmentList() : SegmentList(kSpoolMemory) {}
SegmentList::~SegmentList() = default;
SegmentList::SegmentList(SegmentList&&) noexcept = default;
SegmentList& SegmentList::operator=(SegmentList&&) noexcept = default;

void SegmentList::append_reversed(std::span<const Segment> reversed) {
  for (const Segment& segment : reversed) {
    if (open_block_.empty()) block_begins_.push_back(segment.begin);
    open_block_.push_back(pack(segment));
    block_begins_.back() = segment.begin;
    if (open_block_.size() == static_cast<std::size_t>(kBlockSegments)) {
      spool_->append(std::as_bytes(std::span<const std::uint64_t>(open_block_)));
      open_block_.clear();
    }
  }
  count_ += static_cast<std::int64_t>(reversed.size());
}

void SegmentList::load_block(std::int64_t index, std::vector<std::uint64_t>& block) const {
  if (static_cast<std::size_t>(index) == spool_->size()) {
    block = open_block_;
    return;
  }
  block.resize(static_cast<std::size_t>(kBlockSegments));
  spool_->read(static_cast<std::size_t>(index), std::as_writable_bytes(std::span<std::uint64_t>(block)));
}

SegmentList::Reader::Reader(const SegmentList& list, std::int64_t first)
    : list_(&list), remaining_(list.count_ - first) {}

// Afterwards `begin_` is that of the segment at index remaining_ (in the order of appending), which is in the
// block.
void SegmentList::Reader::load(std::int64_t block) {
  block_index_ = block;
  list_->load_block(block, block_);
  begin_ = list_->block_begins_[static_cast<std::size_t>(block)];
  for (auto i = static_cast<std::int64_t>(block_.size()) - 1; i > remaining_ % kBlockSegments; --i)
    begin_ += packed_length(block_[static_cast<std::size_t>(i)]);
}

bool SegmentList::Reader::next(Segment& segment) {
  if (remaining_ == 0) return false;
  --remaining_;
  if (remaining_ / kBlockSegments != block_index_) load(remaining_ / kBlockSegments);
  const std::uint64_t packed = block_[static_cast<std::size_t>(remaining_ % kBlockSegments)];
  segment = {begin_, begin_ + packed_length(packed), packed_label(packed)};
  begin_ = segment.end;
  return true;
}

}  // namespace semicrf
