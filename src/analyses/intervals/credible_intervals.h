// The credible intervals of the boundaries of a path as an analysis.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "analyses/intervals/boundary_intervals.h"

namespace semicrf {

// Result: BoundaryIntervals. Stands behind the analysis that finds the path, and behind posteriors along it
// with path_edges and path_next.
class CredibleIntervals : public Analysis {
 public:
  // `level`: the probability within an interval, in (0, 1).
  explicit CredibleIntervals(double level) : level_(level) {}

  std::string title() const override { return "intervals"; }
  int passes() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  void begin_posteriors(const PieceContext& context, PieceResult& result) const override;
  void add_posteriors(const PosteriorBlock& block, PieceResult& result) const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;

 private:
  double level_;
};

}  // namespace semicrf
