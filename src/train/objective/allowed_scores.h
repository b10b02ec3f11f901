// The scores of a piece under what is known of its labels.
#pragma once

#include <span>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "model/scores/score_source.h"
#include "train/data/label_file.h"

namespace semicrf {

// Whether two lines that touch share a label, so that it takes a penalty to have a boundary between them.
bool needs_penalty(std::span<const LabelEvidence> evidence);

// `window` covers a whole piece, with scores. In `buffers` come scores for the same model with which every
// segmentation that agrees with `evidence` has its score and the log weights of its lines, and all others
// -inf; those that lack a boundary between two lines have `penalty` less for each (a power of two, as in
// analyses/constraints/constrained_source.h). Doubles, centred already. Any `threads` give the same.
ScoreWindow allowed_scores(const ScoreWindow& window, const ChainModel& model,
                           std::span<const LabelEvidence> evidence, int threads, double penalty,
                           ScoreBuffers& buffers);

}  // namespace semicrf
