// From raw track values to features: (g(x) - center) / scale.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/parameters.h"

namespace semicrf {

std::string_view transform_name(Transform transform);
std::optional<Transform> transform_from_name(std::string_view name);
// How a feature is made, for people: "asinh", "binarize from 2", "square of H3K4me3", "indicator of 2 in
// base", "log density of coverage".
std::string transform_text(const Track& track);
std::string_view missing_policy_name(MissingPolicy policy);  // "default" for kDefault, which no file names
std::optional<MissingPolicy> missing_policy_from_name(std::string_view name);
// Whether only format 1.1 has it.
bool is_newer_policy(MissingPolicy policy);

// One value, in double. The result is not finite when the value has no feature (see transform_problem).
double feature_value(const Track& track, double raw);
// ln of the derivative of that by the raw value, where it has this feature; 0 for `binarize`. What the log
// density of features lacks of that of raw values.
double log_slope(const Track& track, double feature);

// Transforms `count` values of one track in place of their raw values: values[i * stride], 0 <= i < count.
// Computed in double, rounded once. Returns the index i of the first value that has no finite feature (log1p
// of x <= -1, a raw NaN or infinity, an overflow), nullopt when all are fine; the caller knows the place in
// the genome.
std::optional<std::size_t> transform_values(const Track& track, float* values, std::size_t count,
                                            std::size_t stride);
std::optional<std::size_t> transform_values(const Track& track, double* values, std::size_t count,
                                            std::size_t stride);

// Transforms (n, F) row-major raw rows in place, column f by tracks[f]. Returns the smallest row * F + f
// without a finite feature.
std::optional<std::size_t> transform_rows(std::span<const Track> tracks, float* rows, std::size_t n);
std::optional<std::size_t> transform_rows(std::span<const Track> tracks, double* rows, std::size_t n);

// The model with tracks that stay as they are in the files: absences are told, and not refused.
Parameters raw_parameters(Parameters parameters);

// Text for the error about a raw value without a finite feature: `track "H3K4me3": log1p needs values above
// -1, found -2`.
std::string transform_problem(const Track& track, double raw);

}  // namespace semicrf
