#include "analyses/posteriors/posteriors.h"

#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_summing.h"
#include "analyses/sequence_report.h"
#include "engine/batch.h"

namespace semicrf {

PosteriorResult sweep_certainly(const PieceContext& context, const WindowPlan& plan,
                                PosteriorSelection selection, const PosteriorSink& sink) {
  selection.scored = context.unconstrained;
  PosteriorResult result =
      sweep_posteriors(context.engine, context.source, plan, selection, sink, context.progress);
  if (result.sums && context.analyses.engine)
    make_entropy_certain(*context.analyses.engine, context.engine.model(), context.source, selection,
                         plan.budget, result);
  return result;
}

PosteriorSelection Posteriors::selection(const PieceChain& chain, const SegmentList* path,
                                         int threads) const {
  PosteriorSelection selection;
  selection.starts = request_.starts;
  selection.ends = request_.ends;
  selection.sums = request_.sums;
  selection.counts = request_.counts;
  selection.threads = threads;
  selection.labels = request_.labels;
  selection.path = path;
  selection.path_edges = request_.path_edges;
  selection.path_next = request_.path_next;
  selection.roles = chain.roles;
  selection.edges = chain.edges;
  return selection;
}

WindowNeeds Posteriors::needs(const Engine& engine, const ScoreSource& source,
                              const PieceChain& chain) const {
  const SegmentList some_path;
  return posterior_needs(engine, source, selection(chain, request_.along_path ? &some_path : nullptr, 1));
}

void Posteriors::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                     const BlockSink& sink) const {
  for (const auto& other : context.analyses) other->begin_posteriors(context, result);
  const SegmentList* const path = request_.along_path ? &result.path() : nullptr;
  PosteriorResult found = sweep_certainly(context, plan, selection(context.chain, path, context.threads),
                                          [&](const PosteriorBlock& block) {
                                            for (const auto& other : context.analyses)
                                              other->add_posteriors(block, result);
                                            sink(result, block);
                                          });
  result.feasible = found.feasible;
  result.put(std::move(found));
}

void Posteriors::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  std::vector<std::size_t> feasible;
  std::vector<ScoreWindow> scores;
  std::vector<PosteriorSelection> selections;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].feasible) continue;
    feasible.push_back(i);
    scores.push_back(context.pieces[i]);
    selections.push_back(selection({}, request_.along_path ? &results[i].path() : nullptr, 1));
  }
  std::vector<PosteriorResult> found = posteriors_together(
      context.engine, scores, selections,
      [&](std::size_t n, const PosteriorBlock& block) { context.sink(feasible[n], block); }, context.threads);
  for (std::size_t n = 0; n < feasible.size(); ++n) {
    results[feasible[n]].feasible = found[n].feasible;
    results[feasible[n]].put(std::move(found[n]));
  }
}

void Posteriors::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<PosteriorResult>();
  report.add_totals(found, 2, piece);
  report.add_posteriors(found, piece);
}

void Posteriors::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PieceChain& chain,
                     const ProgressCallback& progress) {
  WindowLoop loop(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress, chain.edges);
  double result = kNegativeInfinity;
  const bool possible =
      loop.left_to_right(WindowLoop::States::kLatest, [&](std::int64_t n, const ScoreWindow& scores) {
        ForwardWindow window = loop.engine(n).forward(scores, plan.range(n), loop.left(n), {});
        if (n == loop.last()) result = log_sum(window.right);
        return std::move(window.right);
      });
  return possible ? result : kNegativeInfinity;
}

WindowNeeds LogPartitionPass::needs(const Engine& engine, const ScoreSource& source,
                                    const PieceChain&) const {
  return log_needs(engine, source);
}

void LogPartitionPass::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                           const BlockSink&) const {
  const double log_z = log_partition(context.engine, context.source, plan, context.chain, context.progress);
  result.put(LogPartitionResult{log_z});
  result.feasible = log_z > kNegativeInfinity;
}

void LogPartitionPass::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  const std::vector<SequenceResult> found = context.engine.batches().log_partitions(context.pieces);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].put(LogPartitionResult{found[i].log_partition});
    results[i].feasible = found[i].log_partition > kNegativeInfinity;
  }
}

void LogPartitionPass::record(const PieceRecord& piece, SequenceReport& report) const {
  accumulate(report.stats.log_partition, piece.result.get<LogPartitionResult>().log_partition);
}

}  // namespace semicrf
