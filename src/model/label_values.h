// Options of the form LABEL=NUMBER, about labels of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// A number of each label that `texts` name, by the label's index. UsageError naming `option`: a text that is
// not LABEL=NUMBER, a label that the model does not have, or that is named twice.
std::vector<std::pair<int, double>> label_values(const std::vector<Label>& labels, const std::string& option,
                                                 const std::vector<std::string>& texts);

// Adds to the score of every segment of a label what `biases` (LABEL=X, natural logarithms) say of it: with X
// a segment is e^X times as probable, before the scores are normalised. UsageError as above, and for an X
// that is not finite or beyond 1e6.
void add_biases(const std::vector<std::string>& biases, Parameters& parameters);

}  // namespace semicrf
