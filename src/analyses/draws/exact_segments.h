// P(exactly this segment) of the segments of a path as an analysis.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "analyses/draws/segment_shares.h"

namespace semicrf {

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
