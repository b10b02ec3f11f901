// The N best segmentations (k-best) as an analysis.
#pragma once

#include <cstddef>
#include <string>

#include "analyses/analysis.h"
#include "analyses/best_paths/best_paths.h"

namespace semicrf {

// Result: BestPaths. Its first path is that of ViterbiDecoding, which stands before it in the list.
class KBest : public Analysis {
 public:
  // `most` >= 1: the number of paths. `memory`: bytes of each path and its output file, windows not included.
  KBest(int most, std::size_t memory) : most_(most), memory_(memory) {}

  std::string title() const override { return "best segmentations"; }
  int passes() const override { return 3; }
  int sweeps() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t kept_bytes() const override { return static_cast<std::size_t>(most_) * memory_; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  double least_penalty() const override;
  void settle(const PieceContext& context, const WindowPlan& plan, std::span<const Constraint> constraints,
              const ConstraintFindings& found, PieceResult& result) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;

 private:
  int most_;
  std::size_t memory_;
};

}  // namespace semicrf
