// The part of a sequence around an interval, and everything else in two messages: what the probability of a
// claim about the interval is made of (docs/algorithm.md, section 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/chain_model.h"
#include "pipeline/analyses/claims/claim.h"
#include "pipeline/analyses/claims/duration_weights.h"

namespace semicrf {

// Numbers of boundaries lo .. lo + n, or of the n positions between them, label by label: [c * n + i].
// Natural logarithms; messages are relative to levels whose sum, less log Z, is `level`.
struct LocalRows {
  std::int64_t n = 0;
  std::int64_t begin = 0;  // the interval of the claim is [begin, end) from lo on
  std::int64_t end = 0;
  std::vector<double> starts;        // (C, n): everything before a segment that starts at position i
  std::vector<double> ends;          // (C, n): everything after a segment that has its last position at i
  std::vector<double> emissions;     // (C, n), centred
  std::vector<double> start_scores;  // (C, n): Ps with pi_start, or empty where all are 0
  std::vector<double> end_scores;    // (C, n): Pe with pi_end, or empty
  // Segments longer than K: those open at boundary `begin` from the left, at `end` from the right.
  std::vector<double> left_tail, right_tail;  // (C), or empty
  double level = 0;

  // The same, read from right to left.
  LocalRows mirrored(std::size_t labels) const;
};

// The tables of a chain that all claims share.
struct ClaimTables {
  explicit ClaimTables(const ChainModel& chain);
  const ChainModel& model;
  std::vector<DurationWeights> durations;  // per label
};

// How many positions before and after its interval a claim needs.
inline std::int64_t claim_reach(const ChainModel& model) { return model.max_duration + 1; }

// `tables` are of the chain, `mirror` of the reversed one.
ClaimResult claim_result(const Claim& claim, const LocalRows& rows, const ClaimTables& tables,
                         const ClaimTables& mirror);

}  // namespace semicrf
