// The work of a run, cut into jobs: a long piece, or several short ones that follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analyses/analyse.h"
#include "runs/engine_pool.h"
#include "runs/piece_stream.h"
#include "runs/run_options.h"
#include "runs/run_report.h"

namespace semicrf {

struct RunnerOptions {
  AnalysisList analyses;
  std::size_t window_budget = 0;  // bytes for windows and what pieces keep
  InfeasiblePolicy infeasible = InfeasiblePolicy::kError;
};

// A short piece and its rows, which are read when it joins a batch.
struct ShortPiece {
  Piece piece;
  ScoreBuffers buffers;
  ScoreWindow scores;
  PiecePlan plan;  // windows for an engine of one thread
};

// Short pieces that are computed at the same time: by one call of an engine that is faster so, or with one
// thread each.
struct Batch {
  std::vector<std::unique_ptr<ShortPiece>> pieces;
  std::size_t bytes = 0;  // bytes that the pieces take; in one call without those of the engine
  std::int64_t positions = 0;
  bool full = false;
};

// A job: a piece, a batch or an error. Where it is none of them, there is no more to do.
struct Job {
  std::int64_t number = 0;  // place of the job in the order of the outputs
  std::optional<Piece> piece;
  Batch batch;
  std::exception_ptr error;  // error of reading the next piece

  bool empty() const { return !piece && batch.pieces.empty() && !error; }
};

// Called from several threads, one per device.
class JobQueue {
 public:
  // `inputs`: held while something of `pieces` or of the report is used.
  JobQueue(const RunnerOptions& options, EnginePool& engines, PieceStream& pieces, RunReport& report,
           std::mutex& inputs)
      : options_(options), engines_(engines), pieces_(pieces), report_(report), inputs_(inputs) {}

  // The next job, for `engine`. A batch ends where a piece does not belong to it: that is left in `ahead`,
  // and is the next job of the same caller.
  Job next(Engine& engine, std::optional<Job>& ahead);
  // Gives out no more jobs. The caller holds `inputs`.
  void stop() { stopped_ = true; }

  // Whether batches go to the engine in one call.
  bool calls_together(const Engine& engine) const;

 private:
  bool add_to_batch(Engine& engine, Piece& piece, Batch& batch);
  bool add_to_call(Engine& engine, Piece& piece, Batch& batch);
  bool add_to_threads(Piece& piece, Batch& batch);
  bool is_wanted(const Piece& piece) const;
  void read_into(Batch& batch, Piece& piece, ScoreSource& source, bool to_project, PiecePlan plan);

  const RunnerOptions& options_;
  EnginePool& engines_;
  PieceStream& pieces_;
  RunReport& report_;
  std::mutex& inputs_;
  std::int64_t count_ = 0;  // numbers given out
  bool stopped_ = false;
};

}  // namespace semicrf
