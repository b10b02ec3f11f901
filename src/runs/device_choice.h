// Which engine `--device auto` takes: the one that is expected to finish first.
//
// Both are predicted from the size of the work alone, before a driver is asked for anything: to start a
// device takes longer than many whole runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/chain_model.h"
#include "engine/engine.h"
#include "engine/options.h"

namespace semicrf {

// An engine with its threads, for messages and statistics. The bytes of results depend on no threads: they
// name an engine by its description alone.
std::string engine_line(const Engine& engine, int threads);

struct WorkSize {
  std::int64_t positions = 0;  // positions of all pieces together
  std::int64_t longest = 0;    // positions of the longest piece
  int max_duration = 1;        // K
  int num_labels = 1;          // C
  int inputs = 1;              // numbers read per position: tracks, or scores of labels
  int sweeps = 1;              // sweeps over all positions: 1 for a path, exact segments or samples, 2 for
                               // posteriors
  int period = 1;              // period of the durations, see period_of()
};

// The largest number that divides all durations a segment may have, of any label. Where it is more than 1,
// the messages never forget a position's place within the period, so that a GPU computes one run of a
// sequence after the other (docs/cuda.md, "Repairs").
int period_of(const ChainModel& model);

// Seconds of computing; reading inputs and writing outputs take the same time on both, and are left out.
double expected_cpu_seconds(const WorkSize& work, int threads);
double expected_gpu_seconds(const WorkSize& work);  // on one GPU, its start included

struct DeviceChoice {
  EngineOptions::Backend backend = EngineOptions::Backend::kCpu;
  std::string reason;  // a line for the log; empty: nothing was chosen
};

// Chooses kCpu or kCuda for Backend::kAuto, and returns any other backend as it is. `gpu_obstacle` says why
// no GPU can be used, or nothing; it is called only where a GPU would be faster, as it starts the driver.
DeviceChoice choose_device(const EngineOptions& options, const WorkSize& work,
                           const std::function<std::string()>& gpu_obstacle);

}  // namespace semicrf
