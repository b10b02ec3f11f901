// The commands decode, posterior and simulate from options to finished files.
#pragma once

#include <string>

#include "log/stage_times.h"
#include "runs/run_options.h"

namespace semicrf {

// Reads, computes, writes and commits. `progress` may be null. Throws the errors of core/error.h (and
// ClosedPipe).
void run_decode(const DecodeOptions& options, Progress* progress);
void run_posterior(const PosteriorOptions& options, Progress* progress);
void run_simulate(const SimulateOptions& options, Progress* progress);

// What --dry-run prints: binding, engine, order, bins and memory. Checks what a run would check before
// computing.
std::string plan_decode(const DecodeOptions& options);
std::string plan_posterior(const PosteriorOptions& options);
std::string plan_simulate(const SimulateOptions& options);

// The file of sample or rank `number` (from 1) of several: out.3.bed for out.bed.
std::string numbered_path(const std::string& path, int number);

}  // namespace semicrf
