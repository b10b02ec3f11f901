// The probabilities of claims about a piece (event probabilities) as an analysis.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/claims/claim_sweep.h"

namespace semicrf {

struct ClaimFindings {
  ClaimSweep swept;
  std::vector<std::size_t> numbers;  // number of the claim, one per result
};

// Result: ClaimFindings, where there are claims about the piece.
class ClaimProbabilities : public Analysis {
 public:
  using ClaimsOf = std::function<PieceClaims(const PieceIdentity&)>;
  // `claims_of`: the claims about a piece; called from several threads.
  explicit ClaimProbabilities(ClaimsOf claims_of) : claims_of_(std::move(claims_of)) {}

  std::string title() const override { return "claims"; }
  int passes() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  bool is_about(const PieceIdentity& piece) const override { return !claims_of_(piece).claims.empty(); }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  bool needs_constraint_check() const override { return true; }
  void settle(const PieceContext& context, const WindowPlan& plan, std::span<const Constraint> constraints,
              const ConstraintFindings& found, PieceResult& result) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  static ClaimSweep sweep(std::span<const Claim> claims, const PieceContext& context, ScoreSource& source,
                          const WindowPlan& plan, const ProgressCallback& progress);

  ClaimsOf claims_of_;
};

}  // namespace semicrf
