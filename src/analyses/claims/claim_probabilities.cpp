#include "analyses/claims/claim_probabilities.h"

#include <algorithm>
#include <memory>

#include "analyses/analysis_list.h"
#include "analyses/claims/reversed_chain.h"
#include "analyses/constraints/constraint_passes.h"
#include "analyses/sequence_report.h"

namespace semicrf {

WindowNeeds ClaimProbabilities::needs(const Engine& engine, const ScoreSource& source,
                                      const PieceChain&) const {
  return claim_needs(engine, source);
}

// Sweeps the claims with a second engine, for the reversed sequence.
ClaimSweep ClaimProbabilities::sweep(std::span<const Claim> claims, const PieceContext& context,
                                     ScoreSource& source, const WindowPlan& plan,
                                     const ProgressCallback& progress) {
  EngineOptions options = context.analyses.engine.value_or(EngineOptions{});
  options.threads = context.threads;
  const std::unique_ptr<Engine> backward = make_engine(options, reversed(context.engine.model()));
  const WindowPlan mirror_plan = plan_windows(source.length(), backward->grid(source.length()),
                                              claim_needs(*backward, source), plan.budget);
  return sweep_claims(context.engine, *backward, source, plan, mirror_plan, claims, context.threads,
                      context.chain.roles, progress);
}

void ClaimProbabilities::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                             const BlockSink&) const {
  PieceClaims wanted = claims_of_(context.identity);
  if (wanted.claims.empty()) {
    if (context.progress) context.progress(passes() * context.source.length());
    return;
  }
  ClaimSweep swept = sweep(wanted.claims, context, context.source, plan, context.progress);
  result.feasible = swept.feasible;
  result.put(ClaimFindings{std::move(swept), std::move(wanted.numbers)});
}

// The probability of a claim that contradicts a required boundary is that of segmentations which lack the
// boundary. Where that may be so, the claim is computed once more under the largest penalty, which decides
// it, but would cost the other claims too many digits.
void ClaimProbabilities::settle(const PieceContext& context, const WindowPlan& plan,
                                std::span<const Constraint> constraints, const ConstraintFindings& found,
                                PieceResult& result) const {
  auto* const findings = result.find<ClaimFindings>();
  if (findings == nullptr || !require_boundaries(constraints)) return;
  std::vector<ClaimResult>& results = findings->swept.results;
  const auto may_lack = [&](const ClaimResult& one, double penalty) {
    return found.may_lack_boundary(std::min(one.log_true, one.log_false), penalty);
  };
  const std::vector<Claim> all = claims_of_(context.identity).claims;
  std::vector<Claim> claims;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!may_lack(results[i], found.penalty)) continue;
    claims.push_back(all[i]);
    numbers.push_back(i);
  }
  if (claims.empty()) return;
  ConstrainedSource strict(context.source, context.engine.model(), constraints, context.threads,
                           kLargestPenalty);
  const ClaimSweep swept = sweep(claims, context, strict, plan, {});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    ClaimResult one = swept.results[i];
    if (may_lack(one, kLargestPenalty))
      one = one.log_true < one.log_false ? ClaimResult{kNegativeInfinity, 0}
                                         : ClaimResult{0, kNegativeInfinity};
    results[numbers[i]] = one;
  }
}

void ClaimProbabilities::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto* const found = piece.result.find<ClaimFindings>();
  if (found == nullptr) return;
  accumulate(report.stats.log_partition, found->swept.log_partition);
  report.add_totals(found->swept, 2, piece);
}

void ClaimProbabilities::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
