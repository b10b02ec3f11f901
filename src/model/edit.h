// Changes of a model by hand: transitions, shortest durations, and laws of durations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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

}  // namespace semicrf
