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

#include <cstdint>
#include <vector>

#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"
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
                              const DrawRequest& request, const ProgressCallback& progress = {});

}  // namespace semicrf
