#include "analyses/draws/exact_segments.h"

#include "analyses/sequence_report.h"

namespace semicrf {

WindowNeeds ExactSegments::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return share_needs(engine, source);
}

void ExactSegments::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                        const BlockSink&) const {
  result.put(segment_shares(context.engine, context.source, plan, result.path(), context.chain.roles,
                            context.progress));
}

void ExactSegments::record(const PieceRecord& piece, SequenceReport& report) const {
  report.add_totals(piece.result.get<SegmentShares>(), 1, piece);
}

}  // namespace semicrf
