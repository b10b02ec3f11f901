// Transform, centre and scale of every track from its raw values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"
#include "train/data/training_data.h"

namespace semicrf {

// `data` holds raw values. The transform is `wanted` where given; else none, unless the values of the
// training bins are so skewed that a few would drown the rest (|skewness| > kSkewed): then log1p where none
// is negative and asinh where some are. Centre and scale are mean and standard deviation over the training
// bins; a track of one value has scale 1 and a warning. Bins without a value (NaN) do not count; InputError
// where a track has none at all.
inline constexpr double kSkewed = 3;
void fit_transforms(const TrainingData& data, std::optional<Transform> wanted, std::vector<Track>& tracks,
                    std::vector<Warning>& warnings);

// InputError: the track has no value in any training bin.
[[noreturn]] void refuse_track_without_values(const std::string& track);

// Raw values to features, in place; NaN stays where the track keeps absences. InputError naming the place of
// a value without a finite feature.
void apply_transforms(const std::vector<Track>& tracks, TrainingData& data);

// Adds to the input `tracks`, whose features `data` has, the square of each with more than two values. What
// tells peaks from a background depends on a signal by more than a line: where both are normal with variances
// of their own, it is a parabola. Of 0 and 1 a square says nothing new.
void add_squares(const TrainingData& data, std::vector<Track>& tracks);

// The features of `tracks` from those of the input tracks, which are the first of them: 0 in place of NaN,
// and squares and absences as further columns.
void add_derived_features(const std::vector<Track>& tracks, TrainingData& data);

}  // namespace semicrf
