// The loop over pieces: read, compute, write.
//
// A long piece is read and computed window by window with all threads. Short pieces that follow each other
// are read together, computed at the same time, and written in order: with one thread each, or, by engines
// that take several sequences in one call, together. On several devices each takes the next piece, or the
// next short ones, when it is done with one; they too are written in order. Nothing of that changes a byte of
// the output.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "pipeline/analyses/piece_work.h"
#include "pipeline/inputs/input_set.h"
#include "pipeline/outputs/run_outputs.h"
#include "pipeline/run/piece_stream.h"
#include "pipeline/run/progress.h"
#include "pipeline/run/run_options.h"
#include "pipeline/run/run_report.h"
#include "pipeline/run/turns.h"

namespace semicrf {

// Whether several devices should share the windows of every piece, instead of taking pieces in turn: the
// longest (positions) is more than an equal part of all.
bool windows_pay(std::span<const std::int64_t> pieces, std::size_t devices);

// The engine that works with all threads, and one-thread engines for short pieces, made when they are needed;
// or an engine per device.
class EnginePool {
 public:
  EnginePool(const EngineOptions& options, const ChainModel& model);
  Engine& whole() const { return *whole_; }
  int devices() const { return 1 + static_cast<int>(others_.size()); }
  Engine& device(int index) { return index == 0 ? *whole_ : *others_[static_cast<std::size_t>(index - 1)]; }
  Engine& worker(int index) { return *workers_[static_cast<std::size_t>(index)]; }
  void make_workers();
  int threads() const { return options_.threads; }

 private:
  EngineOptions options_;
  ChainModel model_;
  std::unique_ptr<Engine> whole_;
  std::vector<std::unique_ptr<Engine>> others_;  // on the other devices
  std::vector<std::unique_ptr<Engine>> workers_;
};

struct RunnerOptions {
  Analysis analysis;
  std::size_t window_budget = 0;  // bytes for windows and what pieces keep
  InfeasiblePolicy infeasible = InfeasiblePolicy::kError;
};

class PieceRunner {
 public:
  // `progress` may be null.
  PieceRunner(const RunnerOptions& options, EnginePool& engines, PieceStream& pieces, RunOutputs& outputs,
              RunReport& report, Progress* progress);
  ~PieceRunner();
  void run();

 private:
  struct Item;
  // Short pieces that are computed at the same time.
  struct Batch {
    std::vector<std::unique_ptr<Item>> items;
    std::size_t bytes = 0;  // of their rows
    std::int64_t positions = 0;
    bool full = false;
  };
  struct Taken;
  void run_on_one();
  void run_in_order();
  std::optional<Piece> next_piece(Engine& engine);
  void run_long(const Piece& piece);
  void run_on_devices();
  void run_on_device(int device, Turns& turns);
  Taken take(Engine& engine, std::optional<Taken>& ahead);
  std::function<void()> compute_in_turn(Engine& engine, const Piece& piece, std::int64_t number,
                                        Turns& turns);
  std::function<void()> compute_batch_in_turn(Engine& engine, Batch taken);
  void finish_piece(const Piece& piece, const PieceResult& result, bool begun);
  void wait_written();
  bool takes_together(const Engine& engine) const;
  std::size_t batch_budget() const;
  bool is_one_of_many(const Engine& engine, const Piece& piece, const ScoreSource& source) const;
  void add_to_many(const Engine& engine, Piece piece, std::unique_ptr<ScoreSource> source, Batch& batch);
  void compute_together(Engine& engine, Batch& batch, int threads);
  bool is_short(const Piece& piece, const ScoreSource& source, std::size_t& bytes);
  void add_to_batch(Piece piece, std::unique_ptr<ScoreSource> source, std::size_t bytes);
  std::unique_ptr<Item> read_item(Piece piece, ScoreSource& source, bool to_project);
  void run_batch();
  void compute_item(Item& item, Engine& engine);
  void write_item(Item& item);
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
  std::mutex shared_;                 // of inputs and report, on several devices of progress too
  std::future<void> writing_;         // of the last long piece, on one device
  std::int64_t taken_ = 0;            // on several devices: turns that were given out
  bool stopped_ = false;              // and there are no more
  Batch batch_;                       // on one device
  std::int64_t segments_ = 0;         // of all pieces
  std::int64_t segments_at_cap_ = 0;  // as long as K allows
};

}  // namespace semicrf
