// Posterior decoding (maximum expected accuracy) as an analysis; the path itself is in posterior_path.h.
#pragma once

#include <string>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_path.h"

namespace semicrf {

struct PosteriorDecodingResult {
  PosteriorResult posteriors;  // the posteriors that the path was found with
  PosteriorPath decoded;
};

// Result: PosteriorDecodingResult, whose segments are the path.
class PosteriorDecoding : public Analysis {
 public:
  // `gamma`: weight of boundaries, >= 0. `thresholds`: posterior_path.h. `sums`: whether to compute the sums
  // of the posteriors (PosteriorRequest), as no analysis behind this one does.
  PosteriorDecoding(double gamma, LabelThresholds thresholds, bool sums)
      : gamma_(gamma), thresholds_(std::move(thresholds)), sums_(sums) {}

  std::string title() const override { return "path by posteriors"; }
  int passes() const override { return 1; }
  int sweeps() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  bool knows_edge_windows() const override { return true; }
  bool computes_together() const override { return !sums_; }
  bool finds_path() const override { return true; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  PosteriorSelection selection(const PieceChain& chain, int threads) const;

  double gamma_;
  LabelThresholds thresholds_;
  bool sums_;
};

}  // namespace semicrf
