#include "analyses/analyse.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyses/constraints/constrained_source.h"
#include "analyses/posteriors/posteriors.h"

namespace semicrf {

namespace {

// Calls visit(number, needs) for each pass over scores as `source` has them, in the order of
// PiecePlan::windows.
template <class Visit>
void for_each_pass_over(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                        const AnalysisList& analyses, Visit visit) {
  std::size_t number = 0;
  for (const auto& analysis : analyses) visit(number++, analysis->needs(engine, source, chain));
  if (analyses.constraints) visit(number, log_needs(engine, source));
}

// for_each_pass_over() for a piece: over scores under the constraints, where there are any.
template <class Visit>
void for_each_pass(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                   const AnalysisList& analyses, Visit visit) {
  if (!analyses.constraints) return for_each_pass_over(engine, source, chain, analyses, visit);
  for_each_pass_over(engine, ConstrainedShape(source, engine.model()), chain, analyses, visit);
}

// Bytes of the windows at the edges in this pass, with their scores in the labels of the model.
EdgeBytes edge_bytes(const PieceChain& chain, const AnalysisList& analyses, std::size_t wanted) {
  EdgeBytes sum;
  if (chain.edges == nullptr) return sum;
  for (const EdgeWindow* edge : {&chain.edges->left, &chain.edges->right}) {
    if (!edge->exists()) continue;
    const ChunkGrid grid = edge->engine->grid(0);
    const std::size_t plain_bytes =
        analyses.constraints ? ConstrainedShape(*edge->plain, edge->roles->base()).bytes_per_position()
                             : edge->plain->bytes_per_position();
    const std::size_t plain = (edge->positions + 2 * grid.warmup) * plain_bytes;
    for_each_pass(*edge->engine, *edge->scores, {edge->roles, nullptr}, analyses,
                  [&](std::size_t number, const WindowNeeds& needs) {
                    if (number != wanted) return;
                    const EdgeBytes window = edge_window_bytes(edge->positions, grid, needs);
                    sum.most += window.most + plain;
                    sum.usual += window.usual + plain;
                  });
  }
  return sum;
}

std::size_t bytes_of_rows(const WindowNeeds& needs, const ScoreSource& source) {
  return (needs.score_bytes + needs.output_bytes) * source.length();
}

}  // namespace

bool PiecePlan::whole() const {
  return std::ranges::all_of(windows, [](const WindowPlan& plan) { return plan.count() == 1; });
}

WindowWish window_wish(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                       const AnalysisList& analyses) {
  WindowWish wish;
  const std::int64_t length = source.length();
  const ChunkGrid grid = engine.grid(length);
  for_each_pass(engine, source, chain, analyses, [&](std::size_t number, const WindowNeeds& needs) {
    const std::size_t edges = edge_bytes(chain, analyses, number).most;
    wish.comfortable = std::max(wish.comfortable, comfortable_window_bytes(length, grid, needs) + edges);
    if (const std::size_t ample = ample_window_bytes(length, grid, needs); ample > 0)
      wish.ample = std::max(wish.ample, ample + edges);
  });
  return wish;
}

std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                        const AnalysisList& analyses) {
  std::size_t most = 0;
  for_each_pass(engine, source, chain, analyses, [&](std::size_t number, const WindowNeeds& needs) {
    most = std::max(most, needs.engine_bytes(source.length()) + bytes_of_rows(needs, source) +
                              edge_bytes(chain, analyses, number).most);
  });
  return most;
}

std::size_t row_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                      const AnalysisList& analyses) {
  std::size_t most = 0;
  for_each_pass(engine, source, chain, analyses, [&](std::size_t, const WindowNeeds& needs) {
    most = std::max(most, bytes_of_rows(needs, source));
  });
  return most;
}

std::size_t engine_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                         const AnalysisList& analyses, std::int64_t positions) {
  std::size_t most = 0;
  for_each_pass(engine, source, chain, analyses, [&](std::size_t, const WindowNeeds& needs) {
    most = std::max(most, needs.engine_bytes(positions));
  });
  return most;
}

PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                     const AnalysisList& analyses, std::size_t budget) {
  PiecePlan plan;
  for_each_pass(engine, source, chain, analyses, [&](std::size_t number, const WindowNeeds& needs) {
    plan.windows.push_back(plan_windows(source.length(), engine.grid(source.length()), needs, budget,
                                        lengths_of(chain.edges), edge_bytes(chain, analyses, number)));
  });
  return plan;
}

namespace {

PieceResult run_all(const PieceContext& context, const PiecePlan& plan, const BlockSink& sink) {
  PieceResult result;
  for (std::size_t i = 0; i < context.analyses.size() && result.feasible; ++i)
    context.analyses[i].run(context, plan.windows[i], result, sink);
  return result;
}

// `context` has the scores without constraints.
PieceResult run_constrained(const PieceContext& context, const PiecePlan& plan, Constraints constraints,
                            const BlockSink& sink) {
  const AnalysisList& analyses = context.analyses;
  ConstraintPasses passes(context.engine, context.source, context.chain, plan.windows.back(),
                          context.threads);
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
  ConstrainedPiece piece(context.engine.model(), context.source, context.chain, constraints, context.threads,
                         penalty);
  const PieceContext own{context.engine, piece.source(),   &context.source, piece.chain(),
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
