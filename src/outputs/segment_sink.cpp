#include "outputs/segment_sink.h"

#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_sampler.h"

namespace semicrf {

void SegmentSink::begin_piece(const BinLocation& location, const PieceResult& result,
                              bool posteriors_follow) {
  begin_segments(location);
  if (rank_) return add_rank(result);
  const SegmentList& path = draw_ ? result.get<DrawResult>().draws[*draw_].segments : result.path();
  if (!posteriors_follow) return add_path(path);
  support_.begin_piece(result);
}

void SegmentSink::add_block(const PosteriorBlock& block) {
  if (rank_) return;
  support_.add_block(block,
                     [this](const Segment& segment, const SegmentSupport& known) { add(segment, &known); });
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
  for (Segment segment; reader.next(segment);) add(segment, nullptr);
}

}  // namespace semicrf
