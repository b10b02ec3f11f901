#include "train/start/training_emissions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "core/sizes.h"
#include "inputs/arguments/input_arguments.h"
#include "model/missing_tracks.h"

namespace semicrf {
namespace {

PartSet frozen_parts(const TrainOptions& options) {
  PartSet parts;
  for (const std::string& name : options.freeze) {
    if (name == "emission") parts.parts.fill(true);
    if (const auto part = density_part_from_name(name)) parts[*part] = true;
  }
  return parts;
}

bool freezes_heads(const TrainOptions& options) {
  return std::ranges::any_of(options.freeze, [](const std::string& name) {
    return name == "emission" || name == "weights" || name == "bias";
  });
}

// As --emission, --outliers and --tie have them, with what --freeze says of densities.
EmissionWishes wishes_of(const TrainOptions& options) {
  EmissionWishes wishes = options.emissions;
  wishes.frozen_parts = frozen_parts(options);
  return wishes;
}

// Posteriors of the bins of which the label is known: 1; of all others 0.
PosteriorRows known_labels(const TrainingData& data) {
  const std::size_t labels = data.num_labels;
  PosteriorRows rows;
  for (const TrainingPiece& piece : data.pieces) {
    std::vector<float>& row = rows.emplace_back(piece.length * labels);
    for (const Segment& segment : piece.segments)
      for (std::int64_t t = segment.begin; t < segment.end; ++t) row[t * labels + segment.label] = 1;
  }
  return rows;
}

// Sums of features over the bins of which the label is known.
EmissionSums known_sums(const TrainingData& data) {
  const std::size_t labels = data.num_labels, columns = data.num_tracks;
  EmissionSums sums{std::vector<double>(labels), std::vector<double>(labels * columns)};
  for (const TrainingPiece& piece : data.pieces)
    for (const Segment& segment : piece.segments)
      for (std::int64_t t = segment.begin; t < segment.end; ++t) {
        const std::size_t c = segment.label;
        sums.bins[c] += 1;
        for (std::size_t f = 0; f < columns; ++f)
          sums.features[c * columns + f] += piece.features[t * columns + f];
      }
  return sums;
}

}  // namespace

bool has_families(const Parameters& parameters) {
  Parameters copy = parameters;
  return parameters.centering == Centering::kNone && density_rules_of({}, copy).has_value();
}

void check_emission_options(const TrainOptions& options, const Parameters* init) {
  const bool given = !options.emission.empty();
  const PartSet frozen = frozen_parts(options);
  const bool freezes_parts = std::ranges::any_of(
      options.freeze, [](const std::string& name) { return density_part_from_name(name).has_value(); });
  if (given && init != nullptr)
    throw UsageError("--emission cannot be given with --init, whose emissions are learned",
                     "leave it out, or start without --init");
  if (options.emissions.outliers > 0 && !given)
    throw UsageError("--outliers is for the distributions of --emission, which is not given");
  if (!given && (init == nullptr || !has_families(*init))) {
    if (!options.tie.empty() || freezes_parts)
      throw UsageError("--tie and --freeze means, scales or sizes are for densities, of which there are none",
                       "give --emission student-t or another, or --init of such a model");
    if (options.shape.missing == MissingPolicy::kMarginal)
      throw UsageError("--missing marginal is for the distributions of --emission, which is not given",
                       "linear heads need a value: choose mean, zero or skip");
    return;
  }
  if (!options.emissions.ordered.empty() ||
      std::ranges::find(options.tie, kTiedDurations) != options.tie.end())
    throw UsageError("--tie durations and ordered are for learn alone", "leave them out");
  for (const DensityPart part : kDensityParts)
    if (options.emissions.tied[part] && frozen[part])
      throw UsageError("a part that --freeze names cannot be tied, too", "leave one of them out");
  if (options.shape.boundary_window)
    throw UsageError("--boundary-window learns linear heads, which do not go with distributions of tracks",
                     "leave it out, or --emission");
  if (options.margin.value_or(0) > 0)
    throw UsageError("--margin does not go with distributions of tracks, whose logarithms keep their size",
                     "leave it out, or --emission");
  if (options.shape.centering.value_or(Centering::kNone) != Centering::kNone)
    throw UsageError("--centering does not go with distributions of tracks", "leave it out, or --emission");
}

MissingPolicy missing_of_families(const TrainOptions& options) {
  if (options.shape.missing != MissingPolicy::kDefault) return options.shape.missing;
  const InputOptions first = inputs_of_samples(options.input).front();
  return input_arguments(first).front().kind == InputKind::kBigWig ? MissingPolicy::kZero
                                                                   : MissingPolicy::kMarginal;
}

EmissionPlan plan_emissions(const TrainOptions& options, std::vector<Track>& tracks, TrainingInputs& inputs) {
  const EmissionWishes wishes = wishes_of(options);
  // Nothing is missing: files say what tracks without holes have always said.
  if (options.shape.missing == MissingPolicy::kDefault && !has_holes(inputs))
    for (Track& track : tracks)
      if (track.missing == MissingPolicy::kMarginal) track.missing = MissingPolicy::kSkip;
  EmissionPlan plan;
  const EmissionFamily chosen = wishes.linear().value_or(choose_emission(inputs.training));
  const bool of_all_tracks = wishes.choices.empty() || wishes.linear();
  if (of_all_tracks && (chosen == EmissionFamily::kBernoulli || chosen == EmissionFamily::kCategorical)) {
    if (wishes.outliers > 0 || wishes.tied.any())
      throw UsageError(
          "--outliers and --tie do not go with " + std::string(emission_name(chosen)) + " emissions",
          "leave them out, or choose binomial");
    plan.family = chosen;
    fit_features(chosen, {options.shape.transform, 1e-4, {}, &inputs.validation}, inputs.training, tracks,
                 inputs.warnings);
    const std::vector<Track> features = tracks;
    for (const Track& track : features)
      if (track.is_input() && track.missing == MissingPolicy::kMarginal) tracks.push_back(absence(track));
    for (TrainingData* data : {&inputs.training, &inputs.validation}) apply_features(tracks, *data);
    return plan;
  }
  plan.family = EmissionFamily::kDensities;
  plan.densities =
      density_rules(wishes, emission_name(chosen), options.shape.transform, tracks, inputs.training);
  for (TrainingData* data : {&inputs.training, &inputs.validation}) apply_input_features(tracks, *data);
  return plan;
}

EmissionPlan plan_of_init(const TrainOptions& options, Parameters& init) {
  EmissionPlan plan;
  plan.family = EmissionFamily::kDensities;
  plan.densities = *density_rules_of(wishes_of(options), init);
  return plan;
}

std::unique_ptr<EmissionSpace> set_up_emissions(const TrainOptions& options, const EmissionPlan& plan,
                                                const TrainingData& data, const PathCounts& counts,
                                                bool start, Parameters& first) {
  if (plan.family != EmissionFamily::kDensities) {
    first.emission = EmissionHead{std::vector<double>(first.labels.size() * first.tracks.size()),
                                  std::vector<double>(first.labels.size())};
    Emissions(plan, data).maximize(known_sums(data), *first.emission);
    return freezes_heads(options) ? density_space(first, {}, 0) : probability_space(first, data, counts);
  }
  if (start) add_density_tracks(plan.densities, first);
  const PosteriorRows rows = known_labels(data);
  const DensityEmissions emissions(plan.densities, data);
  if (start) emissions.start(rows, first, options.engine.threads);
  return density_space(first, emissions.free_numbers(rows, first, options.engine.threads),
                       options.penalty.l2);
}

}  // namespace semicrf
