#include "io/params/density_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace semicrf {
namespace {

constexpr std::array<std::string_view, 9> kStudentKeys{
    "name", "density_of", "family", "mean", "scale", "degrees", "outliers", "outlier_density", "mirrored"};
constexpr std::array<std::string_view, 8> kCountKeys{"name", "density_of", "family",   "trials",
                                                     "mean", "size",       "outliers", "mirrored"};
constexpr NumberRule kMeanRule{-1e30, 1e30, false, false, "a number of at most 1e30 in magnitude"};
constexpr NumberRule kAboveZeroRule{0, 1e30, true, false, "a number above 0 (and below 1e30)"};
constexpr NumberRule kOpenShareRule{0, 1, true, false, "a number between 0 and 1, both excluded"};
constexpr NumberRule kShareRule{0, 0.999, false, false, "a number from 0 to 0.999"};

constexpr std::string_view kStudent = "student", kBetaBinomial = "beta-binomial";

}  // namespace

Density read_density(const JsonNode& entry) {
  Density density;
  const JsonNode family = entry.at("family");
  constexpr const char* kFamilies = "\"student\" or \"beta-binomial\"";
  const bool is_student = family.text(kFamilies) == kStudent;
  if (!is_student && family.text() != kBetaBinomial) family.fail_expected(kFamilies);
  density.family = is_student ? DensityFamily::kStudent : DensityFamily::kBetaBinomial;
  entry.expect_object(is_student ? std::span<const std::string_view>(kStudentKeys) : kCountKeys);
  const auto read = [&](const char* key, const NumberRule& rule, double& number) {
    if (const auto found = entry.find(key); found && !found->is_null()) number = found->number(rule);
  };
  density.mean = entry.at("mean").number(is_student ? kMeanRule : kOpenShareRule);
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
    density.trials = entry.at("trials").text("the name of a track");
    read("size", kAboveZeroRule, density.size);
  }
  return density;
}

}  // namespace semicrf
