// Event probabilities, those of claims about one piece: one forward sweep over its windows, one over the
// reversed sequence, and then every claim from what lies within K positions of its interval.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/claims/claim.h"
#include "analyses/claims/message_sweep.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// Claims about one piece, and the numbers that their caller gives them.
struct PieceClaims {
  std::vector<Claim> claims;
  std::vector<std::size_t> numbers;
};

struct ClaimSweep : ChunkTotals {
  bool feasible = false;  // false: no segmentation has a finite score, nothing else is set
  double log_partition = 0;
  std::vector<ClaimResult> results;  // one per claim
};

// The memory needs of the sweep of either engine.
WindowNeeds claim_needs(const Engine& engine, const ScoreSource& source);

// `mirror`: the same piece reversed, `mirror_plan` its windows. Intervals lie within the piece, labels are
// those of the model. The messages and scores near the claims are spooled: 5 C + 2 doubles per position at
// most, and 2 C + 2 of the reversed sequence. Results have the precision of the engine; windows and threads
// do not change them beyond its last digits.
ClaimSweep sweep_claims(Engine& engine, ScoreSource& source, const PieceChain& chain, const WindowPlan& plan,
                        ReversedPiece& mirror, const WindowPlan& mirror_plan, std::span<const Claim> claims,
                        int threads, const ProgressCallback& progress = {});

// The probabilities of claims about a piece (event probabilities) as an analysis.
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
                          const PieceChain& chain, const WindowPlan& plan, const ProgressCallback& progress);

  ClaimsOf claims_of_;
};

}  // namespace semicrf
