// Models of Segway: dynamic Bayesian networks of Gaussian tracks, to parameters.
//
// Segway's chain has a label (seg), a sub-label (subseg) and a countdown in every frame. In each frame after
// the first the label may change (probability change[2]), its sub-label alone (change[1]), or neither
// (change[0]); while the countdown is above 0, labels do not change. Tracks are normal variables given label
// and sub-label. Source: the structure file and parameter files that Segway 3 writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"

namespace semicrf {

// S labels with U sub-labels each, F tracks. Probabilities are linear; all arrays row-major.
struct SegwayModel {
  std::size_t segs = 0, subsegs = 0;
  std::size_t countdowns = 1;     // values of the countdown; 1: labels may change after any frame
  std::vector<double> first;      // (S)
  std::vector<double> sub_first;  // (S, U): of a label that begins
  std::vector<double> next;       // (S, S): of another label, [from][to]
  std::vector<double> sub_next;   // (S, U, U): of another sub-label, [label][from][to]
  std::vector<double> change;     // (S, 3): nothing, the sub-label, the label; where segments may end
  std::vector<std::string> tracks;
  std::optional<bool> asinh;  // tracks are transformed by asinh, or not at all; absent: the file does not say
  std::vector<double> mean, variance;  // (S, U, F) of the transformed tracks

  std::size_t states() const { return segs * subsegs; }
};

// (S U, S U) row-major, [from][to]: of label and sub-label in the next frame, where the countdown is 0.
std::vector<double> frame_transitions(const SegwayModel& model);

struct SegwayOptions {
  std::int64_t bin_size = 1;                 // Segway's resolution: bases per frame
  std::optional<std::int64_t> min_duration;  // shortest segments in bins, of every label; absent: 1
  std::optional<bool> asinh;                 // absent: as the model says, or else true, with a warning
};

// The same model as parameters. A frame is a bin, and log Z is ln P(tracks) (set_hidden_markov_chain()); with
// a shortest duration segments are as long as that and fall geometrically beyond. Labels are "0", "1", ... or
// with sub-labels "0.0", "0.1", ... Emissions are linear in the tracks and their squares; bins without a
// value say nothing (kMarginal), as in Segway. Where the resolution is not 1, Segway counts a frame's term
// once for each of its bases, and so do the heads. Warnings tell what Segway knows and this model does not:
// shortest lengths in marks of a ruler, and the asinh of single bases. UsageError: a shortest duration with
// sub-labels, a transform that is not the model's.
Parameters parameters_of(const SegwayModel& model, const SegwayOptions& options,
                         std::vector<Warning>& warnings);

}  // namespace semicrf
