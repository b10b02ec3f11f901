// The loop over the pieces of a run: read, compute, write.
//
// Workers, one per device, take jobs from the queue, compute them and hand in the results (outputs,
// statistics, errors), which are written in the order of the pieces. A long piece is read and computed window
// by window with all threads of the worker; short pieces are computed at the same time. Where there is a
// device, one more thread writes the results of a piece while the device computes the next one. Nothing of
// that changes a byte of the output.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/threads/turns.h"
#include "log/stage_times.h"
#include "outputs/sink.h"
#include "runs/job_queue.h"

namespace semicrf {

class PieceRunner {
 public:
  // `progress` may be null.
  PieceRunner(const RunnerOptions& options, EnginePool& engines, PieceStream& pieces, RunOutputs& outputs,
              RunReport& report, Progress* progress);
  void run();

 private:
  struct Finished;
  void work(Engine& engine);
  void compute(Engine& engine, Job& job);
  void compute_long(Engine& engine, const Piece& piece, std::int64_t number);
  void compute_batch(Engine& engine, Batch& batch, std::int64_t number);
  void compute_with_threads(Engine& engine, const Batch& batch, std::vector<Finished>& finished);
  void hand_in(std::int64_t number, std::vector<Finished> finished, bool now);
  void write(const Finished& finished);
  void record(const Piece& piece, const PieceResult& result);
  void refuse_infeasible(const Piece& piece);
  PieceIdentity identity_of(const Piece& piece) const;
  void advance(std::int64_t positions);

  RunnerOptions options_;
  EnginePool& engines_;
  PieceStream& pieces_;
  RunOutputs& outputs_;
  RunReport& report_;
  Progress* progress_;
  std::mutex shared_;  // guards inputs, report and progress
  JobQueue queue_;
  Turns turns_;
};

}  // namespace semicrf
