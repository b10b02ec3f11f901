#include "analyses/posteriors/log_partition.h"

#include <utility>
#include <vector>

#include "analyses/sequence_report.h"
#include "engine/batch.h"

namespace semicrf {

double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                     const ProgressCallback& progress) {
  WindowLoop loop(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress);
  double result = kNegativeInfinity;
  const bool possible =
      loop.left_to_right(WindowLoop::States::kLatest, [&](std::int64_t n, const ScoreWindow& scores) {
        ForwardWindow window = engine.forward(scores, plan.range(n), loop.left(n), {});
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
  const double log_z = log_partition(context.engine, context.source, plan, context.progress);
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
