#include "eval/bin_segments.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace semicrf {
namespace {

// Bins that several segments may share are decided one at a time, from left to right.
class Binner {
 public:
  Binner(std::span<const Segment> segments, const BaseGrid& grid) : segments_(segments), grid_(grid) {}

  BinnedSegments run() {
    for (std::size_t i = 0; i < segments_.size(); ++i) add(i);
    settle();
    // All bins of a segment lie together: it only ever shares its first and its last one.
    result_.lost = inside_ - static_cast<std::int64_t>(result_.segments.size());
    return std::move(result_);
  }

 private:
  // The bases of the open bin that one segment covers.
  struct Share {
    std::size_t index;
    std::int64_t bases;
  };

  void add(std::size_t index) {
    const std::int64_t begin = std::max(segments_[index].begin, grid_.origin) - grid_.origin;
    const std::int64_t end = std::min(segments_[index].end, grid_.limit) - grid_.origin;
    if (begin >= end) return;
    ++inside_;
    const std::int64_t width = grid_.bin_size;
    if (begin % width != 0 || (end % width != 0 && end != grid_.limit - grid_.origin)) ++result_.moved;
    const std::int64_t first = begin / width, last = (end - 1) / width;
    share(first, {index, std::min(end, (first + 1) * width) - begin});
    if (last == first) return;
    settle();
    if (last > first + 1) give(first + 1, last, index);
    share(last, {index, end - last * width});
  }

  void share(std::int64_t bin, const Share& share) {
    if (bin != bin_) settle();
    bin_ = bin;
    shares_.push_back(share);
  }

  // Decides the bin that is open, if any.
  void settle() {
    std::int64_t covered = 0;
    for (const Share& one : shares_) covered += one.bases;
    const std::int64_t begin = bin_ * grid_.bin_size;
    const std::int64_t width = std::min(grid_.bin_size, grid_.limit - grid_.origin - begin);
    if (!shares_.empty() && 2 * covered >= width) give(bin_, bin_ + 1, winner());
    shares_.clear();
    bin_ = -1;
  }

  std::size_t winner() const {
    const Share* best = nullptr;
    std::int64_t best_label_bases = 0;
    for (const Share& one : shares_) {
      const std::int64_t bases = label_bases(segments_[one.index].label);
      const bool same_label = best != nullptr && segments_[one.index].label == segments_[best->index].label;
      if (same_label ? one.bases > best->bases : bases > best_label_bases) {
        best = &one;
        best_label_bases = bases;
      }
    }
    return best->index;
  }

  std::int64_t label_bases(int label) const {
    std::int64_t bases = 0;
    for (const Share& one : shares_)
      if (segments_[one.index].label == label) bases += one.bases;
    return bases;
  }

  void give(std::int64_t begin, std::int64_t end, std::size_t index) {
    if (!result_.segments.empty() && owner_ == index && result_.segments.back().end == begin) {
      result_.segments.back().end = end;
    } else {
      result_.segments.push_back({begin, end, segments_[index].label});
      owner_ = index;
    }
  }

  std::span<const Segment> segments_;
  BaseGrid grid_;
  BinnedSegments result_;
  std::size_t owner_ = 0;      // of the last segment of the result
  std::int64_t bin_ = -1;      // the open bin
  std::vector<Share> shares_;  // of the open bin
  std::int64_t inside_ = 0;    // segments that meet the grid
};

}  // namespace

BinnedSegments bin_segments(std::span<const Segment> segments, const BaseGrid& grid) {
  return Binner(segments, grid).run();
}

}  // namespace semicrf
