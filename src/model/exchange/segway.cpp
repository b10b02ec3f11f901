#include "model/exchange/segway.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/row_view.h"
#include "model/exchange/hidden_markov.h"

namespace semicrf {
namespace {

constexpr double kLeastLeaving = 1e-9;  // probability that a label with a shortest duration ends after a bin

double log_or_never(double p) { return p > 0 ? std::log(p) : kNegativeInfinity; }

std::string state_name_of(const SegwayModel& model, std::size_t state) {
  const std::string seg = fmt::to_string(state / model.subsegs);
  return model.subsegs == 1 ? seg : fmt::format("{}.{}", seg, state % model.subsegs);
}

// Whether the densities are of the asinh of the tracks.
bool is_asinh(const SegwayModel& model, const SegwayOptions& options) {
  if (model.asinh && options.asinh && model.asinh != options.asinh)
    throw UsageError(std::string("--distribution contradicts the model file, in which tracks are ") +
                         (*model.asinh ? "transformed by asinh" : "not transformed"),
                     "leave it out");
  return options.asinh.value_or(model.asinh.value_or(true));
}

void add_tracks(const SegwayModel& model, bool asinh, Parameters& parameters) {
  for (const std::string& name : model.tracks) {
    parameters.tracks.push_back({.name = name,
                                 .transform = asinh ? Transform::kAsinh : Transform::kNone,
                                 .missing = MissingPolicy::kMarginal});
  }
  for (const std::string& name : model.tracks) {
    Track square;
    square.name = name + "^2";
    square.square_of = name;
    square.missing = MissingPolicy::kMarginal;
    parameters.tracks.push_back(square);
  }
}

// Log densities, `scale` times.
EmissionHead gaussian_head(const SegwayModel& model, double scale) {
  const std::size_t tracks = model.tracks.size(), columns = 2 * tracks;
  EmissionHead head{std::vector<double>(model.states() * columns), std::vector<double>(model.states())};
  const RowView means(model.mean, tracks), variances(model.variance, tracks);
  const RowView weights(head.weights, columns);
  for (std::size_t c = 0; c < model.states(); ++c)
    for (std::size_t f = 0; f < tracks; ++f) {
      const double m = means(c, f), v = variances(c, f);
      weights(c, f) = scale * m / v;
      weights(c, tracks + f) = -scale / (2 * v);
      head.bias[c] -= scale * 0.5 * (m * m / v + std::log(2 * std::numbers::pi * v));
    }
  return head;
}

// Segments of at least `shortest` bins. A segment that ends with its sequence is not charged for ending. A
// label that is never left nearly never is: tails end.
void set_shortest(const SegwayModel& model, int shortest, Parameters& parameters) {
  ChainModel& chain = parameters.chain;
  const std::size_t labels = model.segs;
  chain.max_duration = shortest;
  chain.duration_bias.assign(shortest * labels, kNegativeInfinity);
  for (std::size_t c = 0; c < labels; ++c) {
    const double leave = std::clamp(model.change[c * 3 + 2], kLeastLeaving, 1.0);
    chain.duration_bias[(shortest - 1) * labels + c] = std::log(leave);
    chain.end_scores.push_back(-std::log(leave));
    parameters.duration.tail.push_back(1 - leave);
    for (std::size_t to = 0; to < labels; ++to)
      chain.transition.push_back(to == c ? kNegativeInfinity : log_or_never(model.next[c * labels + to]));
  }
  chain.log_tail = tail_scores(parameters.duration);
}

void tell_differences(const SegwayModel& model, const SegwayOptions& options, bool asinh,
                      std::vector<Warning>& warnings) {
  if (!model.asinh && !options.asinh)
    warnings.push_back(
        {"distribution-assumed",
         "the file does not say how the tracks were transformed; asinh is assumed, Segway's default: give "
         "--distribution where it was another one"});
  if (model.countdowns > 1 && !options.min_duration)
    warnings.push_back({"shortest-lengths-lost",
                        fmt::format("Segway keeps a label for as long as its ruler (a mark every 10 frames "
                                    "unless it was told otherwise) passes {}{}; here a label may change "
                                    "after any bin; --min-duration BINS gives all labels a shortest length",
                                    model.countdowns - 1, model.countdowns == 2 ? " mark" : " marks")});
  if (options.bin_size > 1)
    warnings.push_back(
        {"resolution",
         fmt::format("Segway averages {}the bases of a frame that have a value and counts them; here the "
                     "track is the {} of a bin, and counts {} times where it has any value",
                     asinh ? "the asinh of the values of " : "", asinh ? "asinh of the mean" : "mean",
                     options.bin_size)});
}

}  // namespace

std::vector<double> frame_transitions(const SegwayModel& model) {
  const std::size_t states = model.states(), subs = model.subsegs;
  std::vector<double> transition(states * states);
  for (std::size_t from = 0; from < states; ++from)
    for (std::size_t to = 0; to < states; ++to) {
      const std::size_t s = from / subs, u = from % subs, s2 = to / subs, u2 = to % subs;
      double p = model.change[s * 3 + 2] * model.next[s * model.segs + s2] * model.sub_first[s2 * subs + u2];
      if (s == s2) p += model.change[s * 3 + 1] * model.sub_next[(s * subs + u) * subs + u2];
      if (from == to) p += model.change[s * 3];
      transition[from * states + to] = p;
    }
  return transition;
}

Parameters parameters_of(const SegwayModel& model, const SegwayOptions& options,
                         std::vector<Warning>& warnings) {
  const std::int64_t shortest = options.min_duration.value_or(1);
  if (shortest > 1 && model.subsegs > 1)
    throw UsageError(
        fmt::format("--min-duration cannot be used with this model: each of its labels has {} sub-labels",
                    model.subsegs),
        "leave it out");
  Parameters parameters;
  for (std::size_t c = 0; c < model.states(); ++c)
    parameters.labels.push_back({state_name_of(model, c), std::nullopt});
  const bool asinh = is_asinh(model, options);
  add_tracks(model, asinh, parameters);
  parameters.bin_size = options.bin_size;
  parameters.bin_size_given = true;
  parameters.centering = Centering::kNone;
  ChainModel& chain = parameters.chain;
  chain.num_labels = static_cast<int>(model.states());
  chain.initial = InitialTerm::kNone;
  for (std::size_t c = 0; c < model.states(); ++c)
    chain.start_scores.push_back(log_or_never(model.first[c / model.subsegs] * model.sub_first[c]));
  if (shortest > 1) {
    set_shortest(model, static_cast<int>(shortest), parameters);
  } else {
    set_hidden_markov_chain(frame_transitions(model), parameters);
  }
  parameters.emission = gaussian_head(model, static_cast<double>(options.bin_size));
  tell_differences(model, options, asinh, warnings);
  return parameters;
}

}  // namespace semicrf
