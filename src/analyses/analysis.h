// An analysis is one thing that is computed of a piece: a path, posteriors, samples, probabilities of claims.
//
// Each is a class with this interface, in a folder of its own. A command makes an AnalysisList of those that
// it wants; the code that plans memory, cuts windows, counts progress, chooses a device, collects statistics
// or writes a plan asks the list, and has no analysis by name. A new analysis is a class and the line of the
// command that adds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyses/piece_result.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "engine/engine.h"
#include "io/text/chromosomes.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

struct Constraint;
struct ConstraintFindings;
class AnalysisList;
class SequenceReport;

// The place of a piece, on which the random numbers of its samples and the claims about it depend.
struct PieceIdentity {
  std::string sequence;  // name of the sequence
  BinLocation location;
  std::int64_t bins = 0;
};

// The labels of the chain that engine and source have.
struct PieceChain {
  // The roles of the labels of a piece that was cut: engine and source have their chain, results the labels
  // of its base. Null: engine and source have the labels of the model.
  const EdgeRoles* roles = nullptr;
  // The windows at the edges of a piece that was cut; engine and source are those of the model. Null: the
  // edges have no windows of their own.
  const EdgeWindows* edges = nullptr;
};

// What an analysis computes with. All must outlive the call.
struct PieceContext {
  Engine& engine;
  ScoreSource& source;
  // The scores without constraints, where there are any; else null. The penalties that make constraints hold
  // are too large to be multiplied with posteriors like scores.
  ScoreSource* unconstrained;
  PieceChain chain;
  const AnalysisList& analyses;
  const PieceIdentity& identity;
  int threads;  // threads of the host, in addition to those of the engine
  const ProgressCallback& progress;

  // The model that results are about.
  const ChainModel& model() const { return chain.roles != nullptr ? chain.roles->base() : engine.model(); }
  // The segments with the labels of that model.
  SegmentList without_roles(SegmentList segments) const;
};

// Gets the posteriors of a feasible piece, left to right, with what was computed of it before them.
using BlockSink = std::function<void(const PieceResult& so_far, const PosteriorBlock&)>;

// Whole pieces whose scores lie in memory, computed by one call of the engine.
struct PiecesContext {
  Engine& engine;
  std::span<const ScoreWindow> pieces;
  int threads;                       // threads of the host
  const IndexedPosteriorSink& sink;  // called from several threads
};

// A piece and what was found of it, for the statistics.
struct PieceRecord {
  const PieceResult& result;
  const BinLocation& location;
  std::int64_t positions;
  const ChainModel& model;
};

class Analysis {
 public:
  virtual ~Analysis() = default;

  // --- its cost
  // Its name in a plan (`--dry-run`).
  virtual std::string title() const = 0;
  // The number of times that its progress counts every position.
  virtual int passes() const = 0;
  // Its cost in passes of forward messages over the piece.
  virtual int sweeps() const { return passes(); }
  // The memory of its pass over scores as `source` has them.
  virtual WindowNeeds needs(const Engine& engine, const ScoreSource& source,
                            const PieceChain& chain) const = 0;
  // Bytes that a run keeps for it until the end, windows not included.
  virtual std::size_t kept_bytes() const { return 0; }
  // Bytes of workspaces that threads keep from its pass, for so many positions at once.
  virtual std::size_t workspace_bytes(const Engine&, std::int64_t) const { return 0; }

  // --- what it can and gives
  // Whether it can be computed with windows of their own at cut edges (EdgeWindows).
  virtual bool knows_edge_windows() const { return false; }
  // Whether run_together() can compute it.
  virtual bool computes_together() const { return false; }
  // Whether it sets the path of a piece, or gives blocks of posteriors to the outputs.
  virtual bool finds_path() const { return false; }
  virtual bool gives_posteriors() const { return false; }
  // Whether it computes anything of this piece. Called from several threads.
  virtual bool is_about(const PieceIdentity&) const { return true; }

  // --- computing
  // Puts its result into `result`, which has those of the analyses before it in the list. Where no
  // segmentation has a finite score it says so there, and none behind it runs.
  virtual void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                   const BlockSink& sink) const = 0;
  virtual void run_together(const PiecesContext& context, std::span<PieceResult> results) const;
  // Called before the first block of posteriors, and with every block, where an analysis of the list gives
  // posteriors: for an analysis that collects from them what its own run(), later, works with.
  virtual void begin_posteriors(const PieceContext&, PieceResult&) const {}
  virtual void add_posteriors(const PosteriorBlock&, PieceResult&) const {}

  // --- under constraints
  // Whether it must be checked first that the constraints can be met, because this analysis may not find out
  // by itself.
  virtual bool needs_constraint_check() const { return false; }
  // The least penalty, as a natural logarithm, of segmentations that lack a required boundary.
  virtual double least_penalty() const { return 0; }
  // Called after run(): removes from the result what comes from segmentations that lack a required boundary.
  // `context.source` has the scores without constraints.
  virtual void settle(const PieceContext& /*context*/, const WindowPlan& /*plan*/,
                      std::span<const Constraint> /*constraints*/, const ConstraintFindings& /*found*/,
                      PieceResult& /*result*/) const {}

  // --- statistics
  // Adds to the statistics a feasible piece, and one that is not feasible.
  virtual void record(const PieceRecord& piece, SequenceReport& report) const = 0;
  virtual void record_infeasible(SequenceReport&) const {}
};

}  // namespace semicrf
