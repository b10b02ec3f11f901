// Models and scores to measure engines with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf {

// Normal numbers for scores and tables, or the statistics of a real task (real_workloads.h).
enum class WorkloadKind { kNormal, kChr11, kYeast, kSpeech };
const char* name_of(WorkloadKind kind);

struct BenchWorkload {
  std::int64_t length = 0;       // T
  int max_duration = 0;          // K
  int num_labels = 0;            // C
  double log_tail = 0;           // log q of a tail on every label; 0: none
  double score_scale = 1;        // standard deviation of the emissions
  double transition_offset = 0;  // added to every transition; less than 0: long segments
  std::int64_t distinct = 0;     // emissions that are drawn before they repeat; 0: all are
  int sequences = 1;             // sequences of that length
  // The numbers between length and sequences are for kNormal.
  WorkloadKind kind = WorkloadKind::kNormal;
  int min_duration = 1;  // shorter segments are forbidden
  double forbidden = 0;  // probability of a score to be -inf
  double masked = 0;     // and to be -1e9

  std::int64_t positions() const { return length * sequences; }
  // Duration and transition candidates of one pass over the sequences.
  double pairs() const {
    const double labels = num_labels;
    return static_cast<double>(positions()) * (max_duration * labels + labels * labels);
  }
};

// The shapes of N(0,1) scores that docs/performance.md reports.
std::vector<BenchWorkload> standard_workloads();
// The shape of the real task "chr11", "yeast" or "speech".
BenchWorkload real_workload(const std::string& name);

struct BenchSample {
  ChainModel model;              // kNormal: N(0,1) transitions and duration scores
  std::vector<float> emissions;  // (positions, C); kNormal: N(0, score_scale^2)

  // The sequence of `length` positions from `begin` on.
  ScoreWindow window(std::int64_t begin, std::int64_t length) const;
};
BenchSample make_sample(const BenchWorkload& workload, std::uint64_t seed);

}  // namespace semicrf
