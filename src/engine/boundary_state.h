// What one side of a boundary must know of the other, and how two such states are compared.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

enum class Precision { kFloat, kDouble };

// The messages at boundary b that determine everything on the other side of it. Natural logarithms.
// Entries are relative: true log message = whole + offset + entry; the largest entry is 0 (all -inf: no path
// exists). `whole` is a whole number that takes up the length of the sequence, so that differences of it are
// exact.
//   forward:  ring row d-1 = gamma_{b-d}(c) + S[b,c] - S-origin, i.e. content already summed up to b;
//             message = alpha_b; tail = tail_b + S[b,c]
//   backward: ring row d-1 = S[b+d,c] - S[b,c] + Pe[b+d-1,c] + beta_{b+d}(c);
//             message = beta_b; tail = log sum over e > b+K of that, with B[K] and the tail's decay
// Rows that would lie outside the sequence are -inf.
struct BoundaryState {
  std::int64_t boundary = 0;
  double whole = 0;
  double offset = 0;
  std::vector<double> ring;     // (K, C)
  std::vector<double> message;  // (C)
  std::vector<double> tail;     // (C), empty when the model has no tail
  // Engines that repair all runs which did not agree together, round by round, keep what stood here after the
  // earlier rounds, oldest first. What comes behind the boundary was computed from these, so that a window
  // that begins here goes through the same rounds.
  std::vector<BoundaryState> earlier;
  int replaced = 0;  // first round of repairs after which an earlier state no longer stood here
};

// Share of the tolerance that a state which was repaired must agree within. Each of many runs that are
// repaired side by side may begin a little off the truth, and where little is forgotten that adds up.
inline constexpr double kToleranceOfRepairs = 1.0 / 16;

// The constant d with truth = warmed + (truth.whole - warmed.whole) + d, when every entry agrees: both -inf,
// or both finite with max d - min d <= tolerance + 4 ulp(largest |entry|) where the ulp is that of the
// engine's precision. The constant is the mean of the differences weighted by exp(truth). nullopt when they
// do not agree, or `warmed` does not agree with an earlier truth; all truths but the first are held to the
// tolerance of repairs.
//
// `edge_twins` (C) or empty, see edge_twins(): message and tail of a label that has a twin are left out where
// both states have them so far below the twin's that all they could ever add is nothing beside what the twin
// adds (negligible_beside()). Only a run from the sequence's edge knows them, and all others would be
// repaired.
std::optional<double> agreement(const BoundaryState& truth, const BoundaryState& warmed, double tolerance,
                                Precision precision, std::span<const int> edge_twins = {});

// The twins (ChainModel::twin) of labels into which no transition leads in this direction, -1 for the others;
// empty: there are none.
std::vector<int> edge_twins(const ChainModel& model, Direction direction);

// Nats by which a mass must be below another to be nothing beside it in this precision.
double negligible_beside(Precision precision);

// log Z (log semiring) or the best score (max semiring) from the forward state at T; -inf when no path
// exists.
double log_sum(const BoundaryState& state_at_end);
double best_final_score(const BoundaryState& state_at_end, int* best_label);

// The scale of a boundary state.
//
// The state with its largest entry moved into the offset, so that the largest entry is 0; unchanged
// where all are -inf.
BoundaryState normalised(BoundaryState state);

// The two ways of combining alternatives in the logarithmic domain.
enum class Semiring {
  kLog,  // their probabilities are added: log of the sum of exponentials
  kMax,  // the best one counts
};

}  // namespace semicrf
