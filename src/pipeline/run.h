// The commands decode and posterior from options to finished files.
#pragma once

#include <string>

#include "pipeline/progress.h"
#include "pipeline/run_options.h"

namespace semicrf {

// Reads, computes, writes and commits. `progress` may be null. Throws the errors of core/error.h (and
// ClosedPipe).
void run_decode(const DecodeOptions& options, Progress* progress);
void run_posterior(const PosteriorOptions& options, Progress* progress);

// What --dry-run prints: binding, engine, order, bins and memory. Checks what a run would check before
// computing.
std::string plan_decode(const DecodeOptions& options);
std::string plan_posterior(const PosteriorOptions& options);

}  // namespace semicrf
