#include "model/label_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

std::string quoted(const std::string& name) { return "'" + escape_control(name) + "'"; }

// The label that `text` begins with, before "=". Names may have "=" in them: the first that fits counts.
int label_of(const std::vector<Label>& labels, const std::string& option, const std::string& text) {
  for (int c = 0; c < count_of(labels); ++c)
    if (text.starts_with(labels[c].name + "=")) return c;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UsageError(option + ": " + quoted(text) + " is not LABEL=NUMBER",
                     "write for example " + labels.front().name + "=0.5");
  throw UsageError(option + ": the parameters have no label " + quoted(text.substr(0, equals)),
                   "they have " + few_of(names_of(labels), 20));
}

}  // namespace

std::vector<std::pair<int, double>> label_values(const std::vector<Label>& labels, const std::string& option,
                                                 const std::vector<std::string>& texts) {
  std::vector<std::pair<int, double>> values;
  for (const std::string& text : texts) {
    const int label = label_of(labels, option, text);
    const std::string& name = labels[label].name;
    const auto value = number_in<double>(text.substr(name.size() + 1));
    if (!value || !std::isfinite(*value))
      throw UsageError(option + ": " + quoted(text) + " does not end with a number",
                       "write for example " + name + "=0.5");
    if (std::ranges::any_of(values, [&](const auto& one) { return one.first == label; }))
      throw UsageError(option + " says two things of the label " + quoted(name), "give it once");
    values.emplace_back(label, *value);
  }
  return values;
}

void add_biases(const std::vector<std::string>& biases, Parameters& parameters) {
  constexpr double kMost = 1e6;
  ChainModel& chain = parameters.chain;
  for (const auto& [label, bias] : label_values(parameters.labels, "--bias", biases)) {
    if (std::fabs(bias) > kMost)
      throw UsageError(fmt::format("--bias: {:g} is too much", bias), "natural logarithms up to 1e6");
    // Longer segments score along the tail from the last row on.
    for (std::size_t i = label; i < chain.duration_bias.size(); i += parameters.labels.size())
      chain.duration_bias[i] += bias;
  }
}

}  // namespace semicrf
