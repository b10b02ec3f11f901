#include "analyses/analyse.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyses/constraints/constraint_passes.h"

namespace semicrf {
namespace {

PieceResult run_all(const PieceContext& context, const PiecePlan& plan, const BlockSink& sink) {
  PieceResult result;
  for (std::size_t i = 0; i < context.analyses.size() && result.feasible; ++i)
    context.analyses[i].run(context, plan.windows[i], result, sink);
  return result;
}

// Replaces the forbidden labels, which are those of the base model, by all their roles in the chain.
void forbid_all_roles(const EdgeRoles& roles, std::vector<Constraint>& constraints) {
  for (Constraint& one : constraints) {
    std::vector<int> all;
    for (const int label : one.forbidden)
      for (int role = 0; role < roles.count(); ++role) all.push_back(label * roles.count() + role);
    one.forbidden = std::move(all);
  }
}

// `context` has the scores without constraints.
PieceResult run_constrained(const PieceContext& context, const PiecePlan& plan, Constraints constraints,
                            const BlockSink& sink) {
  const AnalysisList& analyses = context.analyses;
  ConstraintPasses passes(context.engine, context.source, plan.windows.back(), context.threads);
  const auto refuse = [&] {
    if (const std::optional<std::size_t> first = passes.first_impossible(constraints))
      analyses.constraints->refuse(constraints[*first], context.identity.location);
  };
  std::optional<ConstraintFindings> found;
  if (analyses.needs_constraint_check() || require_boundaries(constraints)) {
    found = passes.find(constraints, context.progress);
    if (!found) refuse();
  } else if (context.progress) {
    context.progress(analyses.constraint_passes() * context.source.length());
  }
  double penalty = found ? found->penalty : 0;
  if (found)
    for (const auto& one : analyses) penalty = std::max(penalty, one->least_penalty());
  ConstrainedSource constrained(context.source, context.engine.model(), constraints, context.threads,
                                penalty);
  const PieceContext own{context.engine, constrained,      &context.source, context.chain,
                         analyses,       context.identity, context.threads, context.progress};
  PieceResult result = run_all(own, plan, sink);
  if (!result.feasible) refuse();
  if (!found || !result.feasible) return result;
  for (std::size_t i = 0; i < analyses.size(); ++i)
    analyses[i].settle(context, plan.windows[i], constraints, *found, result);
  if (analyses.constraint_probability) result.log_constraint_probability = found->log_probability;
  return result;
}

}  // namespace

PieceResult analyse_piece(Engine& engine, ScoreSource& source, const PieceChain& chain,
                          const AnalysisList& analyses, const PiecePlan& plan, const PieceIdentity& identity,
                          const BlockSink& sink, const ProgressCallback& progress) {
  const PieceContext context{engine, source, nullptr, chain, analyses, identity, plan.threads, progress};
  std::vector<Constraint> constraints;
  if (analyses.constraints) constraints = analyses.constraints->of(identity.location, identity.bins);
  if (chain.roles != nullptr) forbid_all_roles(*chain.roles, constraints);
  if (!constraints.empty()) return run_constrained(context, plan, constraints, sink);
  PieceResult result = run_all(context, plan, sink);
  if (analyses.constraint_probability) result.log_constraint_probability = 0;
  if (progress && analyses.constraints) progress(analyses.constraint_passes() * source.length());
  return result;
}

std::vector<PieceResult> analyse_together(Engine& engine, std::span<const ScoreWindow> pieces,
                                          const AnalysisList& analyses, const IndexedPosteriorSink& sink,
                                          int threads) {
  std::vector<PieceResult> results(pieces.size());
  for (const auto& analysis : analyses) analysis->run_together({engine, pieces, threads, sink}, results);
  return results;
}

}  // namespace semicrf
