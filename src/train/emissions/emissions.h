// Distributions of the tracks' values in a bin, given its label. The tracks are independent given the label.
//
// But for densities, each is of the exponential family, so that its log density is linear in features of the
// tracks:
//   log p(x | c) = weights[c] . features(x) + bias[c] + h(x),
// where h(x) (the base measure) is the same for every label. The linear heads of a parameter file hold the
// first two terms, so log Z of a model is log P(tracks) less the sum of h over all bins
// (docs/users/learning.md).
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/density_emissions.h"

namespace semicrf {

enum class EmissionFamily {
  kBernoulli,
  kGaussian,
  kPoisson,
  kNegativeBinomial,
  kCategorical,
  kDensities,  // log densities of tracks and pairs (density_emissions.h), of any families
};
std::string_view emission_name(EmissionFamily family);
std::optional<EmissionFamily> emission_from_name(std::string_view name);
bool is_count_family(EmissionFamily family);

// By the raw values of all bins: Bernoulli where all are 0 or 1; Poisson where all are whole numbers from 0
// on, or negative binomial where some track's variance is above 1.2 times its mean; else Gaussian.
EmissionFamily choose_emission(const TrainingData& raw);

// The least variance of Gaussian emissions, of features whose own variance is 1.
inline constexpr double kLeastVariance = 1e-4;

struct FeatureOptions {
  std::optional<Transform> transform;  // for Gaussian emissions; absent: as `train` chooses
  double binarize_tail = 1e-4;
  std::optional<double> threshold;
  const TrainingData* held_out = nullptr;  // raw values that need categories, too
};
// Sets the transforms of `tracks` (inputs with their names and policies) by the raw values of `raw`, and adds
// the squares that Gaussian emissions need, and the indicators of categorical ones: of 0, 1, ... to the
// largest value of the track. Tracks of counts must not be negative, categories are whole numbers from 0 to
// 999 (InputError with the place). A track of Bernoulli emissions that has other values than 0 and 1 becomes
// 1 from the threshold on, or else from the smallest whole n with P(X >= n) < binarize_tail, X Poisson with
// the track's mean; where no value reaches that, a warning (`threshold-not-reached`) says so.
void fit_features(EmissionFamily family, const FeatureOptions& options, const TrainingData& raw,
                  std::vector<Track>& tracks, std::vector<Warning>& warnings);
// Raw values to the features of `tracks`, squares and absences included; or of the input tracks alone, as
// densities take them, with NaN where there is no value. InputError naming a value without a feature.
void apply_features(const std::vector<Track>& tracks, TrainingData& data);
void apply_input_features(const std::vector<Track>& tracks, TrainingData& data);

// What an E-step sums up over bins t with posteriors p(c|t).
struct EmissionSums {
  std::vector<double> bins;      // (C): sum of p
  std::vector<double> features;  // (C, F) row-major: sum of p times the feature
};

// What base measures need of the values: how often each occurs, by track of counts; slopes of transforms.
class ValueCounts {
 public:
  ValueCounts(EmissionFamily family, const TrainingData& data);
  double log_slopes() const { return log_slopes_; }
  const std::vector<std::pair<double, double>>& of(std::size_t track) const { return tracks_[track]; }
  std::size_t tracks() const { return tracks_.size(); }

 private:
  std::vector<std::vector<std::pair<double, double>>> tracks_;  // (value, bins), by value
  double log_slopes_ = 0;
};

// What is settled of emissions before a fit.
struct EmissionPlan {
  EmissionFamily family = EmissionFamily::kBernoulli;
  // Where the sizes r of negative binomials begin, one per input track; empty: by the moments of the data.
  std::vector<double> sizes = {};
  DensityRules densities = {};  // where the family is kDensities
};

class Emissions {
 public:
  // `data` holds the features of `num_tracks` columns, squares and absences included; must outlive this.
  Emissions(const EmissionPlan& plan, const TrainingData& data);
  Emissions(EmissionFamily family, const TrainingData& data) : Emissions(EmissionPlan{family}, data) {}

  EmissionFamily family() const { return family_; }
  // Null where the family is another.
  const DensityEmissions* densities() const { return densities_ ? &*densities_ : nullptr; }
  DensityEmissions* densities() { return densities_ ? &*densities_ : nullptr; }
  // But for densities: the head under which the sums are most likely; a label with less than a
  // millionth of a bin keeps its row, and its terms of a track that has no value in more than these.
  // Probabilities, variances and means stay above small floors (kept exactly: the likelihood never falls).
  void maximize(const EmissionSums& sums, EmissionHead& head);
  // Sum over all bins of h(x); `counts` of the same kind of data. 0 for Bernoulli; of Gaussian tracks what
  // makes densities of transformed values those of raw ones.
  double base_measure(const ValueCounts& counts) const;
  const ValueCounts& values() const { return values_; }
  // Sizes r of negative binomials, by input track, or the numbers of a law of means; empty for other
  // families.
  std::vector<double> sizes() const { return densities_ ? densities_->law_numbers() : dispersion_; }
  void set_sizes(std::vector<double> sizes) {
    if (densities_) {
      densities_->set_law_numbers(sizes);
    } else {
      dispersion_ = std::move(sizes);
    }
  }
  // Free parameters of the labels, those that labels share included.
  int free_parameters(const Parameters& parameters) const;

 private:
  // The linear terms of one track's log density under one label.
  struct Terms {
    double weight = 0, square = 0, bias = 0;
  };
  void maximize_categories(const EmissionSums& sums, std::size_t label, std::size_t track,
                           double* weights) const;
  Terms likeliest(double mean, double mean_square, std::size_t track) const;
  double bins_with_value(const EmissionSums& sums, std::size_t label, std::size_t track) const;
  void maximize_dispersion(const EmissionSums& sums, std::size_t track);

  EmissionFamily family_;
  std::size_t columns_;  // F
  std::size_t inputs_;   // the first of them
  // By input track, the column of its absence; none where it always has a value.
  std::vector<std::optional<std::size_t>> absence_;
  std::vector<std::vector<std::size_t>> indicators_;  // by input track, their columns
  ValueCounts values_;                                // values of the training data
  std::vector<double> dispersion_;                    // by input track, size r of negative binomials
  std::optional<DensityEmissions> densities_;
};

}  // namespace semicrf
