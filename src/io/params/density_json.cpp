#include "io/params/density_json.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

namespace semicrf {
namespace {

constexpr std::array<std::string_view, 9> kStudentKeys{
    "name", "density_of", "family", "mean", "scale", "degrees", "outliers", "outlier_density", "mirrored"};
constexpr std::array<std::string_view, 8> kCountKeys{"name", "density_of", "family",   "trials",
                                                     "mean", "size",       "outliers", "mirrored"};
constexpr std::array<std::string_view, 6> kExposedKeys{"name",     "density_of", "family",
                                                       "exposure", "mean",       "size"};
constexpr NumberRule kMeanRule{-1e30, 1e30, false, false, "a number of at most 1e30 in magnitude"};
constexpr NumberRule kAboveZeroRule{0, 1e30, true, false, "a number above 0 (and below 1e30)"};
constexpr NumberRule kOpenShareRule{0, 1, true, false, "a number between 0 and 1, both excluded"};
constexpr NumberRule kShareRule{0, 0.999, false, false, "a number from 0 to 0.999"};

struct Family {
  std::string_view name;
  DensityFamily family;
  std::span<const std::string_view> keys;
  const NumberRule& mean;
};
constexpr std::array<Family, 3> kFamilies{{
    {"student", DensityFamily::kStudent, kStudentKeys, kMeanRule},
    {"beta-binomial", DensityFamily::kBetaBinomial, kCountKeys, kOpenShareRule},
    {"negative-binomial", DensityFamily::kNegativeBinomial, kExposedKeys, kAboveZeroRule},
}};

}  // namespace

Density read_density(const JsonNode& entry) {
  Density density;
  const JsonNode family = entry.at("family");
  constexpr const char* kNames = R"("student", "beta-binomial" or "negative-binomial")";
  const auto* const known = std::ranges::find(kFamilies, family.text(kNames), &Family::name);
  if (known == kFamilies.end()) family.fail_expected(kNames);
  density.family = known->family;
  const bool is_student = density.family == DensityFamily::kStudent;
  entry.expect_object(known->keys);
  const auto read = [&](const char* key, const NumberRule& rule, double& number) {
    if (const auto found = entry.find(key); found && !found->is_null()) number = found->number(rule);
  };
  density.mean = entry.at("mean").number(known->mean);
  read("outliers", kShareRule, density.outliers);
  if (const auto mirrored = entry.find("mirrored")) {
    if (!mirrored->json().is_boolean()) mirrored->fail_expected("true or false");
    density.mirrored = mirrored->json().get<bool>();
  }
  if (is_student) {
    density.scale = entry.at("scale").number(kAboveZeroRule);
    read("degrees", kAboveZeroRule, density.degrees);
    if (density.outliers > 0) density.outlier_density = entry.at("outlier_density").number(kAboveZeroRule);
  } else {
    const bool has_trials = density.family == DensityFamily::kBetaBinomial;
    const std::string_view key = key_beside(density.family);
    const std::optional<JsonNode> beside = has_trials ? entry.at(key) : entry.find(key);
    if (beside) density.beside = beside->text("the name of a track");
    read("size", kAboveZeroRule, density.size);
  }
  return density;
}

std::string_view density_family_name(DensityFamily family) {
  return std::ranges::find(kFamilies, family, &Family::family)->name;
}

std::string_view key_beside(DensityFamily family) {
  return family == DensityFamily::kBetaBinomial ? "trials" : "exposure";
}

}  // namespace semicrf
