// The posteriors of a piece (forward-backward) as an analysis.
#pragma once

#include <string>

#include "analyses/analysis.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// The posteriors that are wanted in addition to those of boundaries.
struct PosteriorRequest {
  bool labels = false;
  bool starts = false;
  bool ends = false;
  bool along_path = false;  // posteriors along the path, which an analysis before has found
  bool path_edges = false;  // starts and ends along the path; with along_path
  bool path_next = false;   // starts and ends of the path's next label, for intervals; with path_edges
  bool sums = false;        // sums over all positions: entropies, sums by label
  bool counts = false;      // the expected counts
};

// sweep_posteriors(), whose entropy is computed again in double precision where single precision is not
// accurate enough (make_entropy_certain()) and the list has the options of an engine.
PosteriorResult sweep_certainly(const PieceContext& context, const WindowPlan& plan,
                                PosteriorSelection selection, const PosteriorSink& sink);

// Result: PosteriorResult; the posteriors themselves go to the outputs, block by block.
class Posteriors : public Analysis {
 public:
  explicit Posteriors(const PosteriorRequest& request) : request_(request) {}

  std::string title() const override { return "posterior"; }
  int passes() const override { return 1; }
  int sweeps() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  bool knows_sites() const override { return true; }
  // An engine that adds up counts gives those of all its sequences together.
  bool computes_together() const override { return !request_.sums && !request_.counts; }
  bool gives_posteriors() const override { return true; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  PosteriorSelection selection(const PieceChain& chain, const SegmentList* path, int threads) const;

  PosteriorRequest request_;
};

// log Z, the log partition function, of a sequence of any length, by forward messages alone.
//
// -inf where no segmentation has a finite score. `plan`: made with log_needs().
double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                     const PieceChain& chain = {}, const ProgressCallback& progress = {});

struct LogPartitionResult {
  double log_partition = 0;
};

// log Z as an analysis, where nothing else that is computed has it. Result: LogPartitionResult.
class LogPartitionPass : public Analysis {
 public:
  std::string title() const override { return "log Z"; }
  int passes() const override { return 1; }
  bool computes_together() const override { return true; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
};

}  // namespace semicrf
