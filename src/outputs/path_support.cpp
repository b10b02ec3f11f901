#include "outputs/path_support.h"

#include <algorithm>
#include <cmath>

#include "analyses/draws/segment_shares.h"
#include "analyses/intervals/boundary_intervals.h"

namespace semicrf {

void PathSupport::begin_piece(const PieceResult& result) {
  path_.emplace(result.path());
  log_shares_.reset();
  if (const auto* const shares = result.find<SegmentShares>()) log_shares_.emplace(shares->logs);
  open_ = false;
  if (intervals_) waiting_.emplace();
}

void PathSupport::add_block(const PosteriorBlock& block, const Visit& visit) {
  for (std::int64_t t = block.range.begin; t < block.range.end; ++t) {
    const std::size_t row = t - block.range.begin;
    if (!open_) {
      path_->next(segment_);
      open_ = true;
      support_ = {};
      if (!block.path_start.empty()) support_.start_posterior = block.path_start[row];
    }
    support_.mean_label_posterior += block.path_label[row];
    if (t + 1 < segment_.end) continue;
    if (!block.path_end.empty()) support_.end_posterior = block.path_end[row];
    close_segment(visit);
  }
}

void PathSupport::close_segment(const Visit& visit) {
  support_.mean_label_posterior =
      std::min(1.0, support_.mean_label_posterior / static_cast<double>(segment_.end - segment_.begin));
  if (double log_share = 0; log_shares_ && log_shares_->next(log_share))
    support_.exact_posterior =
        std::min(support_.start_posterior, support_.end_posterior * std::exp(log_share));
  open_ = false;
  if (!intervals_) return visit(segment_, support_);
  waiting_->append(support_);
}

void PathSupport::end_piece(const PieceResult& result, const Visit& visit) {
  if (!intervals_) return;
  SegmentList::Reader path(result.path());
  SpooledArray<SegmentPosteriors>::Reader supports(*waiting_);
  BoundaryIntervals::Reader intervals(result.get<BoundaryIntervals>());
  Segment segment;
  for (SegmentPosteriors support; path.next(segment) && supports.next(support);) {
    support.start_interval = intervals.next();
    visit(segment, support);
  }
  waiting_.reset();
}

}  // namespace semicrf
