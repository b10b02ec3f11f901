// The stochastic traceback of one sample, from right to left through the forward messages of a window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyses/draws/forward_rows.h"
#include "core/compensated_sum.h"
#include "core/segment.h"
#include "engine/engine.h"
#include "inputs/rows/random_stream.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

// Where the traceback of a sample stands, as in a Viterbi traceback.
struct DrawCursor {
  TraceCursor at;
  CompensatedSum tail_content;    // kInTail at boundary b: content of [b-K, b)
  CompensatedSum log_likelihood;  // log probability of the choices so far
};

// The messages and scores of a window, which all samples share. `rows` reach K positions to the left of it,
// `scores` K+1.
struct DrawWindow {
  PositionRange range;
  const ForwardRows* rows = nullptr;
  CentredScores scores;
};

class DrawTracer {
 public:
  // Decisions at boundary b of the source use number `origin` + b of the stream: the first of the pair where
  // a segment begins (or that it is in the tail), the second for the label left of a start.
  DrawTracer(const ChainModel& model, RandomStream random, std::int64_t origin)
      : model_(&model), random_(random), origin_(origin) {}

  // Samples the label of the last segment. `state` is the forward state at the sequence's end.
  void choose_last_label(const BoundaryState& state, DrawCursor& cursor);
  // Follows the cursor until the window's left edge blocks it, the sequence's start is reached (kDone) or
  // `stretch` segments are found. Appends them to `reversed`, right to left. True: there is more to find
  // here.
  bool trace(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed,
             std::size_t stretch);

 private:
  void choose_start(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed);
  void follow_tail(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed);
  void choose_source(const DrawWindow& window, DrawCursor& cursor);
  // ln of the masses of the two ways to be in the tail of c at boundary b, relative to the level `base`: it
  // began here, with `content` of its K+1 positions, or it was in the tail at b-1 already.
  double entering(const DrawWindow& window, std::int64_t b, int c, const CompensatedSum& content,
                  double base) const;
  double continuing(const DrawWindow& window, std::int64_t b, int c, double base) const;
  void found(std::int64_t start, DrawCursor& cursor, std::vector<Segment>& reversed);
  std::size_t choose(double uniform, DrawCursor& cursor);
  std::array<double, 2> uniforms(std::int64_t boundary) const {
    return random_.uniforms(static_cast<std::uint64_t>(origin_ + boundary));
  }

  const ChainModel* model_;
  RandomStream random_;
  std::int64_t origin_;
  std::vector<double> logs_;  // log weights of the choices at the cursor
};

}  // namespace semicrf
