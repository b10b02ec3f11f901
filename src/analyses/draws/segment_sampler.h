// Stochastic traceback (backward sampling): exact samples of the segmentation from P(y|x). Log messages are
// computed forward, then labels and segments are sampled right to left, each from its distribution given
// everything to its right (docs/algorithm.md, "Exact segments and draws").
//
// Bounded memory as in decoding: windows left to right for the true state at every window's edge, then right
// to left with the messages of one window at a time. All samples are traced through a window together.
//
// The random numbers of a decision depend on the key, the number of the sample and the position alone, and
// the messages on the scores alone: threads and windows change no sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/forward/forward_pass.h"
#include "analyses/viterbi/segment_list.h"
#include "core/compensated_sum.h"
#include "core/segment.h"
#include "engine/engine.h"
#include "inputs/rows/random_stream.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

struct DrawRequest {
  int draws = 1;
  std::uint64_t key = 0;    // random key of the sequence, see sequence_key()
  std::int64_t origin = 0;  // position 0 of the source, counted from the sequence's first one
};

struct Draw {
  double log_likelihood = 0;  // ln P(y|x)
  SegmentList segments;
};

struct DrawResult : ChunkTotals {  // repairs are those of the forward sweep
  bool feasible = false;           // false: no segmentation has a finite score; nothing else is set then
  double log_partition = 0;
  std::vector<Draw> draws;
};

WindowNeeds draw_needs(const Engine& engine, const ScoreSource& source);

DrawResult draw_segmentations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                              const PieceChain& chain, const DrawRequest& request,
                              const ProgressCallback& progress = {});

// The stochastic traceback of one sample, from right to left through the forward messages of a window.
//
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
  LabelScores scores;
};

class DrawTracer {
 public:
  // Decisions at boundary b of the source use number `origin` + b of the stream: the first of the pair where
  // a segment begins (or that it is in the tail), the second for the label left of a start.
  DrawTracer(const ChainModel& model, const PieceDurations& durations, RandomStream random,
             std::int64_t origin)
      : model_(&model), durations_(durations), random_(random), origin_(origin) {}

  // Samples the label of the last segment. `messages`: alpha of the labels at the sequence's end.
  void choose_last_label(const std::vector<double>& messages, std::int64_t length, DrawCursor& cursor);
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
  std::array<double, 2> uniforms(std::int64_t boundary) const { return random_.uniforms(origin_ + boundary); }

  const ChainModel* model_;
  PieceDurations durations_;
  RandomStream random_;
  std::int64_t origin_;
  std::vector<double> logs_;  // log weights of the choices at the cursor
};

// Segmentations sampled from P(y|x) (stochastic traceback) as an analysis.
//
// Result: DrawResult.
class Samples : public Analysis {
 public:
  // `number` >= 1: samples of each piece. `seed`: the seed of the run.
  Samples(int number, std::uint64_t seed) : number_(number), seed_(seed) {}

  std::string title() const override { return "draws"; }
  int passes() const override { return 2; }
  int sweeps() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t kept_bytes() const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  int number_;
  std::uint64_t seed_;
};

}  // namespace semicrf
