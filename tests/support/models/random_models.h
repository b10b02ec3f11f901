// Seeded random models with scores, easy and hard: the material every engine is checked with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf::testing {

// (n, C) scores in the precision the engines get them in; both empty: absent.
struct ScoreTable {
  std::vector<float> f32;
  std::vector<double> f64;
  bool empty() const { return f32.empty() && f64.empty(); }
  double at(std::size_t index) const { return f32.empty() ? f64[index] : static_cast<double>(f32[index]); }
  ScoreArray view(std::size_t skip) const;  // from entry `skip` on
};

// What a case exercises. Where nothing else is said, scores are N(0,1), and the initial term, the centring,
// float or double input and the presence of start, end and boundary scores are drawn from the seed.
enum class CaseKind {
  kPlain,       // N(0,1) emissions, transitions and durations, nothing optional
  kEverything,  // a random subset of all optional parts at once: forbidden entries, tails, boundary scores
  kForbiddenTransitions,  // about a third of the transitions are -inf
  kForbiddenDurations,    // about a third of the durations are -inf
  kMinimumDurations,      // every label has a shortest duration
  kTails,                 // a geometric tail on every label or on some
  kLongTail,              // a tail that carries one segment over more than half of the sequence
  kBoundaryScores,        // Ps, Pe, pi_start and pi_end
  kSteps,                 // emissions jump between levels of +-1e4
  kMasks,                 // -1e9 on some labels at some positions, and on whole positions
  kForbiddenPositions,    // -inf emissions on some (position, label)
  kSteepDurations,        // -10 per position of duration
  kWildDurations,         // durations of +-1e4 at random
  kRareSource,            // a label that is only entered from a label e^-100 below the others
  kSinglePath,            // exactly one segmentation has a finite score
  kForbiddenRows,         // labels that nothing may follow, and labels that may follow nothing
  kInfeasible,            // no segmentation has a finite score
  kTies,                  // small integers: many equal scores
  kDyadic,                // multiples of 1/8: sums are exact in float and double
  kPeriodic,              // one duration p, a deterministic cycle of labels, faint emissions
  kPeriodicLate,          // the same with no emissions: the phase is fixed only by where the sequence ends
  kPeriodicEndScores,     // durations and labels cycle, and only pi_end tells the phases of the labels apart
  kLargeScores,           // N(0, s^2) emissions, s one of 3, 10, 30, 100 and 1000; sometimes tails, Ps and Pe
  kMixedSizes,            // stretches of N(0, s^2) emissions, s one of 0.1, 1, 30 and 1000
  kLeftBehind,            // label 0 falls by e^-1000 or more behind the others and catches up with them
  kSteepTables,           // transitions and durations spread over several hundred nats, none forbidden
  kMinimumDurationsMasked,  // shortest durations written as -1e9, with Ps and Pe
  kLargeTransitions,        // some transitions of up to +-4500, sometimes tails, Ps and Pe
};
std::vector<CaseKind> all_case_kinds();
const char* name_of(CaseKind kind);

struct CaseShape {
  std::int64_t length = 1;  // T
  int max_duration = 1;     // K
  int num_labels = 1;       // C
};

// A model and the scores of one sequence.
struct ModelCase {
  std::string description;  // kind, shape, options and seed: enough to make it again
  CaseKind kind = CaseKind::kPlain;
  std::uint64_t seed = 0;
  ChainModel model;
  std::int64_t length = 0;  // T
  ScoreTable emissions, start_scores, end_scores;
  std::vector<double> baseline;  // nu, empty: none
  bool subtract_position_max = false;
  bool exact_sums = false;  // every path score is exact in float: best paths must be equal, not only as good

  // Positions [begin, end); points into this object.
  ScoreWindow window(std::int64_t begin, std::int64_t end) const;
  ScoreWindow whole() const { return window(0, length); }
};

// Equal arguments give equal cases on any machine with the same standard library.
ModelCase make_case(CaseKind kind, const CaseShape& shape, std::uint64_t seed);

}  // namespace semicrf::testing
