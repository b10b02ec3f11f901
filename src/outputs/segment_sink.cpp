#include "outputs/segment_sink.h"

#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_sampler.h"

namespace semicrf {

void SegmentSink::begin_piece(const BinLocation& location, const PieceResult& result,
                              bool posteriors_follow) {
  is_about_piece_ = !sequence_ || location.chromosome == *sequence_;
  if (!is_about_piece_) return;
  begin_segments(location);
  if (rank_) return add_rank(result);
  const SegmentList& path = draw_ ? result.get<DrawResult>().draws[*draw_].segments : result.path();
  if (!posteriors_follow) return add_path(path);
  support_.begin_piece(result);
}

void SegmentSink::add_block(const PosteriorBlock& block) {
  if (rank_ || !is_about_piece_) return;
  support_.add_block(
      block, [this](const Segment& segment, const SegmentPosteriors& known) { add_wanted(segment, &known); });
}

// Without posteriors. A piece may have fewer segmentations.
void SegmentSink::add_rank(const PieceResult& result) {
  const auto& best = result.get<BestPaths>();
  if (*rank_ >= best.ranks.size()) return;
  has_rank_ = true;
  if (*rank_ == 0) return add_path(result.path());
  add_path(best.segments(*rank_, result.path()));
}

void SegmentSink::add_path(const SegmentList& path) {
  SegmentList::Reader reader(path);
  for (Segment segment; reader.next(segment);) add_wanted(segment, nullptr);
}

}  // namespace semicrf
