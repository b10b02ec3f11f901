// The part that decode, posterior, query and simulate share: from options to a run that can start.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "core/process_memory.h"
#include "inputs/input_set.h"
#include "io/params/params_json.h"
#include "log/stage_times.h"
#include "outputs/sink.h"
#include "runs/piece_runner.h"
#include "runs/run_options.h"

namespace semicrf {

// A name and a value for the header of the outputs.
using HeaderOptions = std::vector<std::pair<std::string, std::string>>;

class PreparedRun {
 public:
  // Opens parameters and inputs and makes the engine.
  PreparedRun(const RunOptions& options, AnalysisList analyses);

  const Parameters& parameters() const { return parameters_.parameters; }
  const InputSet& inputs() const { return inputs_; }

  // The output named `path` (empty: not wanted), with its index when one is asked for.
  OutputSpec output(const std::string& path) const;
  // The `#` lines of the outputs of `command`.
  std::string header(const std::string& command, HeaderOptions options) const;
  // The plan of a command with the outputs that every run can write in addition; settles the memory, of which
  // outputs keep some. UsageError or WriteError when the outputs cannot be written or are inputs, MemoryError
  // when a window cannot fit.
  OutputPlan complete(OutputPlan plan);
  std::string describe(const OutputPlan& plan) const;
  // `after` as in RunCommand.
  void execute(const OutputPlan& plan, const std::function<std::vector<Warning>()>& after,
               Progress* progress);
  void warn(const Warning& warning) { report_.warn(warning); }

 private:
  ReadOptions read_options() const;
  EngineOptions settled_engine();
  EngineOptions for_sites(EngineOptions options);
  std::string engine_text() const;
  void read_constraints();
  void tell_steps();
  void settle_memory();
  void count_positions();
  std::string missing_text() const;
  std::size_t forecast_peak() const;
  void plan_pieces(std::size_t devices) const;
  bool fits_windows(std::size_t budget);
  // The piece that the plan of a sequence is made for: the longest one, with the chain of the piece whose
  // edges are cut most.
  struct LongestPiece {
    const Sequence& sequence;
    const std::vector<BinRange>& pieces;
    const ScoreSource& source;
    const Engine& engine;
    const PieceChain& chain;
    std::size_t kept;  // bytes of rows that are kept
  };
  template <class Visit>
  void for_each_sequence(Visit visit, bool shorter = false) const;

  StageTimes times_{"run"};                               // first member, so that it begins before the others
  std::int64_t program_bytes_ = resident_bytes().mapped;  // mapped bytes of the program's own file
  RunOptions options_;
  AnalysisList analyses_;
  std::future<void> device_start_;  // start of the device while the inputs are opened
  ParameterFile parameters_;
  InputSet inputs_;
  EnginePool engines_;
  std::size_t window_budget_ = 0;
  std::size_t kept_by_outputs_ = 0;  // bytes
  std::int64_t positions_ = 0;       // positions in all pieces, missing bins included
  RunReport report_;
};

// A command: what it computes and what it writes.
struct RunCommand {
  const RunOptions& options;
  AnalysisList analyses;
  std::function<OutputPlan(const PreparedRun&)> outputs;
  std::vector<Warning> warnings = {};                // warnings about the options
  std::function<std::vector<Warning>()> after = {};  // gives warnings about the results when all pieces are
                                                     // done; or empty
};
void execute(const RunCommand& command, Progress* progress);
// The text that --dry-run prints.
std::string describe(const RunCommand& command);

}  // namespace semicrf
