#include "model/scores/feature_transform.h"

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.h"

using namespace semicrf;

TEST_CASE("features are centred and scaled function values") {
  CHECK(feature_value({"x"}, 3.5) == 3.5);
  CHECK(feature_value({"x", Transform::kLog1p, 0.5, 2}, 3) == Approx((std::log(4.0) - 0.5) / 2));
  CHECK(feature_value({"x", Transform::kAsinh, -1, 0.5}, -2) == Approx((std::asinh(-2.0) + 1) / 0.5));
  std::vector<float> rows{0, 0, 0, 1, 1, -0.5F, 2, 2, 10};
  const std::vector<float> raw = rows;
  Track binary{"b", Transform::kBinarize};
  binary.threshold = 2;
  CHECK(feature_value(binary, 2) == 1);
  CHECK(feature_value(binary, 1.999) == 0);
  CHECK(std::isnan(feature_value(binary, std::numeric_limits<double>::infinity())));
  CHECK(transform_text(binary) == "binarize from 2");
  const std::vector<Track> tracks{{"a"}, {"b", Transform::kAsinh, 1, 3}, {"c", Transform::kLog1p, 0, 0.1}};
  REQUIRE(!transform_rows(tracks, rows.data(), 3));
  std::vector<double> wide(raw.begin(), raw.end());
  REQUIRE(!transform_rows(tracks, wide.data(), 3));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double expected = feature_value(tracks[i % 3], static_cast<double>(raw[i]));
    CHECK(wide[i] == expected);
    CHECK(rows[i] == static_cast<float>(expected));
  }
}

TEST_CASE("slopes are the derivatives of features") {
  for (const Transform transform : {Transform::kNone, Transform::kLog1p, Transform::kAsinh})
    for (const double raw : {-0.9, -0.2, 0.0, 0.7, 30.0, 4e5}) {
      const Track track{"x", transform, 0.4, 2.5};
      const double step = 1e-5 * (1 + std::fabs(raw));
      const double slope = (feature_value(track, raw + step) - feature_value(track, raw - step)) / (2 * step);
      CHECK(log_slope(track, feature_value(track, raw)) == Approx(std::log(slope)).margin(1e-6));
    }
  CHECK(log_slope({"x", Transform::kAsinh, 0, 1}, 2000) == Approx(std::log(2.0) - 2000));
  Track binary{"x"};
  binary.transform = Transform::kBinarize;
  CHECK(log_slope(binary, 1) == 0);
}

TEST_CASE("the first value without a feature is reported and left as it was") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Track> tracks{{"a"}, {"b", Transform::kLog1p}};
  std::vector<float> rows{0, 1, 5, -1, 6, -2, infinity, 0};
  CHECK(transform_rows(tracks, rows.data(), 4) == std::optional<std::size_t>(3));
  CHECK(rows[3] == -1);
  std::vector<float> other{0, 1, std::numeric_limits<float>::quiet_NaN(), -1};
  CHECK(transform_rows(tracks, other.data(), 2) == std::optional<std::size_t>(2));
  std::vector<double> close{-1 + 1e-16, -1};
  CHECK(transform_values({"b", Transform::kLog1p}, close.data(), 2, 1) == std::optional<std::size_t>(1));
  // Fits a double, not a float.
  const Track tiny{"t", Transform::kNone, 0, 1e-30};
  std::vector<float> narrow{1e10F};
  std::vector<double> wide{1e10};
  CHECK(transform_values(tiny, narrow.data(), 1, 1) == std::optional<std::size_t>(0));
  CHECK(!transform_values(tiny, wide.data(), 1, 1));
}

TEST_CASE("problems with values have a text") {
  CHECK(transform_problem({"b", Transform::kLog1p}, -2.5) ==
        "track \"b\": log1p needs values above -1, found -2.5");
  CHECK(transform_problem({"a"}, std::numeric_limits<double>::infinity()) ==
        "track \"a\": a value must be finite, found inf");
  CHECK(transform_problem({"a", Transform::kNone, 0, 1e-30}, 1e10).find("is too large") != std::string::npos);
}

TEST_CASE("transforms and policies have names") {
  for (const auto transform : {Transform::kNone, Transform::kLog1p, Transform::kAsinh}) {
    CHECK(transform_from_name(transform_name(transform)) == transform);
  }
  for (const auto policy : {MissingPolicy::kZero, MissingPolicy::kSkip, MissingPolicy::kError}) {
    CHECK(missing_policy_from_name(missing_policy_name(policy)) == policy);
  }
  CHECK(!transform_from_name("log"));
  CHECK(!missing_policy_from_name(""));
}
