#include "pipeline/segment_list.h"

#include <algorithm>

#include "io/temp_spool.h"
#include "pipeline/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::int64_t kBlockSegments = 4096;

}  // namespace

SegmentList::SegmentList() : spool_(std::make_unique<TempSpool>(kSpoolMemory, "")) {}
SegmentList::~SegmentList() = default;
SegmentList::SegmentList(SegmentList&&) noexcept = default;
SegmentList& SegmentList::operator=(SegmentList&&) noexcept = default;

void SegmentList::append_reversed(std::span<const Segment> reversed) {
  count_ += static_cast<std::int64_t>(reversed.size());
  while (!reversed.empty()) {
    const std::size_t room = static_cast<std::size_t>(kBlockSegments) - open_block_.size();
    const auto part = reversed.first(std::min(room, reversed.size()));
    open_block_.insert(open_block_.end(), part.begin(), part.end());
    reversed = reversed.subspan(part.size());
    if (open_block_.size() == static_cast<std::size_t>(kBlockSegments)) {
      spool_->append(std::as_bytes(std::span<const Segment>(open_block_)));
      open_block_.clear();
    }
  }
}

void SegmentList::load_block(std::int64_t index, std::vector<Segment>& block) const {
  if (static_cast<std::size_t>(index) == spool_->size()) {
    block = open_block_;
    return;
  }
  block.resize(static_cast<std::size_t>(kBlockSegments));
  spool_->read(static_cast<std::size_t>(index), std::as_writable_bytes(std::span<Segment>(block)));
}

SegmentList::Reader::Reader(const SegmentList& list, std::int64_t first)
    : list_(&list), remaining_(list.count_ - first) {}

bool SegmentList::Reader::next(Segment& segment) {
  if (remaining_ == 0) return false;
  const std::int64_t index = --remaining_;  // in the order of appending
  if (index / kBlockSegments != block_index_) {
    block_index_ = index / kBlockSegments;
    list_->load_block(block_index_, block_);
  }
  segment = block_[static_cast<std::size_t>(index % kBlockSegments)];
  return true;
}

}  // namespace semicrf
