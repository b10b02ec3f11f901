// log Z, the log partition function, of a sequence of any length, by forward messages alone.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// -inf where no segmentation has a finite score. `plan`: made with log_needs().
double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                     const ProgressCallback& progress = {});

struct LogPartitionResult {
  double log_partition = 0;
};

// log Z as an analysis, where nothing else that is computed has it. Result: LogPartitionResult.
class LogPartitionPass : public Analysis {
 public:
  std::string title() const override { return "log Z"; }
  int passes() const override { return 1; }
  bool computes_together() const override { return true; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
};

}  // namespace semicrf
