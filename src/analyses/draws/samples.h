// Segmentations sampled from P(y|x) (stochastic traceback) as an analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyses/analysis.h"
#include "analyses/draws/segment_sampler.h"

namespace semicrf {

// Result: DrawResult.
class Samples : public Analysis {
 public:
  // `number` >= 1: samples of each piece. `seed`: the seed of the run.
  Samples(int number, std::uint64_t seed) : number_(number), seed_(seed) {}

  std::string title() const override { return "draws"; }
  int passes() const override { return 2; }
  int sweeps() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t kept_bytes() const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  int number_;
  std::uint64_t seed_;
};

}  // namespace semicrf
