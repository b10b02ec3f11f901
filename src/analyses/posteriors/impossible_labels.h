// Labels that a position cannot have: engines give them what rounding leaves of sums and differences, and
// here they get 0, so that the others have all of the probability.
#pragma once

#include <span>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "engine/engine.h"

namespace semicrf {

// `labels`: (range, C) label posteriors of an engine, for positions that `scores` has. A label is impossible
// where its score is -inf or, where masks count as such (engine/masks.h), a mask; at the ends of the sequence
// also where its start or end score is -inf. The other labels of such a position are divided by their sum, so
// that a label which is the only one left has exactly 1; so has the only label of a model. Scores that heads
// make of features are finite.
void clear_impossible_labels(const ChainModel& model, const ScoreWindow& scores, PositionRange range,
                             int threads, std::span<double> labels);

// What rounding may leave of a label posterior that is 0: 2^-18 (3.8e-6) in single precision, 2^-40 in
// double.
double label_posterior_residue(Precision precision);

// `labels`: rows of `num_labels` label posteriors, each of which adds up to 1. Those below the residue are
// set to 0, and the others of such a row are divided by their sum; the only one that is left has exactly 1.
// So a label that the structure of the model forbids somewhere (shortest durations, forbidden transitions)
// has 0 there, as it has in exact arithmetic.
void clear_residues(Precision precision, int num_labels, int threads, std::span<double> labels);

}  // namespace semicrf
