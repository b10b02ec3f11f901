#include "analyses/piece_work.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "analyses/claims/reversed_chain.h"
#include "analyses/constraints/constraint_passes.h"
#include "analyses/posteriors/certain_entropy.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "inputs/rows/random_stream.h"

namespace semicrf {
namespace {

// `threads`: of the host.
PosteriorSelection selection_of(const Analysis& analysis, const SegmentList* path, int threads = 1) {
  PosteriorSelection selection;
  selection.starts = analysis.start_posteriors;
  selection.ends = analysis.end_posteriors;
  selection.sums = analysis.sums;
  selection.counts = analysis.counts;
  selection.threads = threads;
  selection.labels = analysis.label_posteriors;
  selection.path = path;
  selection.path_edges = analysis.path_edges;
  selection.path_next = analysis.interval_level.has_value();
  selection.roles = analysis.roles;
  selection.edges = analysis.edges;
  return selection;
}

// What the path by posteriors is made of. Sums belong to the last pass over the posteriors.
PosteriorSelection path_selection(const Analysis& analysis, int threads = 1) {
  PosteriorSelection selection;
  selection.labels = selection.starts = true;
  selection.sums = analysis.sums && !analysis.posteriors;
  selection.threads = threads;
  selection.roles = analysis.roles;
  selection.edges = analysis.edges;
  return selection;
}

// Of the model that results are about.
const ChainModel& model_of(const Engine& engine, const Analysis& analysis) {
  return analysis.roles != nullptr ? analysis.roles->base() : engine.model();
}

SegmentList without_roles(SegmentList segments, std::int64_t end, const EdgeRoles* roles) {
  if (roles == nullptr) return segments;
  return segments.relabelled(end, [roles](const Segment& segment) { return roles->label_of(segment.label); });
}

// Calls visit(its plan's place in a PiecePlan, needs) for each kind of pass over scores as `source` has them.
template <class Visit>
void for_each_pass_over(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                        Visit visit) {
  if (analysis.viterbi) visit(&PiecePlan::viterbi, viterbi_needs(engine, source));
  if (analysis.path_gamma) visit(&PiecePlan::path, posterior_needs(engine, source, path_selection(analysis)));
  if (analysis.exact_segments) visit(&PiecePlan::shares, share_needs(engine, source));
  if (analysis.best_paths) visit(&PiecePlan::best_paths, best_paths_needs(engine, source));
  if (analysis.posteriors) {
    const SegmentList some_path;
    visit(
        &PiecePlan::posteriors,
        posterior_needs(engine, source, selection_of(analysis, analysis.has_path() ? &some_path : nullptr)));
  }
  if (analysis.interval_level) visit(&PiecePlan::intervals, interval_needs(engine, source));
  if (analysis.draws > 0) visit(&PiecePlan::draws, draw_needs(engine, source));
  if (analysis.claims) visit(&PiecePlan::claims, claim_needs(engine, source));
  if (analysis.constraints) visit(&PiecePlan::constraints, log_needs(engine, source));
}

// The same of a piece.
template <class Visit>
void for_each_pass(const Engine& engine, const ScoreSource& source, const Analysis& analysis, Visit visit) {
  if (!analysis.constraints) return for_each_pass_over(engine, source, analysis, visit);
  for_each_pass_over(engine, ConstrainedShape(source, engine.model()), analysis, visit);
}

// Bytes of the windows at the edges in this pass, with their scores in the labels of the model.
EdgeBytes edge_bytes(const Analysis& analysis, std::optional<WindowPlan> PiecePlan::*wanted) {
  EdgeBytes sum;
  if (analysis.edges == nullptr) return sum;
  for (const EdgeWindow* edge : {&analysis.edges->left, &analysis.edges->right}) {
    if (!edge->exists()) continue;
    Analysis own = analysis;
    own.edges = nullptr;
    own.roles = edge->roles;
    const ChunkGrid grid = edge->engine->grid(0);
    const std::size_t plain =
        static_cast<std::size_t>(edge->positions + 2 * grid.warmup) * edge->plain->bytes_per_position();
    for_each_pass(*edge->engine, *edge->scores, own, [&](auto pass, const WindowNeeds& needs) {
      if (pass != wanted) return;
      const EdgeBytes window = edge_window_bytes(edge->positions, grid, needs);
      sum.most += window.most + plain;
      sum.usual += window.usual + plain;
    });
  }
  return sum;
}

EdgeLengths lengths_of(const EdgeWindows* edges) {
  return edges != nullptr ? EdgeLengths{edges->left.positions, edges->right.positions} : EdgeLengths{};
}

// The most that any of them gives.
template <class Bytes>
std::size_t most_of_passes(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                           Bytes bytes_of) {
  std::size_t most = 0;
  for_each_pass(engine, source, analysis,
                [&](auto, const WindowNeeds& needs) { most = std::max(most, bytes_of(needs)); });
  return most;
}

std::size_t bytes_of_rows(const WindowNeeds& needs, const ScoreSource& source) {
  return (needs.score_bytes + needs.output_bytes) * static_cast<std::size_t>(source.length());
}

// With a second engine, for the reversed sequence.
ClaimSweep results_of(std::span<const Claim> claims, Engine& engine, ScoreSource& source,
                      const Analysis& analysis, const PiecePlan& plan, const ProgressCallback& progress) {
  EngineOptions options = analysis.claims->engine;
  options.threads = plan.threads;
  const std::unique_ptr<Engine> backward = make_engine(options, reversed(engine.model()));
  const WindowPlan mirror_plan = plan_windows(source.length(), backward->grid(source.length()),
                                              claim_needs(*backward, source), plan.claims->budget);
  return sweep_claims(engine, *backward, source, *plan.claims, mirror_plan, claims, plan.threads,
                      analysis.roles, progress);
}

// Where there are claims about this piece.
void add_claims(Engine& engine, ScoreSource& source, const Analysis& analysis, const PiecePlan& plan,
                const PieceIdentity& identity, const ProgressCallback& progress, PieceResult& result) {
  PieceClaims wanted = analysis.claims->claims_of(identity);
  if (wanted.claims.empty()) {
    if (progress) progress(2 * source.length());
    return;
  }
  result.claims = results_of(wanted.claims, engine, source, analysis, plan, progress);
  result.claim_numbers = std::move(wanted.numbers);
}

}  // namespace

bool PiecePlan::whole() const {
  return std::ranges::all_of(std::array{&viterbi, &path, &shares, &best_paths, &posteriors, &intervals,
                                        &draws, &claims, &constraints},
                             [](const auto* plan) { return !*plan || (*plan)->count() == 1; });
}

WindowWish window_wish(const Engine& engine, const ScoreSource& source, const Analysis& analysis) {
  WindowWish wish;
  const std::int64_t length = source.length();
  const ChunkGrid grid = engine.grid(length);
  for_each_pass(engine, source, analysis, [&](auto pass, const WindowNeeds& needs) {
    const std::size_t edges = edge_bytes(analysis, pass).most;
    wish.comfortable = std::max(wish.comfortable, comfortable_window_bytes(length, grid, needs) + edges);
    if (const std::size_t ample = ample_window_bytes(length, grid, needs); ample > 0)
      wish.ample = std::max(wish.ample, ample + edges);
  });
  return wish;
}

std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis) {
  std::size_t most = 0;
  for_each_pass(engine, source, analysis, [&](auto pass, const WindowNeeds& needs) {
    most = std::max(most, needs.engine_bytes(source.length()) + bytes_of_rows(needs, source) +
                              edge_bytes(analysis, pass).most);
  });
  return most;
}

std::size_t row_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis) {
  return most_of_passes(engine, source, analysis,
                        [&](const WindowNeeds& needs) { return bytes_of_rows(needs, source); });
}

std::size_t engine_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                         std::int64_t positions) {
  return most_of_passes(engine, source, analysis,
                        [&](const WindowNeeds& needs) { return needs.engine_bytes(positions); });
}

PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                     std::size_t budget) {
  PiecePlan plan;
  for_each_pass(engine, source, analysis, [&](auto pass, const WindowNeeds& needs) {
    plan.*pass = plan_windows(source.length(), engine.grid(source.length()), needs, budget,
                              lengths_of(analysis.edges), edge_bytes(analysis, pass));
  });
  return plan;
}

namespace {

// What makes constraints hold is too large beside scores to be multiplied with posteriors, so that the
// entropy is that of the scores of `plain`. Null: they are not changed.
PosteriorSelection with_entropy_of(PosteriorSelection selection, ScoreSource* plain) {
  selection.scored = plain;
  return selection;
}

// sweep_posteriors(), with an entropy that stands.
PosteriorResult sweep_certainly(Engine& engine, ScoreSource& source, const Analysis& analysis,
                                const WindowPlan& plan, const PosteriorSelection& selection,
                                const PosteriorSink& sink, const ProgressCallback& progress) {
  PosteriorResult result = sweep_posteriors(engine, source, plan, selection, sink, progress);
  if (result.sums && analysis.sums_engine)
    make_entropy_certain(*analysis.sums_engine, engine.model(), source, selection, plan.budget, result);
  return result;
}

// Of scores that constraints have changed, where there is a `plain` source.
PieceResult analyse_scores(Engine& engine, ScoreSource& source, ScoreSource* plain, const Analysis& analysis,
                           const PiecePlan& plan, const PieceIdentity& identity, const BlockSink& sink,
                           const ProgressCallback& progress) {
  PieceResult result;
  if (analysis.viterbi) {
    result.viterbi = decode_viterbi(engine, source, *plan.viterbi, progress, plan.threads, analysis.scoring,
                                    analysis.edges);
    if (!result.viterbi->feasible) return result;
    result.viterbi->segments =
        without_roles(std::move(result.viterbi->segments), source.length(), analysis.roles);
  }
  if (analysis.path_gamma) {
    PosteriorPathFinder finder(model_of(engine, analysis), *analysis.path_gamma);
    result.path_posteriors = sweep_certainly(
        engine, source, analysis, *plan.path, with_entropy_of(path_selection(analysis, plan.threads), plain),
        [&](const PosteriorBlock& block) { finder.add(block); }, progress);
    if (!result.path_posteriors->feasible) return result;
    result.posterior_path = finder.finish();
  }
  if (analysis.exact_segments)
    result.shares = segment_shares(engine, source, *plan.shares, result.path(), analysis.roles, progress);
  if (analysis.best_paths) {
    BestPathsRequest request = *analysis.best_paths;
    request.threads = plan.threads;
    result.best_paths =
        find_best_paths(engine, source, *plan.best_paths, *result.viterbi, analysis.roles, request, progress);
  }
  std::optional<IntervalFinder> finder;
  if (analysis.interval_level)
    finder.emplace(result.path(), model_of(engine, analysis), *analysis.interval_level);
  if (analysis.posteriors)
    result.posteriors = sweep_certainly(
        engine, source, analysis, *plan.posteriors,
        with_entropy_of(selection_of(analysis, result.path_if_any(), plan.threads), plain),
        [&](const PosteriorBlock& block) {
          if (finder) finder->add(block);
          sink(result, block);
        },
        progress);
  if (finder && result.feasible())
    result.intervals =
        finder->finish(engine, source, *plan.intervals, plan.threads, analysis.roles, progress);
  if (analysis.draws > 0) {
    const DrawRequest request{analysis.draws, sequence_key(analysis.seed, identity.sequence),
                              identity.location.first_bin};
    result.draws = draw_segmentations(engine, source, *plan.draws, request, progress);
    for (Draw& draw : result.draws->draws)
      draw.segments = without_roles(std::move(draw.segments), source.length(), analysis.roles);
  }
  if (analysis.claims) add_claims(engine, source, analysis, plan, identity, progress, result);
  return result;
}

// Labels of the chain in place of those of its base.
void forbid_all_roles(const EdgeRoles& roles, std::vector<Constraint>& constraints) {
  for (Constraint& one : constraints) {
    std::vector<int> all;
    for (const int label : one.forbidden)
      for (int role = 0; role < roles.count(); ++role) all.push_back(label * roles.count() + role);
    one.forbidden = std::move(all);
  }
}

// Of ranks far below the best one, scores of others must be further below.
constexpr double kRankedPenalty = 0x1p19;

bool has_required_boundaries(const SegmentList& path, Constraints constraints) {
  SegmentList::Reader reader(path);
  Segment segment;
  bool more = reader.next(segment);
  for (const Constraint& one : constraints) {
    if (one.kind != Constraint::Kind::kBoundary) continue;
    while (more && segment.begin < one.begin) more = reader.next(segment);
    if (!more || segment.begin != one.begin) return false;
  }
  return true;
}

// Where fewer segmentations meet the constraints than were asked for, the next ones lack a boundary.
void drop_others(Constraints constraints, const SegmentList& best, BestPaths& paths) {
  std::size_t kept = 0;
  while (kept < paths.ranks.size() && has_required_boundaries(paths.segments(kept, best), constraints))
    ++kept;
  paths.ranks.resize(kept);
  paths.paths.resize(kept);
}

// Segmentations that lack a required boundary are all that is left of a claim that contradicts one: where
// that may be so, the largest penalty tells, which is too large for the digits of the other claims.
void settle_claims(Engine& engine, ScoreSource& plain, const Analysis& analysis, const PiecePlan& plan,
                   const PieceIdentity& identity, Constraints constraints, const ConstraintFindings& found,
                   std::vector<ClaimResult>& results) {
  const auto may_lack = [&](const ClaimResult& result, double penalty) {
    return found.may_lack_boundary(std::min(result.log_true, result.log_false), penalty);
  };
  const std::vector<Claim> all = analysis.claims->claims_of(identity).claims;
  std::vector<Claim> claims;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!may_lack(results[i], found.penalty)) continue;
    claims.push_back(all[i]);
    numbers.push_back(i);
  }
  if (claims.empty()) return;
  ConstrainedSource strict(plain, engine.model(), constraints, plan.threads, kLargestPenalty);
  const ClaimSweep swept = results_of(claims, engine, strict, analysis, plan, {});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    ClaimResult result = swept.results[i];
    if (may_lack(result, kLargestPenalty))
      result = result.log_true < result.log_false ? ClaimResult{kNegativeInfinity, 0}
                                                  : ClaimResult{0, kNegativeInfinity};
    results[numbers[i]] = result;
  }
}

// The constraints of the piece, which some segmentation meets if there is one at all.
PieceResult analyse_constrained(Engine& engine, ScoreSource& source, const Analysis& analysis,
                                const PiecePlan& plan, const PieceIdentity& identity, Constraints constraints,
                                const BlockSink& sink, const ProgressCallback& progress) {
  ConstraintPasses passes(engine, source, *plan.constraints, plan.threads);
  const auto refuse = [&] {
    if (const std::optional<std::size_t> first = passes.first_impossible(constraints))
      analysis.constraints->refuse(constraints[*first], identity.location);
  };
  std::optional<ConstraintFindings> found;
  // Claims may have nothing to say of the piece, and then find nothing impossible.
  if (analysis.constraint_probability || analysis.claims || require_boundaries(constraints)) {
    found = passes.find(constraints, progress);
    if (!found) refuse();
  } else if (progress) {
    progress(analysis.constraint_passes() * source.length());
  }
  double penalty = found ? found->penalty : 0;
  if (found && analysis.best_paths) penalty = std::max(penalty, kRankedPenalty);
  ConstrainedSource constrained(source, engine.model(), constraints, plan.threads, penalty);
  PieceResult result = analyse_scores(engine, constrained, &source, analysis, plan, identity, sink, progress);
  if (!result.feasible()) refuse();
  if (result.claims && require_boundaries(constraints))
    settle_claims(engine, source, analysis, plan, identity, constraints, *found, result.claims->results);
  if (found && result.best_paths) drop_others(constraints, result.path(), *result.best_paths);
  if (found && analysis.constraint_probability) result.log_constraint_probability = found->log_probability;
  return result;
}

}  // namespace

PieceResult analyse_piece(Engine& engine, ScoreSource& source, const Analysis& analysis,
                          const PiecePlan& plan, const PieceIdentity& identity, const BlockSink& sink,
                          const ProgressCallback& progress) {
  std::vector<Constraint> constraints;
  if (analysis.constraints) constraints = analysis.constraints->of(identity.location, identity.bins);
  if (analysis.roles != nullptr) forbid_all_roles(*analysis.roles, constraints);
  if (!constraints.empty())
    return analyse_constrained(engine, source, analysis, plan, identity, constraints, sink, progress);
  PieceResult result = analyse_scores(engine, source, nullptr, analysis, plan, identity, sink, progress);
  if (analysis.constraint_probability) result.log_constraint_probability = 0;
  if (progress && analysis.constraints) progress(analysis.constraint_passes() * source.length());
  return result;
}

namespace {

// The paths by posteriors of whole pieces.
void find_paths_together(Engine& engine, std::span<const ScoreWindow> pieces, const Analysis& analysis,
                         int threads, std::vector<PieceResult>& results) {
  std::vector<std::unique_ptr<PosteriorPathFinder>> finders;
  finders.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    finders.push_back(std::make_unique<PosteriorPathFinder>(engine.model(), *analysis.path_gamma));
  const std::vector<PosteriorSelection> selections(pieces.size(), path_selection(analysis));
  const IndexedPosteriorSink find = [&](std::size_t i, const PosteriorBlock& block) {
    finders[i]->add(block);
    results[i].posterior_path = finders[i]->finish();
    finders[i].reset();
  };
  std::vector<PosteriorResult> swept = posteriors_together(engine, pieces, selections, find, threads);
  for (std::size_t i = 0; i < pieces.size(); ++i) results[i].path_posteriors = std::move(swept[i]);
}

}  // namespace

std::vector<PieceResult> analyse_together(Engine& engine, std::span<const ScoreWindow> pieces,
                                          const Analysis& analysis, const IndexedPosteriorSink& sink,
                                          int threads) {
  std::vector<PieceResult> results(pieces.size());
  if (analysis.viterbi) {
    const std::vector<SequencePath> paths = engine.batches().viterbi_of(pieces);
    parallel_for(threads, pieces.size(), [&](std::size_t i, int) {
      results[i].viterbi = known_path(engine.model(), pieces[i], paths[i], analysis.scoring);
    });
  }
  if (analysis.path_gamma) find_paths_together(engine, pieces, analysis, threads, results);
  if (!analysis.posteriors) return results;
  std::vector<std::size_t> feasible;
  std::vector<ScoreWindow> scores;
  std::vector<PosteriorSelection> selections;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!results[i].feasible()) continue;
    feasible.push_back(i);
    scores.push_back(pieces[i]);
    selections.push_back(selection_of(analysis, results[i].path_if_any()));
  }
  std::vector<PosteriorResult> posteriors = posteriors_together(
      engine, scores, selections,
      [&](std::size_t n, const PosteriorBlock& block) { sink(feasible[n], block); }, threads);
  for (std::size_t n = 0; n < feasible.size(); ++n) results[feasible[n]].posteriors = posteriors[n];
  return results;
}

}  // namespace semicrf
