// The score of a given segmentation, straight from the definition in docs/algorithm.md section 1.
#pragma once

#include <cstdint>
#include <span>

#include "core/segment.h"
#include "support/models/random_models.h"

namespace semicrf::testing {

// Under InitialTerm::kUniform the first segment gets the best transition into it (as a path) or the LSE of
// all (as a probability).
enum class InitialSources { kBest, kAll };

// -inf when the segmentation uses anything forbidden. `path` runs left to right and must tile [0, T)
// (std::invalid_argument otherwise). Every part of the sum is added without rounding; only the result is
// rounded.
double rescore(const ModelCase& sample, std::span<const Segment> path,
               InitialSources sources = InitialSources::kBest);

// fbar[t,c], Ps[t,c] with pi_start, Pe[t,c] with pi_end.
double centred_emission(const ModelCase& sample, std::int64_t position, int label);
double start_score(const ModelCase& sample, std::int64_t position, int label);
double end_score(const ModelCase& sample, std::int64_t position, int label);

// What stands before the first segment of label `label`.
double initial_score(const ChainModel& model, int label, InitialSources sources);

// Whether the segments are in order, not empty, labelled 0..C-1 and cover [0, T) exactly.
bool tiles(std::span<const Segment> path, std::int64_t length, int num_labels);

}  // namespace semicrf::testing
