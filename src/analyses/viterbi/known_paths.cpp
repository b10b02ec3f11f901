#include "analyses/viterbi/known_paths.h"

#include "core/segment.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

bool same_place(const TraceCursor& a, const TraceCursor& b) {
  return a.phase == b.phase && a.boundary == b.boundary && a.label == b.label &&
         (a.phase != TraceCursor::Phase::kInTail || a.segment_end == b.segment_end);
}

}  // namespace

KnownPaths::KnownPaths() : spool_(kSpoolMemory, "") {}

void KnownPaths::begin(const TraceCursor& entry) { paths_.push_back({entry, entry, 0, spool_.size(), 0}); }

void KnownPaths::append(std::span<const Segment> reversed) {
  if (reversed.empty()) return;
  Path& path = paths_.back();
  if (path.parts++ == 0) path.end = reversed.front().end;
  part_.clear();
  for (const Segment& segment : reversed) part_.push_back(pack(segment));
  spool_.append(std::as_bytes(std::span<const std::uint64_t>(part_)));
}

void KnownPaths::end(const TraceCursor& exit) { paths_.back().exit = exit; }

void KnownPaths::load(std::size_t part) {
  const std::size_t blob = taken_->first_part + part;
  part_.resize(spool_.blob_size(blob) / sizeof(std::uint64_t));
  spool_.read(blob, std::as_writable_bytes(std::span<std::uint64_t>(part_)));
}

bool KnownPaths::join(std::int64_t window, const TraceCursor& entry, std::span<const Segment> reversed) {
  taken_ = &paths_.at(window);
  next_part_ = skipped_ = 0;
  first_.clear();
  end_ = taken_->end;
  if (same_place(taken_->entry, entry)) return true;
  if (taken_->parts == 0) return false;
  // The path left of a segment depends on the start and the label of the segment alone.
  load(0);
  auto next = reversed.begin();
  for (std::size_t i = 0; i < part_.size(); ++i) {
    end_ -= packed_length(part_[i]);
    while (next != reversed.end() && next->begin > end_) ++next;
    if (next == reversed.end()) return false;
    if (next->begin == end_ && next->label == packed_label(part_[i])) {
      first_.assign(reversed.begin(), next + 1);
      skipped_ = i + 1;
      return true;
    }
  }
  return false;
}

bool KnownPaths::take(TraceCursor& cursor, std::vector<Segment>& reversed) {
  reversed.insert(reversed.end(), first_.begin(), first_.end());
  first_.clear();
  if (next_part_ < taken_->parts) {
    load(next_part_++);
    for (std::size_t i = skipped_; i < part_.size(); ++i) {
      const std::int64_t begin = end_ - packed_length(part_[i]);
      reversed.push_back({begin, end_, packed_label(part_[i])});
      end_ = begin;
    }
    skipped_ = 0;
  }
  if (next_part_ < taken_->parts) return true;
  cursor = taken_->exit;
  return false;
}

}  // namespace semicrf
