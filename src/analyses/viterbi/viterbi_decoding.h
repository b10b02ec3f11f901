// The best path of a piece (Viterbi) as an analysis.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "analyses/viterbi/viterbi_decoder.h"

namespace semicrf {

// Result: ViterbiResult, whose segments are the path.
class ViterbiDecoding : public Analysis {
 public:
  explicit ViterbiDecoding(PathScoring scoring = PathScoring::kRescore) : scoring_(scoring) {}

  std::string title() const override { return "Viterbi"; }
  int passes() const override { return 2; }
  int sweeps() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t workspace_bytes(const Engine& engine, std::int64_t positions) const override;
  bool knows_edge_windows() const override { return true; }
  bool computes_together() const override { return true; }
  bool finds_path() const override { return true; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  PathScoring scoring_;
};

}  // namespace semicrf
