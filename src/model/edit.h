// Changes of a model by hand: transitions, shortest durations, and laws of durations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// Index of the label of that name. UsageError that lists the names there are.
int label_index(const Parameters& parameters, std::string_view name);

// A score of -inf. UsageError when then no label could follow `from`, or none come before `to`.
void forbid_transition(Parameters& parameters, int from, int to);

// Segments of the label shorter than `bins` become impossible. A formula for durations becomes a table of its
// scores. UsageError unless 1 <= bins <= K and a longer duration is left.
void set_minimum_duration(Parameters& parameters, int label, std::int64_t bins);

// Another name for a track. UsageError: there is no such track, or one of the new name, or it is empty.
void rename_track(Parameters& parameters, const std::string& from, const std::string& to);
// Removes `prefix` from the beginning of all track names. UsageError: a track does not begin with it.
void drop_track_prefix(Parameters& parameters, const std::string& prefix);

// A law of durations, as a user writes it: "negative_binomial:r=2,mean=12". `mean` stands for the last
// parameter of a kind: the mean duration in bins.
struct DurationLaw {
  const DurationKind* kind = nullptr;
  std::vector<double> values;  // values of the kind's parameters
};
// UsageError that says what is wrong.
DurationLaw parse_duration_law(const std::string& text);

// The law in place of the label's durations. Where all labels have this kind of formula and `scale` is 1, the
// file keeps its kind; else durations become a table, whose column for the label has the law's logarithms
// times `scale`, the factor of calibration. A label with a tail keeps one, with which the law goes on as from
// K - 1 to K.
void set_duration_law(Parameters& parameters, int label, const DurationLaw& law, double scale);

// Changes of a model's labels by hand: names, colours, order. None of them changes what the model says of
// tracks.
// Old and new name of each label that gets another one.
using LabelNames = std::vector<std::pair<std::string, std::string>>;

// All at once, so that labels can exchange their names. UsageError: a name that no label has, a label that is
// renamed twice, a new name that cannot be one or that another label has then.
void rename_labels(Parameters& parameters, const LabelNames& names);

// The labels that a list with commas between their names stands for; names may have commas themselves.
// UsageError unless every label is there once.
std::vector<std::size_t> parse_label_order(const Parameters& parameters, const std::string& text);

// Label i of the result is label order[i], with everything that the model has of it: names, colours,
// transitions, durations, tails, scores of starts and ends, heads. `order`: (C), every label once.
void reorder_labels(Parameters& parameters, const std::vector<std::size_t>& order);

}  // namespace semicrf
