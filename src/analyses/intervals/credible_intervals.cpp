#include "analyses/intervals/credible_intervals.h"

#include "analyses/sequence_report.h"

namespace semicrf {

WindowNeeds CredibleIntervals::needs(const Engine& engine, const ScoreSource& source,
                                     const PieceChain&) const {
  return interval_needs(engine, source);
}

void CredibleIntervals::begin_posteriors(const PieceContext& context, PieceResult& result) const {
  result.emplace<IntervalFinder>(result.path(), context.model(), level_);
}

void CredibleIntervals::add_posteriors(const PosteriorBlock& block, PieceResult& result) const {
  result.get<IntervalFinder>().add(block);
}

void CredibleIntervals::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                            const BlockSink&) const {
  result.put(result.get<IntervalFinder>().finish(context.engine, context.source, plan, context.threads,
                                                 context.chain.roles, context.progress));
  result.drop<IntervalFinder>();
}

void CredibleIntervals::record(const PieceRecord& piece, SequenceReport& report) const {
  if (const auto& swept = piece.result.get<BoundaryIntervals>().swept) report.add_totals(*swept, 1, piece);
}

}  // namespace semicrf
