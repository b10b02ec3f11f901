// The fraction of the end posterior of each segment of a path that is that segment's own.
//
// P(exactly the segment [s,e) of c) = P(one of c ends at e) · P(it starts at s | it ends at e), and the
// second factor needs only messages from the left:
//     exp( start_s(c) + content of [s,e) + B[e-s,c] + Pe[e-1,c] - alpha_e(c) )
// So one more forward sweep over the windows is enough. It keeps a double per segment, nothing per position.
#pragma once

#include <cstdint>
#include <string>

#include "analyses/analysis.h"
#include "analyses/spooled_array.h"
#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

struct SegmentShares : ChunkTotals {
  SpooledNumbers logs;  // log P(start | end) <= 0 per segment, left to right
};

WindowNeeds share_needs(const Engine& engine, const ScoreSource& source);

// `path` tiles the sequence, has a finite score and the labels of the model. Windows do not change a digit.
SegmentShares segment_shares(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const PieceChain& chain, const SegmentList& path,
                             const ProgressCallback& progress = {});

// P(exactly this segment) of the segments of a path as an analysis.
//
// Result: SegmentShares. An analysis before has found the path; an analysis behind it computes the end
// posteriors, of which the shares are fractions.
class ExactSegments : public Analysis {
 public:
  std::string title() const override { return "exact segments"; }
  int passes() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
};

}  // namespace semicrf
