// Which families the tracks have: what --emission, --outliers, --tie and --freeze ask for, settled by the
// tracks and their values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/parameters.h"
#include "train/emissions/emissions.h"
#include "train/emissions/frozen_parts.h"

namespace semicrf {

// A family of --emission for a track, "x", or a pair, "successes/trials" or "counts/exposure"; without
// tracks, for all that no other choice names.
struct EmissionChoice {
  std::string tracks;
  std::string family;  // a name of emission_names()
};

struct EmissionWishes {
  std::vector<EmissionChoice> choices;  // none: by the values of the tracks
  double outliers = 0;                  // share of the values of continuous tracks
  PartSet tied;
  std::vector<std::string> ordered;  // tracks whose means grow from label to label; "" stands for all
  FrozenParts frozen;
  PartSet frozen_parts;  // those of densities

  // The family of all tracks, where nothing needs densities.
  std::optional<EmissionFamily> linear() const;
  bool needs_densities() const;
};

std::span<const std::string_view> emission_names();
// "FAMILY" or "TRACKS=FAMILY"; UsageError.
EmissionChoice emission_choice(const std::string& text);
// Names of --tie and --freeze; UsageError for another. kTiedDurations is passed over: it is a part of the law
// of segments; and so is what ordered_tracks() takes.
inline constexpr std::string_view kTiedDurations = "durations";
PartSet tied_parts(const std::vector<std::string>& names);
// EmissionWishes::ordered of "ordered" and "TRACK=ordered" among them.
std::vector<std::string> ordered_tracks(const std::vector<std::string>& names);
// Nothing for a name of another part.
std::optional<DensityPart> density_part_from_name(std::string_view name);
void add_frozen(const std::vector<std::string>& names, EmissionWishes& wishes);

// The rules for input `tracks` with these raw values, and with `transform` where it is given the transforms
// of continuous tracks. `auto_family`: a name for tracks without a choice. UsageError where choices, tracks
// and parts do not fit; InputError naming a place where a count is negative.
DensityRules density_rules(const EmissionWishes& wishes, std::string_view auto_family,
                           std::optional<Transform> transform, std::vector<Track>& tracks,
                           const TrainingData& raw);
// Those of a model whose emissions are densities with weights 0 and 1; nothing where they are not. Tied parts
// get equal numbers.
std::optional<DensityRules> density_rules_of(const EmissionWishes& wishes, Parameters& parameters);

// "c student-t, k/n beta-binomial", or the name alone where all are of one family.
std::string emission_text(const EmissionPlan& plan, const std::vector<Track>& tracks);

}  // namespace semicrf
