// Emissions that are log densities of tracks or pairs of tracks (model/scores/densities.h): what is known of
// them before a fit, where they start, and their M-step, which needs the posteriors of all bins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/emissions/density_fit.h"
#include "train/objective/objective.h"

namespace semicrf {

// A track, or a pair, whose values have a density in each label.
struct ObservedTrack {
  std::size_t column = 0, beside = 0;  // numbers of input tracks; the second is the first where there is none
  Density first;         // the family, and the numbers that no fit changes; infinite sizes stay so
  bool ordered = false;  // means grow from label to label
};

struct DensityRules {
  std::vector<ObservedTrack> observed;
  PartSet tied;    // across the labels, each track for itself
  PartSet frozen;  // as --init has them
  // That all means follow, which are among the frozen parts. Densities of an observed track stand together.
  std::optional<MeanLaw> law = {};
};

// A number of densities that a fit moves freely; several densities have it where labels are tied.
struct FreeNumber {
  std::vector<std::size_t> densities;  // numbers among the densities of the model, in the order of its tracks
  DensityPart part = DensityPart::kMean;
  CoordinateRange range;
  double information = 0;  // sum of its squared slopes over the weighted values
};

// The input tracks with a density of every observed track for every label behind, weights of 1 for the
// label's own densities, biases of 0.
void add_density_tracks(const DensityRules& rules, Parameters& parameters);

class DensityEmissions {
 public:
  // `data`: features of the input tracks alone, NaN where one has no value; must outlive this.
  DensityEmissions(const DensityRules& rules, const TrainingData& data);

  // Densities that fit a share of each bin in every label, whatever they were.
  void start(const PosteriorRows& shares, Parameters& parameters, int threads) const;
  // The M-step (density_fit.h) for the densities among `parameters.tracks`, and for the law of their means.
  void maximize(const PosteriorRows& posteriors, Parameters& parameters, int threads);
  // The numbers of that law; none without one.
  std::vector<double> law_numbers() const;
  void set_law_numbers(const std::vector<double>& numbers);

  // Coordinates of all numbers that are learned, in the order of the tracks; back again, within their ranges.
  std::vector<double> coordinates(const Parameters& parameters) const;
  void set_coordinates(std::span<const double> coordinates, Parameters& parameters) const;
  // The numbers that are learned, with what these posteriors say of them.
  std::vector<FreeNumber> free_numbers(const PosteriorRows& posteriors, const Parameters& parameters,
                                       int threads) const;
  // Numbers that are learned; tied ones count once.
  int free_parameters(const Parameters& parameters) const;

 private:
  // Values of one observed track: the distinct ones where they are few, with the place of each bin's among
  // them; else none, and they are read where they are.
  struct Values {
    std::vector<WeightedValue> distinct;  // their weights are 0
    std::vector<std::uint32_t> of_bin;    // all pieces; kNoValue: the density says nothing
    double least_scale = 0;
  };
  struct Group {
    std::size_t observed;
    std::vector<std::size_t> tracks;  // numbers among `parameters.tracks`
  };
  std::vector<Group> groups_of(const Parameters& parameters) const;
  static std::vector<std::size_t> labels_of(const Parameters& parameters, std::size_t track);
  bool has_value(std::size_t observed, const float* row) const;
  void find_distinct(std::size_t observed);
  double least_scale_of(std::size_t observed) const;
  std::vector<std::vector<WeightedValue>> weighted_values(const Group& group, const PosteriorRows& posteriors,
                                                          const Parameters& parameters, int threads) const;
  DensityFitOptions fit_options(const Group& group, int threads) const;

  DensityRules rules_;
  const TrainingData* data_;
  std::vector<Values> values_;  // by observed track
};

// What clusters of bins see: a number for each observed track, NaN where it has no value: shares of
// successes, logarithms of counts, and values without the far ends.
TrainingData cluster_view(const DensityRules& rules, const TrainingData& data);

}  // namespace semicrf
