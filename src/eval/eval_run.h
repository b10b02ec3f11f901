// The command eval from options to finished reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/options.h"
#include "eval/calibrate.h"
#include "eval/metrics/eval_report.h"
#include "io/segments/segment_reader.h"
#include "log/stage_times.h"
#include "runs/run_options.h"

namespace semicrf {

inline constexpr std::int64_t kTolerance = 30;  // bases

struct EvalOptions {
  std::string truth;      // BED; empty: none, only two models are compared
  std::string predicted;  // BED, "-": standard input; empty: none, only posteriors are compared
  // For files in seconds; the bin size is settled when they are read.
  LabelTimes truth_times, predicted_times;
  // Regions and chromosome sizes; with a parameter file also the tracks of the re-scoring, else no inputs.
  InputOptions input;
  CalibrationOptions calibration;
  std::string against;  // parameters of another model to compare that of `input` with, or empty
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes, of the re-scoring
  // Tolerance for boundaries; absent: kTolerance bases, one bin at least.
  std::optional<std::int64_t> tolerance;
  std::string background;       // label of what no line of the truth covers; empty: not evaluated
  bool match = false;           // pair the labels by the largest overlap
  std::string label_map;        // file that says which labels are which; empty: none
  bool merge_adjacent = false;  // compare after joining touching segments of one label
  std::string output = "-";     // text; empty: none
  std::string json_path;        // or empty
  MultiqcTarget multiqc;        // for a comparison with a truth, with its sample
  std::string version;          // version of the program
  bool names_options = true;    // whether warnings name options of `eval` that help
};

// Throws the errors of core/error.h. `progress` may be null.
EvalReport evaluate(const EvalOptions& options, Progress* progress);
// Evaluates and writes what was asked for.
void run_eval(const EvalOptions& options, Progress* progress);

}  // namespace semicrf
