// A forward sweep that keeps what it finds at some positions.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyses/claims/message_rows.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// The row that a sweep keeps of a position: the level and the C messages of starts; as far as they are
// wanted, the level and the C messages of tails at the boundary right of the position, where the model has
// tails, then C emissions, and C start and C end scores.
struct RowShape {
  struct Parts {
    bool tails = false, scores = false, boundary = false;
  };
  RowShape(const ChainModel& model, const Parts& parts);

  std::size_t labels;
  std::size_t starts, tails, emissions, boundary, width;  // columns where the parts of a row begin, and its
                                                          // width
  bool has_tail, has_scores, has_boundary;
};

// Whether any position has a start or end score.
bool has_boundary_scores(const ChainModel& model, ScoreSource& source);

// One sweep from left to right; all arguments must outlive it.
class MessageSweep {
 public:
  MessageSweep(Engine& engine, ScoreSource& source, const WindowPlan& plan, const RowShape& shape,
               MessageRows& rows)
      : engine_(engine), source_(source), plan_(plan), shape_(shape), rows_(rows) {}

  // The state at the sequence's end; nothing where no segmentation is possible.
  std::optional<BoundaryState> run(ChunkTotals& totals, const ProgressCallback& progress);

 private:
  ForwardArrays prepare(PositionRange range);
  void keep(PositionRange range, const ScoreWindow& scores, double whole);

  Engine& engine_;
  ScoreSource& source_;
  const WindowPlan& plan_;
  const RowShape& shape_;
  MessageRows& rows_;
  std::vector<double> starts_, start_levels_, tails_, end_levels_;
};

}  // namespace semicrf
