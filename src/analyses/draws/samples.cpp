#include "analyses/draws/samples.h"

#include <utility>
#include <vector>

#include "analyses/sequence_report.h"
#include "inputs/rows/random_stream.h"
#include "windows/memory_budget.h"

namespace semicrf {

WindowNeeds Samples::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return draw_needs(engine, source);
}

std::size_t Samples::kept_bytes() const { return static_cast<std::size_t>(number_) * kDrawMemory; }

void Samples::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                  const BlockSink&) const {
  const DrawRequest request{number_, sequence_key(seed_, context.identity.sequence),
                            context.identity.location.first_bin};
  DrawResult& found =
      result.put(draw_segmentations(context.engine, context.source, plan, request, context.progress));
  result.feasible = found.feasible;
  for (Draw& draw : found.draws) draw.segments = context.without_roles(std::move(draw.segments));
}

void Samples::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<DrawResult>();
  SequenceStats& stats = report.stats;
  accumulate(stats.log_partition, found.log_partition);
  if (!stats.log_likelihood) stats.log_likelihood.emplace(found.draws.size());
  for (std::size_t i = 0; i < found.draws.size(); ++i) {
    (*stats.log_likelihood)[i] += found.draws[i].log_likelihood;
    accumulate(stats.segments, found.draws[i].segments.size());
  }
  report.add_totals(found, 1, piece);
}

void Samples::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
