// The score of a segmentation, added up in double from the emissions themselves.
#pragma once

#include <cstdint>
#include <span>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "core/segment.h"

namespace semicrf {

// Takes a path from right to left, stretch by stretch, and adds up its score. The order of the additions
// depends on the path and on absolute positions alone: windows do not change a digit.
class PathScore {
 public:
  PathScore(const ChainModel& model, std::int64_t length) : model_(&model), length_(length) {}

  // Content (centred emissions) of positions [begin, end) of one segment; `scores` covers them. Calls are
  // contiguous, right to left.
  void add_content(const ScoreWindow& scores, std::int64_t begin, std::int64_t end, int label);
  // The end score of a segment whose last position is `position`, covered by `scores`. Before the segment's
  // content.
  void add_end(const ScoreWindow& scores, std::int64_t position, int label);
  // The start score of a segment whose first position is `position`. After the segment's content.
  void add_start(const ScoreWindow& scores, std::int64_t position, int label);
  // Duration of the segment; and the transition into the segment right of it, when there is one.
  void add_segment(const Segment& segment);
  // All of that for segments that touch, right to left, each of which `scores` covers.
  void add_segments(const ScoreWindow& scores, std::span<const Segment> reversed);
  // After the leftmost segment: the initial term. The total.
  double finish();

 private:
  void add_plain_segments(const ScoreWindow& scores, std::span<const Segment> reversed);
  void add(double value);
  void flush_content();

  const ChainModel* model_;
  std::int64_t length_;
  double content_ = 0;  // of the current segment within the current cell of the fixed grid
  double edges_ = 0;    // start and end scores of the current segment
  double total_ = 0;
  double compensation_ = 0;  // running error of total_
  int right_label_ = -1;     // label of the segment to the right; -1: none yet
};

}  // namespace semicrf
