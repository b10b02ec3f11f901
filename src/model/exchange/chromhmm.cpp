#include "model/exchange/chromhmm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/text/text.h"
#include "model/exchange/hidden_markov.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

constexpr double kSumTolerance = 1e-3;    // for sums of probabilities
constexpr double kScoreTolerance = 1e-6;  // for logarithms of probabilities

// As ChromHMM names the segments of a state.
std::string state_name(char order, std::size_t state) {
  std::string name(1, order);
  return name += fmt::to_string(state + 1);
}

double log_probability(double p) { return p > 0 ? std::log(p) : kNegativeInfinity; }

[[noreturn]] void refuse_export(const std::string& file, const std::string& pointer, const std::string& what,
                                const std::string& advice) {
  throw InputError({file, pointer, what, advice});
}

// A model that `learn` would make exportable, as advice.
constexpr const char* kLearnAdvice =
    "ChromHMM has hidden Markov models of 0/1 tracks; semicrf learn --emission bernoulli --duration geometric"
    " makes one";

void check_track(const Track& track, std::size_t place, const std::string& file) {
  const std::string pointer = fmt::format("/tracks/{}", place);
  if (!track.is_input())
    refuse_export(file, pointer, "the " + transform_text(track) + " is not a track of 0 and 1", kLearnAdvice);
  if (track.transform != Transform::kNone && track.transform != Transform::kBinarize)
    refuse_export(file, pointer, "a transformed track is not a track of 0 and 1", kLearnAdvice);
  if (track.center != 0 || track.scale != 1)
    refuse_export(file, pointer, "a track with a center or scale is not a track of 0 and 1", kLearnAdvice);
}

void check_exportable(const Parameters& parameters, const std::string& file) {
  if (!parameters.emission)
    refuse_export(file, "", "the inputs are label scores, not 0/1 tracks", kLearnAdvice);
  if (parameters.boundary)
    refuse_export(file, "/boundary", "ChromHMM has no scores of starts and ends of segments",
                  "remove the section");
  if (parameters.centering != Centering::kNone)
    refuse_export(file, "/centering", "ChromHMM does not centre scores", "only \"none\" can be exported");
  if (parameters.chain.initial != InitialTerm::kNone)
    refuse_export(file, "/initial", "ChromHMM has nothing before the first label",
                  "only \"none\" can be exported");
  if (parameters.edges != EdgeRule::kComplete && parameters.chain.has_tail())
    refuse_export(file, "/edges", "ChromHMM does not know of segments that are cut",
                  "only \"complete\" can be exported");
  for (std::size_t f = 0; f < parameters.tracks.size(); ++f) check_track(parameters.tracks[f], f, file);
}

// log q of each label's durations, -inf where only one bin is possible. They must fall geometrically.
std::vector<double> geometric_falls(const Parameters& parameters, const std::string& file) {
  const ChainModel& chain = parameters.chain;
  std::vector<double> falls;
  for (int c = 0; c < chain.num_labels; ++c) {
    const double fall = chain.has_tail() ? chain.log_tail[c] : kNegativeInfinity;
    for (int k = 2; k <= chain.max_duration; ++k) {
      const double score = chain.duration_score(k, c), expected = chain.duration_score(1, c) + (k - 1) * fall;
      const bool same = score == expected || std::fabs(score - expected) < kScoreTolerance * (1 + k);
      if (!same)
        refuse_export(
            file, "/duration",
            "label '" + parameters.labels[c].name + "' has explicit durations, which ChromHMM does not know",
            "only durations that fall geometrically without end can be exported (max_duration 1, or "
            "geometric with the tail \"continue\"); semicrf learn --duration geometric makes such a model");
    }
    falls.push_back(fall);
  }
  return falls;
}

void check_distribution(double sum, const std::string& file, const std::string& pointer,
                        const std::string& what) {
  if (!(std::fabs(sum - 1) <= kSumTolerance))
    refuse_export(file, pointer, fmt::format("{} sum to {}, not to 1", what, sum),
                  "only probabilities can be exported, such as those of semicrf learn or import");
}

void set_chain(const Parameters& parameters, const std::string& file, ChromHmmModel& model) {
  const ChainModel& chain = parameters.chain;
  const std::size_t states = chain.num_labels;
  const std::vector<double> falls = geometric_falls(parameters, file);
  double sum = 0;
  for (std::size_t c = 0; c < states; ++c) {
    model.first.push_back(std::exp(chain.start_scores[c]));
    sum += model.first.back();
  }
  check_distribution(sum, file, "/start", "the probabilities of first labels");
  // The score of a segment is a factor q for every bin after the first, and the rest once, at its end.
  for (std::size_t from = 0; from < states; ++from) {
    sum = 0;
    for (std::size_t to = 0; to < states; ++to) {
      const double leave = chain.duration_bias[from] + chain.transition[from * states + to];
      model.transition.push_back(std::exp(leave) + (from == to ? std::exp(falls[from]) : 0));
      sum += model.transition.back();
    }
    check_distribution(sum, file, fmt::format("/transition/{}", from),
                       "the probabilities of what follows a bin of label '" + parameters.labels[from].name +
                           "', durations included,");
  }
}

void set_emissions(const Parameters& parameters, const std::string& file, ChromHmmModel& model) {
  const EmissionHead& head = *parameters.emission;
  const std::size_t states = parameters.labels.size(), marks = parameters.tracks.size();
  for (const Track& track : parameters.tracks) model.marks.push_back(track.name);
  for (std::size_t c = 0; c < states; ++c) {
    double none = 0;  // log probability that all marks are 0
    for (std::size_t m = 0; m < marks; ++m) {
      const double weight = head.weights[c * marks + m];
      model.emission.push_back(1 / (1 + std::exp(-weight)));
      none -= std::max(weight, 0.0) + std::log1p(std::exp(-std::fabs(weight)));
    }
    if (!(std::fabs(head.bias[c] - none) <= kScoreTolerance * (1 + std::fabs(none))))
      refuse_export(file, fmt::format("/emission/bias/{}", c),
                    fmt::format("the bias of label '{}' is {}, not the sum of log(1-p) over its tracks, {}: "
                                "its emissions are not probabilities",
                                parameters.labels[c].name, head.bias[c], none),
                    kLearnAdvice);
  }
}

// The letter of the order, where all labels are named by it and their number; else U, with a warning.
void set_order(const Parameters& parameters, ChromHmmModel& model, std::vector<Warning>& warnings) {
  for (const char order : std::string_view(kChromHmmOrders)) {
    bool all = true;
    for (std::size_t c = 0; c < parameters.labels.size(); ++c)
      all = all && parameters.labels[c].name == state_name(order, c);
    if (all) {
      model.order = order;
      return;
    }
  }
  model.order = 'U';
  std::vector<std::string> names;
  names.reserve(parameters.labels.size());
  for (std::size_t c = 0; c < parameters.labels.size(); ++c)
    names.push_back(state_name(model.order, c) + " is " + parameters.labels[c].name);
  warnings.push_back(
      {"labels-renamed", "ChromHMM numbers its states, names of labels are lost: " + joined(names, ", ")});
}

void tell_losses(const Parameters& parameters, std::vector<Warning>& warnings) {
  std::vector<std::string> binarized;
  for (const Track& track : parameters.tracks)
    if (track.transform == Transform::kBinarize) binarized.push_back(track.name);
  if (!binarized.empty())
    warnings.push_back(
        {"thresholds-lost", "ChromHMM reads tracks that are 0 or 1; the thresholds of these are lost: " +
                                joined(binarized, ", ")});
  const ChainModel& chain = parameters.chain;
  // What the last segment of a sequence scores beside its bins: nothing, or it is lost.
  std::vector<std::string> ends;
  for (std::size_t c = 0; c < parameters.labels.size(); ++c)
    if (std::fabs(chain.end_scores[c] + chain.duration_bias[c]) > kScoreTolerance)
      ends.push_back(parameters.labels[c].name);
  if (!ends.empty())
    warnings.push_back({"ends-lost",
                        "ChromHMM has no scores for the end of a sequence; those of the last segment are "
                        "lost, of labels " +
                            joined(ends, ", ")});
}

}  // namespace

Parameters parameters_of(const ChromHmmModel& model, std::int64_t bin_size, std::vector<Warning>& warnings) {
  const std::size_t states = model.states(), marks = model.marks.size();
  Parameters parameters;
  for (std::size_t c = 0; c < states; ++c)
    parameters.labels.push_back({state_name(model.order, c), std::nullopt});
  for (const std::string& mark : model.marks)
    parameters.tracks.push_back({.name = mark, .missing = MissingPolicy::kDefault});
  parameters.bin_size = bin_size;
  parameters.bin_size_given = true;
  parameters.centering = Centering::kNone;
  parameters.chain.initial = InitialTerm::kNone;
  for (const double p : model.first) parameters.chain.start_scores.push_back(log_probability(p));
  set_hidden_markov_chain(model.transition, parameters);
  EmissionHead head{std::vector<double>(states * marks), std::vector<double>(states)};
  for (std::size_t c = 0; c < states; ++c)
    for (std::size_t m = 0; m < marks; ++m) {
      const double given = model.emission[c * marks + m];
      const double p = std::clamp(given, kLeastEmission, 1 - kLeastEmission);
      if (p != given)
        warnings.push_back(
            {"certain-emission",
             fmt::format("state {} has '{}{}; it is kept 1e-9 away from that", c + 1, model.marks[m],
                         given < 0.5 ? "' with a probability of 0 or nearly so"
                                     : "' with a probability of 1 or nearly so")});
      head.weights[c * marks + m] = std::log(p) - std::log1p(-p);
      head.bias[c] += std::log1p(-p);
    }
  parameters.emission = std::move(head);
  return parameters;
}

ChromHmmModel chromhmm_model_of(const Parameters& parameters, const std::string& file,
                                std::vector<Warning>& warnings) {
  check_exportable(parameters, file);
  ChromHmmModel model;
  set_chain(parameters, file, model);
  set_emissions(parameters, file, model);
  set_order(parameters, model, warnings);
  tell_losses(parameters, warnings);
  return model;
}

std::optional<ChromHmmModel> chromhmm_emissions_of(const Parameters& parameters) {
  if (!parameters.emission) return std::nullopt;
  ChromHmmModel model;
  try {
    for (std::size_t f = 0; f < parameters.tracks.size(); ++f) check_track(parameters.tracks[f], f, "");
    set_emissions(parameters, "", model);
  } catch (const InputError&) {
    return std::nullopt;
  }
  return model;
}

}  // namespace semicrf
