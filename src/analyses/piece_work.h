// What is computed for one piece, and how it fits into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "analyses/best_paths/best_paths.h"
#include "analyses/claims/claim_sweep.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/draws/segment_shares.h"
#include "analyses/intervals/boundary_intervals.h"
#include "analyses/posteriors/posterior_path.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
#include "inputs/statements/constraint_file.h"
#include "io/text/bin_location.h"
#include "model/scores/edge_roles.h"
#include "windows/memory_budget.h"
#include "windows/window_loop.h"

namespace semicrf {

// Where a piece is: for the random numbers of its draws, and for the claims about it.
struct PieceIdentity {
  std::string sequence;  // its name
  BinLocation location;
  std::int64_t bins = 0;
};

// The probabilities of claims. One object for a whole run.
struct ClaimRequest {
  std::function<PieceClaims(const PieceIdentity&)> claims_of;  // called from several threads
  EngineOptions engine;  // of the run; for the engine of the reversed sequence
};

struct Analysis {
  bool viterbi = false;                         // the best path
  PathScoring scoring = PathScoring::kRescore;  // of it
  std::optional<double> path_gamma;  // in place of it the path by posteriors, with this weight of boundaries
  bool posteriors = false;           // boundary posteriors; with a path, also those along it
  bool label_posteriors = false;
  bool start_posteriors = false;
  bool end_posteriors = false;
  bool sums = false;            // of posteriors, where these are computed: entropies, sums by label
  bool counts = false;          // with the expected counts
  bool path_edges = false;      // with a path and posteriors: those of its starts and ends too
  bool exact_segments = false;  // with path_edges: the posteriors of exactly the segments of the path
  // Options of the run's engine, for sums that must be computed again in double precision; null: sums stay.
  std::optional<EngineOptions> sums_engine;
  std::optional<double> interval_level;         // with path_edges: of the boundaries of the path
  std::optional<BestPathsRequest> best_paths;   // with the best path: more of them
  int draws = 0;                                // segmentations drawn from P(y|x)
  std::uint64_t seed = 0;                       // of the draws
  std::shared_ptr<ClaimRequest> claims;         // or null
  std::shared_ptr<ConstraintFile> constraints;  // of all that is computed, or null
  bool constraint_probability = false;          // with constraints
  // Of a piece that was cut: engine and source are those of this chain; results have the labels of its base.
  // Null: it was not.
  const EdgeRoles* roles = nullptr;
  // The windows at the edges of a piece that was cut; engine and source are those of the model. Null: the
  // edges have no windows of their own.
  const EdgeWindows* edges = nullptr;

  // Whether all that is wanted can be computed with such windows: the best path, the path by posteriors, and
  // posteriors without sums.
  bool knows_edge_windows() const {
    return !sums && !counts && !exact_segments && !interval_level && !best_paths && draws == 0 && !claims &&
           !constraints;
  }
  bool has_path() const { return viterbi || path_gamma.has_value(); }
  // How often progress counts every position.
  int passes() const {
    return (viterbi ? 2 : 0) + (path_gamma ? 1 : 0) + (posteriors ? 1 : 0) + (exact_segments ? 1 : 0) +
           (interval_level ? 1 : 0) + (best_paths ? 3 : 0) + (draws > 0 ? 2 : 0) + (claims ? 2 : 0) +
           constraint_passes();
  }
  // Besides: for log Z with constraints and without.
  int constraint_passes() const { return constraints ? 2 : 0; }
};

struct PiecePlan {
  // path: by posteriors; constraints: of the passes that these need besides
  std::optional<WindowPlan> viterbi, path, shares, best_paths, posteriors, intervals, draws, claims,
      constraints;
  int threads = 1;  // besides those of the engine

  bool whole() const;  // one window
};

// Bytes of windows that are long enough not to waste work (comfortable), and for all threads (ample).
WindowWish window_wish(const Engine& engine, const ScoreSource& source, const Analysis& analysis);

// Bytes of the piece in one window, or in one between those of their own at its edges.
std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis);

// Of its rows (scores and outputs) without what the engine takes; and of the engine alone, for so many
// positions.
std::size_t row_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis);
std::size_t engine_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                         std::int64_t positions);

// Throws MemoryError when the piece cannot be cut small enough for `budget` bytes.
PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                     std::size_t budget);

struct PieceResult {
  std::optional<ViterbiResult> viterbi;
  std::optional<PosteriorResult> path_posteriors;  // that the path by posteriors was found with
  std::optional<PosteriorPath> posterior_path;     // where there is one
  std::optional<SegmentShares> shares;
  std::optional<BestPaths> best_paths;
  std::optional<PosteriorResult> posteriors;
  std::optional<BoundaryIntervals> intervals;
  std::optional<DrawResult> draws;
  std::optional<ClaimSweep> claims;
  std::vector<std::size_t> claim_numbers;            // one per result of `claims`
  std::optional<double> log_constraint_probability;  // natural logarithm

  bool feasible() const {
    return (!viterbi || viterbi->feasible) && (!path_posteriors || path_posteriors->feasible) &&
           (!posteriors || posteriors->feasible) && (!draws || draws->feasible) &&
           (!claims || claims->feasible);
  }
  // Null: there is none.
  const SegmentList* path_if_any() const {
    return viterbi ? &viterbi->segments : posterior_path ? &posterior_path->segments : nullptr;
  }
  const PosteriorSums* sums_if_any() const {
    const std::optional<PosteriorResult>& last = posteriors ? posteriors : path_posteriors;
    return last && last->sums ? &*last->sums : nullptr;
  }
  const SegmentList& path() const {
    if (const SegmentList* const found = path_if_any()) return *found;
    throw std::logic_error("a path is wanted of a piece that has none");
  }
};

// Gets the posteriors of a feasible piece, left to right, with what was computed of it before them.
using BlockSink = std::function<void(const PieceResult& so_far, const PosteriorBlock&)>;

// Stops after an infeasible pass for a path. InputError where segmentations are possible, but none that meets
// the constraints.
PieceResult analyse_piece(Engine& engine, ScoreSource& source, const Analysis& analysis,
                          const PiecePlan& plan, const PieceIdentity& identity, const BlockSink& sink,
                          const ProgressCallback& progress);

// analyse_piece() for several whole pieces whose scores lie in memory, by one call of the engine per pass.
// `analysis` has neither exact segments, nor intervals, several best paths, draws, claims, sums or roles.
// `sink` gets the index of a piece and its posteriors, from several threads; `threads`: for what the host
// does.
std::vector<PieceResult> analyse_together(Engine& engine, std::span<const ScoreWindow> pieces,
                                          const Analysis& analysis, const IndexedPosteriorSink& sink,
                                          int threads);

}  // namespace semicrf
