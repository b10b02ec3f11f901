// Tracks without values in models whose tracks are independent given the label: their terms are left out.
//
// There the emission score is a sum over tracks, f[t,c] = sum_f log p(x_f | c), so that leaving out a term is
// summing over all values that the track could have. Linear heads have the bias of all tracks in one number;
// its part of each track follows from the weights (docs/algorithm.md, section 16).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// What the file of a model says of its emissions beside the heads.
struct RecordedEmissions {
  std::string family;         // as --emission names it, or empty
  std::vector<double> sizes;  // r of negative binomials, by input track; empty: other families
  double scale = 1;           // > 0: the heads are so many times the log densities
};

// (C, input tracks) row-major: the parts of the emission bias, which sum to it. Nothing where the emissions
// are not those of independent Bernoulli, Gaussian, Poisson, negative binomial or categorical
// distributions, or sums of log densities, which the numbers tell: the sum must be the bias within 1e-6 of
// its size.
std::optional<std::vector<double>> track_biases(const Parameters& parameters,
                                                const RecordedEmissions& recorded);

// Takes these input tracks, their squares and their indicators out of the model, and out of `recorded.sizes`:
// exactly where track_biases() knows their parts, else as if they had their mean everywhere (a feature of 0).
// Says whether exactly. UsageError: a name that no input track has, or no track would be left.
bool leave_out_tracks(Parameters& parameters, RecordedEmissions& recorded,
                      std::span<const std::string> names);

// The feature that tells where an input track has no value.
Track absence(const Track& track);

// Adds the absence of every input track of the policy kMarginal as a feature, whose weights take the track's
// part out of the bias again. Where track_biases() does not know the parts, the policy becomes kMean.
void add_absences(Parameters& parameters, const RecordedEmissions& recorded);

// Takes these features out again.
void remove_absences(Parameters& parameters);

}  // namespace semicrf
