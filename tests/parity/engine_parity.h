// Runs an engine over a case as the pipeline does, whole or in windows, and compares what comes out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/segment.h"
#include "engine/engine.h"
#include "support/models/random_models.h"
#include "support/truth/follow_path.h"

namespace semicrf::testing {

struct Tolerances {
  double log_partition = 0;         // |difference| / max(1, |log Z|)
  double posterior = 0;             // absolute, every entry of every array
  double normalization = 0;         // |sum of label posteriors - 1|
  double score_per_segment = 1e-6;  // best path, rescored in double
};
// The table every engine is held to.
Tolerances tolerances_of(Precision precision);

struct DecodedCase {
  double score = 0;           // as the engine reports it at T
  std::vector<Segment> path;  // left to right; empty when no path is finite
  std::vector<ChunkReport> chunks;
};

struct PosteriorCase {
  double log_partition = 0;
  std::vector<double> boundary, labels, starts, ends;
  std::vector<ChunkReport> chunks;
  std::int64_t redone_windows = 0;  // windows whose provisional right state was wrong
};

// Window edges 0 = e_0 < ... < e_n = T, every `chunks` chunks of the engine's grid; one window when chunks is
// 0.
std::vector<std::int64_t> window_edges(const Engine& engine, std::int64_t length, std::int64_t chunks);

// Left to right with the true state handed on, then the traceback right to left.
DecodedCase decode_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges);

// Left to right with provisional right states, then verified from the right end and redone where they do not
// agree (docs/algorithm.md section 6).
PosteriorCase posterior_case(Engine& engine, const ModelCase& sample, const std::vector<std::int64_t>& edges);

// What the reference engine says of a case.
struct ExpectedCase {
  DecodedCase decoded;
  PosteriorCase posteriors;
};
ExpectedCase expected_case(Engine& reference, const ModelCase& sample);

// One line per disagreement, empty when there is none. The candidate runs over one window and over windows of
// one and of three chunks; all of these must give the same digits.
std::vector<std::string> compare_with(const ExpectedCase& expected, Engine& candidate,
                                      const ModelCase& sample, const Tolerances& tolerances);
std::vector<std::string> compare_engines(Engine& candidate, Engine& reference, const ModelCase& sample,
                                         const Tolerances& tolerances);

// Stretches of 320 positions of one label each, with tails: where it is not its label's turn, a tail lies up
// to hundreds of nats below what starts anew, so that numbers on one scale would not hold both.
ModelCase sinking_tails_case(const CaseShape& shape, std::uint64_t seed);

// Blocks that left the fast path in a pass for posteriors, both directions, and in one for a path.
std::int64_t exact_blocks(Engine& engine, const ModelCase& sample);

}  // namespace semicrf::testing
