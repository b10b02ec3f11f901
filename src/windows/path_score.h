// The score of a segmentation, added up in double from the emissions themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "core/score_window.h"
#include "core/segment.h"
#include "model/scores/edge_roles.h"
#include "model/scores/linear_heads.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Takes a path from right to left, stretch by stretch, and adds up its score. The positions are divided into
// a fixed grid of cells with a sum each; within a cell the order of the additions depends on the path alone.
// So neither windows nor threads change a digit.
class PathScore {
 public:
  // What lies within one cell of the grid.
  struct Cell {
    std::int64_t index = -1;
    double content = 0;  // content of the current segment within the current part of the cell
    CompensatedSum sum;
  };

  // `roles`: null, or of a piece that was cut, whose paths and scores are in the labels of the model.
  PathScore(const ChainModel& model, std::int64_t length, const EdgeRoles* roles = nullptr)
      : model_(&model), roles_(roles), length_(length), durations_(model, roles, length) {}

  // Content (centred emissions) of positions [begin, end) of one segment; `scores` covers them. Calls are
  // contiguous, right to left.
  void add_content(const ScoreWindow& scores, std::int64_t begin, std::int64_t end, int label);
  // The end score of a segment whose last position is `position`, covered by `scores`. Before the segment's
  // content.
  void add_end(const ScoreWindow& scores, std::int64_t position, int label);
  // The start score of a segment whose first position is `position`. After the segment's content.
  void add_start(const ScoreWindow& scores, std::int64_t position, int label);
  // Duration of the segment, and the transition into the segment right of it, when there is one. After its
  // start.
  void add_segment(const Segment& segment);
  // All of that for segments that touch, right to left, each of which `scores` covers. `known`: cells of this
  // path that were added up before.
  void add_segments(const ScoreWindow& scores, std::span<const Segment> reversed, int threads,
                    std::span<const Cell> known = {});
  // Cells within [begin, end), which `scores` covers, and left of the first of these segments, which touch,
  // right to left. Nothing is added yet: this may be done at any time.
  std::vector<Cell> whole_cells(const ScoreWindow& scores, std::span<const Segment> reversed,
                                std::int64_t begin, std::int64_t end, int threads) const;
  // After the leftmost segment: the initial term. The total.
  double finish();

 private:
  static void add_content_to(Cell& cell, const CentredScores& scores, std::int64_t begin, std::int64_t end,
                             int label);
  double chain_score(const Segment& segment, int right_label) const;
  double start_score(const CentredScores& scores, std::int64_t position, int label) const;
  double end_score(const CentredScores& scores, std::int64_t position, int label) const;
  void add_part(Cell& into, const ScoreWindow& scores, std::span<const Segment> reversed, int right_label,
                std::int64_t begin, std::int64_t end) const;
  Cell& cell_at(std::int64_t position);
  void close_cell();

  const ChainModel* model_;
  const EdgeRoles* roles_;
  std::int64_t length_;
  PieceDurations durations_;
  Cell cell_;             // the leftmost so far
  CompensatedSum sum_;    // sum of the cells right of it
  int right_label_ = -1;  // label of the segment to the right; -1: none yet
};

// The score of a whole path, which tiles the source. -inf, or NaN from adding to it: the path is forbidden.
double path_score(const ChainModel& model, ScoreSource& source, std::span<const Segment> path);

}  // namespace semicrf
