#include "model/scores/feature_transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace semicrf {
namespace {

constexpr std::array<std::pair<Transform, std::string_view>, 4> kTransformNames{{
    {Transform::kNone, "none"},
    {Transform::kLog1p, "log1p"},
    {Transform::kAsinh, "asinh"},
    {Transform::kBinarize, "binarize"},
}};

constexpr std::array<std::pair<MissingPolicy, std::string_view>, 5> kPolicyNames{{
    {MissingPolicy::kZero, "zero"},
    {MissingPolicy::kSkip, "skip"},
    {MissingPolicy::kError, "error"},
    {MissingPolicy::kMean, "mean"},
    {MissingPolicy::kMarginal, "marginal"},
}};

double apply_function(const Track& track, double raw) {
  switch (track.transform) {
    case Transform::kNone:
      return raw;
    case Transform::kLog1p:
      return raw > -1 ? std::log1p(raw) : std::numeric_limits<double>::quiet_NaN();
    case Transform::kAsinh:
      return std::asinh(raw);
    case Transform::kBinarize:
      if (!std::isfinite(raw)) return std::numeric_limits<double>::quiet_NaN();
      return raw >= track.threshold ? 1 : 0;
  }
  throw std::logic_error("unknown transform");
}

template <class Value, class Function>
std::optional<std::size_t> transform_loop(Value* values, std::size_t count, std::size_t stride,
                                          Function function) {
  for (std::size_t i = 0; i < count; ++i) {
    Value& value = values[i * stride];
    const auto feature = static_cast<Value>(function(value));
    if (!std::isfinite(feature)) return i;
    value = feature;
  }
  return std::nullopt;
}

template <class Value>
std::optional<std::size_t> transform_any(const Track& track, Value* values, std::size_t count,
                                         std::size_t stride) {
  const double center = track.center;
  const double scale = track.scale;
  switch (track.transform) {
    case Transform::kNone:
      return transform_loop(values, count, stride, [=](double x) { return (x - center) / scale; });
    case Transform::kLog1p:
    case Transform::kBinarize:
      return transform_loop(values, count, stride,
                            [&](double x) { return (apply_function(track, x) - center) / scale; });
    case Transform::kAsinh:
      return transform_loop(values, count, stride,
                            [=](double x) { return (std::asinh(x) - center) / scale; });
  }
  throw std::logic_error("unknown transform");
}

template <class Value>
std::optional<std::size_t> transform_all(std::span<const Track> tracks, Value* rows, std::size_t n) {
  std::optional<std::size_t> first;
  for (std::size_t f = 0; f < tracks.size(); ++f) {
    const auto row = transform_any(tracks[f], rows + f, n, tracks.size());
    if (!row) continue;
    const std::size_t index = *row * tracks.size() + f;
    first = first ? std::min(*first, index) : index;
  }
  return first;
}

}  // namespace

std::string_view transform_name(Transform transform) {
  for (const auto& [value, name] : kTransformNames) {
    if (value == transform) return name;
  }
  throw std::logic_error("unknown transform");
}

std::optional<Transform> transform_from_name(std::string_view name) {
  for (const auto& [value, known] : kTransformNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string transform_text(const Track& track) {
  if (track.is_square()) return "square of " + track.square_of;
  if (track.is_density()) return "log density of " + track.density_of;
  std::ostringstream text;
  if (track.is_indicator()) {
    text << "indicator of " << track.value << " in " << track.indicator_of;
    return text.str();
  }
  text << transform_name(track.transform);
  if (track.transform == Transform::kBinarize) text << " from " << track.threshold;
  return text.str();
}

std::string_view missing_policy_name(MissingPolicy policy) {
  if (policy == MissingPolicy::kDefault) return "default";
  for (const auto& [value, name] : kPolicyNames) {
    if (value == policy) return name;
  }
  throw std::logic_error("unknown missing-value policy");
}

std::optional<MissingPolicy> missing_policy_from_name(std::string_view name) {
  for (const auto& [value, known] : kPolicyNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

bool is_newer_policy(MissingPolicy policy) {
  return policy == MissingPolicy::kMean || policy == MissingPolicy::kMarginal;
}

double feature_value(const Track& track, double raw) {
  return (apply_function(track, raw) - track.center) / track.scale;
}

double log_slope(const Track& track, double feature) {
  const double value = feature * track.scale + track.center, scale = -std::log(track.scale);
  switch (track.transform) {
    case Transform::kNone:
      return scale;
    case Transform::kLog1p:
      return scale - value;
    case Transform::kAsinh:  // -ln cosh, which may not overflow
      return scale + std::numbers::ln2 - std::fabs(value) - std::log1p(std::exp(-2 * std::fabs(value)));
    case Transform::kBinarize:
      return 0;
  }
  throw std::logic_error("unknown transform");
}

std::optional<std::size_t> transform_values(const Track& track, float* values, std::size_t count,
                                            std::size_t stride) {
  return transform_any(track, values, count, stride);
}

std::optional<std::size_t> transform_values(const Track& track, double* values, std::size_t count,
                                            std::size_t stride) {
  return transform_any(track, values, count, stride);
}

std::optional<std::size_t> transform_rows(std::span<const Track> tracks, float* rows, std::size_t n) {
  return transform_all(tracks, rows, n);
}

std::optional<std::size_t> transform_rows(std::span<const Track> tracks, double* rows, std::size_t n) {
  return transform_all(tracks, rows, n);
}

Parameters raw_parameters(Parameters parameters) {
  parameters.centering = Centering::kNone;
  for (Track& track : parameters.tracks) {
    track.transform = Transform::kNone;
    track.center = 0;
    track.scale = 1;
    track.threshold = 0;
    if (track.missing == MissingPolicy::kError) track.missing = MissingPolicy::kMean;
  }
  return parameters;
}

std::string transform_problem(const Track& track, double raw) {
  std::ostringstream text;
  text.precision(9);
  text << "track \"" << track.name << "\": ";
  if (!std::isfinite(raw)) {
    text << "a value must be finite, found " << raw;
  } else if (track.transform == Transform::kLog1p && raw <= -1) {
    text << "log1p needs values above -1, found " << raw;
  } else {
    text << "the feature of value " << raw << " is too large (center " << track.center << ", scale "
         << track.scale << ")";
  }
  return text.str();
}

}  // namespace semicrf
