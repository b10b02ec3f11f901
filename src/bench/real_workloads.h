// Workloads with the statistics of real ones, drawn from a seed: no file is needed.
//
// A chain of segments is drawn from the model itself, then what is observed of each label, then the scores
// that the model's own heads make of it. Where the constants come from is said beside them.
#pragma once

#include <cstdint>

#include "bench/workload.h"

namespace semicrf {

// `workload.kind` is one of the real ones, K and C are its own.
BenchSample make_real_sample(const BenchWorkload& workload, std::uint64_t seed);

}  // namespace semicrf
