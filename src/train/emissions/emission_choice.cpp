#include "train/emissions/emission_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "model/scores/densities.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Families that have densities.
struct NamedDensity {
  std::string_view name;
  DensityFamily family;
  bool has_size;
};
constexpr std::array<NamedDensity, 6> kDensityNames{{
    {"gaussian", DensityFamily::kStudent, false},
    {"student-t", DensityFamily::kStudent, true},
    {"binomial", DensityFamily::kBetaBinomial, false},
    {"beta-binomial", DensityFamily::kBetaBinomial, true},
    {"poisson", DensityFamily::kNegativeBinomial, false},
    {"negative-binomial", DensityFamily::kNegativeBinomial, true},
}};
constexpr std::array<std::string_view, 9> kNames{"auto",      "bernoulli",     "gaussian",
                                                 "student-t", "poisson",       "negative-binomial",
                                                 "binomial",  "beta-binomial", "categorical"};
constexpr std::array<std::string_view, kPartCount> kDensityPartNames{"means", "scales", "sizes"};

const NamedDensity* named_density(std::string_view name) {
  const auto* const found = std::ranges::find(kDensityNames, name, &NamedDensity::name);
  return found == kDensityNames.end() ? nullptr : found;
}

std::string_view name_of(const Density& density) {
  const bool has_size = has_part(density, DensityPart::kSize);
  return std::ranges::find_if(kDensityNames,
                              [&](const NamedDensity& one) {
                                return one.family == density.family && one.has_size == has_size;
                              })
      ->name;
}

constexpr std::string_view kOrdered = "ordered";

bool is_order(std::string_view name) {
  return name == kOrdered || name.ends_with("=" + std::string(kOrdered));
}

// Marks the observed tracks whose means grow. UsageError: a track that has no density, or means that are tied
// or frozen.
void set_order(const EmissionWishes& wishes, const std::vector<Track>& tracks, DensityRules& rules) {
  for (const std::string& name : wishes.ordered) {
    bool found = false;
    for (ObservedTrack& one : rules.observed)
      if (name.empty() || tracks[one.column].name == name) found = one.ordered = true;
    if (!found)
      throw UsageError("--tie " + name + "=ordered: no track of this name has a density",
                       "name a track of --emission, the first one of a pair");
  }
  if (!wishes.ordered.empty() && (wishes.tied[DensityPart::kMean] || wishes.frozen_parts[DensityPart::kMean]))
    throw UsageError("means that are ordered can be neither tied nor frozen", "leave one of them out");
}

// The tracks of the choices, checked.
class RuleMaker {
 public:
  RuleMaker(const EmissionWishes& wishes, std::optional<Transform> transform, std::vector<Track>& tracks,
            const TrainingData& raw)
      : wishes_(wishes), transform_(transform), tracks_(tracks), raw_(raw), used_(tracks.size()) {}

  DensityRules make(std::string_view auto_family) {
    const EmissionChoice* rest = nullptr;
    for (const EmissionChoice& choice : wishes_.choices) {
      if (choice.tracks.empty()) {
        if (rest != nullptr)
          throw UsageError(
              "--emission names two families for the same tracks: " + rest->family + " and " + choice.family,
              "say of which tracks, TRACK=FAMILY");
        rest = &choice;
      } else {
        add_named(choice);
      }
    }
    const bool is_chosen = rest != nullptr && rest->family != "auto";
    if (std::ranges::find(used_, false) != used_.end()) {
      if (rest == nullptr && !wishes_.choices.empty())
        throw UsageError("--emission says nothing of the track " + in_quotes(first_unused()),
                         "name it, too, or give a family without a track for the others");
      add_rest(is_chosen ? std::string_view(rest->family) : auto_family);
    }
    settle();
    return std::move(rules_);
  }

 private:
  std::string first_unused() const { return tracks_[std::ranges::find(used_, false) - used_.begin()].name; }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto at = std::ranges::find(tracks_, name, &Track::name);
    if (at == tracks_.end()) return std::nullopt;
    return at - tracks_.begin();
  }

  void add_named(const EmissionChoice& choice) {
    if (const auto one = find(choice.tracks)) return add(*one, std::nullopt, choice.family);
    const std::string_view text = choice.tracks;
    for (std::size_t slash = text.find('/'); slash != std::string_view::npos;
         slash = text.find('/', slash + 1)) {
      const auto of = find(text.substr(0, slash)), beside = find(text.substr(slash + 1));
      if (of && beside) return add(*of, beside, choice.family);
    }
    std::vector<std::string> names;
    for (const Track& track : tracks_) names.push_back(track.name);
    throw UsageError("--emission names the track " + in_quotes(choice.tracks) + ", which is not there",
                     "the tracks are " + joined(names, ", ") + "; pairs are written SUCCESSES/TRIALS");
  }

  // Pairs are neighbours.
  void add_rest(std::string_view family) {
    const NamedDensity* const named = named_density(family);
    const bool pairs = named != nullptr && named->family == DensityFamily::kBetaBinomial;
    std::vector<std::size_t> left;
    for (std::size_t f = 0; f < tracks_.size(); ++f)
      if (!used_[f]) left.push_back(f);
    if (pairs && left.size() % 2 != 0)
      throw UsageError(
          fmt::format("--emission {} takes pairs of tracks, successes and trials; there are {} tracks",
                      family, left.size()),
          "give the tracks in pairs, or say which with SUCCESSES/TRIALS=" + std::string(family));
    for (std::size_t i = 0; i < left.size(); i += pairs ? 2 : 1)
      add(left[i], pairs ? std::optional(left[i + 1]) : std::nullopt, family);
  }

  void add(std::size_t of, std::optional<std::size_t> beside, std::string_view family) {
    const NamedDensity* const named = named_density(family);
    if (named == nullptr)
      throw UsageError("--emission " + std::string(family) +
                           " is for all tracks of a model alike, without --outliers, --tie and families of "
                           "single tracks",
                       "choose gaussian, student-t, poisson, negative-binomial, binomial or beta-binomial");
    const std::string name = tracks_[of].name;
    const bool needs_beside = named->family == DensityFamily::kBetaBinomial;
    if (needs_beside && !beside)
      throw UsageError("--emission " + name + "=" + std::string(family) + " has no track of trials",
                       "write SUCCESSES/TRIALS=" + std::string(family));
    if (beside && named->family == DensityFamily::kStudent)
      throw UsageError("--emission " + std::string(family) + " is of one track, not of a pair",
                       "write " + name + "=" + std::string(family));
    if (std::ranges::find(rules_.observed, of, &ObservedTrack::column) != rules_.observed.end())
      throw UsageError("--emission names two families for the track " + in_quotes(name), "leave one out");
    ObservedTrack one{of, beside.value_or(of), {}};
    one.first.family = named->family;
    if (beside) one.first.beside = tracks_[*beside].name;
    if (named->family != DensityFamily::kStudent) one.first.mean = needs_beside ? 0.5 : 1;
    if (named->has_size) (named->family == DensityFamily::kStudent ? one.first.degrees : one.first.size) = 8;
    used_[of] = true;
    if (beside) used_[*beside] = true;
    rules_.observed.push_back(one);
  }

  void settle() {
    set_order(wishes_, tracks_, rules_);
    rules_.tied = wishes_.tied;
    rules_.frozen = wishes_.frozen_parts;
    bool continuous = false;
    for (ObservedTrack& one : rules_.observed) {
      if (one.first.family == DensityFamily::kStudent) {
        continuous = true;
        if (transform_) tracks_[one.column].transform = *transform_;
        if (wishes_.outliers > 0) add_outliers(one);
      } else {
        for (const std::size_t column : {one.column, one.beside}) check_counts(column);
      }
    }
    if (wishes_.outliers > 0 && !continuous)
      throw UsageError("--outliers is for gaussian and student-t tracks, of which there are none",
                       "leave it out");
  }

  template <class Visit>
  void visit_values(std::size_t column, Visit visit) const {
    const std::size_t columns = tracks_.size();
    for (const TrainingPiece& piece : raw_.pieces)
      for (std::size_t i = column, bin = 0; i < piece.features.size(); i += columns, ++bin)
        if (!std::isnan(piece.features[i])) visit(piece.features[i], piece, static_cast<std::int64_t>(bin));
  }

  // Outliers are anywhere between the least and the largest value.
  void add_outliers(ObservedTrack& one) const {
    double low = kInfinite, high = -kInfinite;
    visit_values(one.column, [&](double value, const TrainingPiece&, std::int64_t) {
      const double feature = feature_value(tracks_[one.column], value);
      low = std::min(low, feature);
      high = std::max(high, feature);
    });
    one.first.outliers = wishes_.outliers;
    one.first.outlier_density = high > low ? 1 / (high - low) : 1;
  }

  void check_counts(std::size_t column) const {
    visit_values(column, [&](double value, const TrainingPiece& piece, std::int64_t bin) {
      if (value < 0)
        throw InputError({"", piece.place(bin, bin + 1),
                          "the track " + in_quotes(tracks_[column].name) +
                              " has a negative value, which cannot be a count",
                          "choose --emission gaussian or student-t"});
    });
  }

  const EmissionWishes& wishes_;
  std::optional<Transform> transform_;
  std::vector<Track>& tracks_;
  const TrainingData& raw_;
  std::vector<bool> used_;
  DensityRules rules_;
};

std::string choices_of(std::span<const std::string_view> names) {
  return joined(std::vector<std::string>(names.begin(), names.end()), ", ");
}

}  // namespace

std::span<const std::string_view> emission_names() { return kNames; }

EmissionChoice emission_choice(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  EmissionChoice choice{equals == std::string::npos ? "" : text.substr(0, equals),
                        equals == std::string::npos ? text : text.substr(equals + 1)};
  if (std::ranges::find(kNames, choice.family) == kNames.end() || (equals == 0) ||
      (equals != std::string::npos && choice.family == "auto"))
    throw UsageError("--emission: '" + text + "' is no family, and no TRACK=FAMILY",
                     "the families are " + choices_of(kNames));
  return choice;
}

std::optional<DensityPart> density_part_from_name(std::string_view name) {
  const auto* const at = std::ranges::find(kDensityPartNames, name);
  if (at == kDensityPartNames.end()) return std::nullopt;
  return kDensityParts[at - kDensityPartNames.begin()];
}

std::vector<std::string> ordered_tracks(const std::vector<std::string>& names) {
  std::vector<std::string> tracks;
  for (const std::string& name : names)
    if (is_order(name)) tracks.push_back(name == kOrdered ? "" : name.substr(0, name.rfind('=')));
  return tracks;
}

PartSet tied_parts(const std::vector<std::string>& names) {
  PartSet parts;
  for (const std::string& name : names) {
    if (name == kTiedDurations || is_order(name)) continue;
    const auto part = density_part_from_name(name);
    if (!part)
      throw UsageError("--tie: there is no part '" + name + "'",
                       "the parts are " + choices_of(kDensityPartNames) +
                           ", durations; ordered, or TRACK=ordered, has means that grow from label to label");
    parts[*part] = true;
  }
  return parts;
}

void add_frozen(const std::vector<std::string>& names, EmissionWishes& wishes) {
  for (const std::string& name : names) {
    if (name == "start") {
      wishes.frozen.start = true;
    } else if (name == "transition") {
      wishes.frozen.transition = true;
    } else if (name == "duration") {
      wishes.frozen.duration = true;
    } else if (name == "emission") {
      wishes.frozen.emission = true;
      wishes.frozen_parts.parts.fill(true);
    } else if (const auto part = density_part_from_name(name)) {
      wishes.frozen_parts[*part] = true;
    } else {
      throw UsageError(
          "--freeze: there is no part '" + name + "'",
          "the parts are emission, " + choices_of(kDensityPartNames) + ", start, transition, duration");
    }
  }
}

bool EmissionWishes::needs_densities() const {
  const bool some_parts = frozen_parts.any() && !frozen.emission;
  return outliers > 0 || tied.any() || !ordered.empty() || some_parts || choices.size() > 1 ||
         std::ranges::any_of(choices, [](const EmissionChoice& choice) {
           return !choice.tracks.empty() || (choice.family != "auto" && !emission_from_name(choice.family));
         });
}

std::optional<EmissionFamily> EmissionWishes::linear() const {
  return choices.size() == 1 ? emission_from_name(choices.front().family) : std::nullopt;
}

DensityRules density_rules(const EmissionWishes& wishes, std::string_view auto_family,
                           std::optional<Transform> transform, std::vector<Track>& tracks,
                           const TrainingData& raw) {
  return RuleMaker(wishes, transform, tracks, raw).make(auto_family);
}

std::optional<DensityRules> density_rules_of(const EmissionWishes& wishes, Parameters& parameters) {
  if (!has_only_densities(parameters)) return std::nullopt;
  for (const double weight : parameters.emission->weights)
    if (weight != 0 && weight != 1) return std::nullopt;
  DensityRules rules;
  rules.tied = wishes.tied;
  rules.frozen = wishes.frozen_parts;
  const auto column_of = [&](const std::string& name) {
    return std::ranges::find(parameters.tracks, name, &Track::name) - parameters.tracks.begin();
  };
  std::vector<std::vector<Density*>> groups;
  for (Track& track : parameters.tracks) {
    if (!track.is_density()) continue;
    const std::size_t of = column_of(track.density_of);
    const auto known = std::ranges::find_if(rules.observed, [&](const ObservedTrack& one) {
      return one.column == of && one.first.family == track.density.family &&
             one.first.beside == track.density.beside;
    });
    groups.resize(rules.observed.size() + (known == rules.observed.end() ? 1 : 0));
    groups[known - rules.observed.begin()].push_back(&track.density);
    if (known == rules.observed.end())
      rules.observed.push_back(
          {of, track.density.beside.empty() ? of : column_of(track.density.beside), track.density});
  }
  set_order(wishes, parameters.tracks, rules);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    tie_parts(groups[i], std::vector<double>(groups[i].size(), 1.0), rules.tied);
    if (rules.observed[i].ordered) restore_order(groups[i]);
  }
  return rules;
}

std::string emission_text(const EmissionPlan& plan, const std::vector<Track>& tracks) {
  if (plan.family != EmissionFamily::kDensities) return std::string(emission_name(plan.family));
  std::vector<std::string> texts;
  bool alike = true;
  const std::vector<ObservedTrack>& observed = plan.densities.observed;
  for (const ObservedTrack& one : observed) {
    const std::string_view name = name_of(one.first);
    alike = alike && name == name_of(observed.front().first);
    std::string text = tracks[one.column].name;
    if (!one.first.beside.empty()) text.append("/").append(one.first.beside);
    texts.push_back(text.append(" ").append(name));
  }
  return alike ? std::string(name_of(observed.front().first)) : joined(texts, ", ");
}

}  // namespace semicrf
