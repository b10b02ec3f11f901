// Stochastic traceback (backward sampling): exact draws of the segmentation from P(y|x), log messages
// forward, then labels and segments right to left, each from its distribution given everything to its right
// (docs/algorithm.md, "Exact segments and draws").
//
// Bounded memory as in decoding: windows left to right for the true state at every window's edge, then right
// to left with the messages of one window at a time. All draws are followed through a window together.
//
// The random numbers of a decision depend on the key, the draw and the position alone, and so do the
// messages: threads and windows change no draw.
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
  std::uint64_t key = 0;    // of the sequence, see sequence_key()
  std::int64_t origin = 0;  // position 0 of the source, counted from the sequence's first one
};

struct Draw {
  double log_likelihood = 0;  // ln P(y|x)
  SegmentList segments;
};

struct DrawResult : ChunkTotals {  // repairs: of the sweep from the left
  bool feasible = false;           // false: no segmentation has a finite score; nothing else is set then
  double log_partition = 0;
  std::vector<Draw> draws;
};

WindowNeeds draw_needs(const Engine& engine, const ScoreSource& source);

DrawResult draw_segmentations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                              const DrawRequest& request, const ProgressCallback& progress = {});

}  // namespace semicrf
