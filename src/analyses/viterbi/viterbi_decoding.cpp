#include "analyses/viterbi/viterbi_decoding.h"

#include <limits>
#include <utility>
#include <vector>

#include "analyses/sequence_report.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"

namespace semicrf {

WindowNeeds ViterbiDecoding::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return viterbi_needs(engine, source);
}

std::size_t ViterbiDecoding::workspace_bytes(const Engine& engine, std::int64_t positions) const {
  return engine.usual_viterbi_bytes(positions);
}

void ViterbiDecoding::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                          const BlockSink&) const {
  ViterbiResult& best = result.put(decode_viterbi(context.engine, context.source, plan, context.progress,
                                                  context.threads, scoring_, context.chain.edges));
  result.feasible = best.feasible;
  if (!best.feasible) return;
  best.segments = context.without_roles(std::move(best.segments));
  result.set_path(best.segments);
}

void ViterbiDecoding::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  const std::vector<SequencePath> paths = context.engine.batches().viterbi_of(context.pieces);
  parallel_for(context.threads, results.size(), [&](std::size_t i, int) {
    const ViterbiResult& best =
        results[i].put(known_path(context.engine.model(), context.pieces[i], paths[i], scoring_));
    results[i].feasible = best.feasible;
    if (best.feasible) results[i].set_path(best.segments);
  });
}

void ViterbiDecoding::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& best = piece.result.get<ViterbiResult>();
  if (best.score) accumulate(report.stats.viterbi_score, *best.score);
  report.add_totals(best, 1, piece);
  const ChainModel& model = piece.model;
  report.segments += best.segments.size();
  if (model.max_duration == 1) return;
  SegmentList::Reader reader(best.segments);
  for (Segment segment; reader.next(segment);)
    if (segment.end - segment.begin == model.max_duration &&
        model.duration_score(model.max_duration + 1, segment.label) == kNegativeInfinity)
      ++report.segments_at_cap;
}

void ViterbiDecoding::record_infeasible(SequenceReport& report) const {
  accumulate(report.stats.viterbi_score, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace semicrf
