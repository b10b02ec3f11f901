// Changes of a model's labels by hand: names, colours, order. None of them changes what the model says of
// tracks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

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
