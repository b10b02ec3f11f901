#include <algorithm>
#include <string>
#include <vector>

#include "io/params/params_sections.h"
#include "model/durations/duration.h"

namespace semicrf {
namespace {

constexpr NumberRule kTailRule{0, 1, true, false,
                               "a number between 0 and 1 (both excluded), null or \"continue\""};

// `names` in quotes, as a list in English: "a", "b" or "c".
std::string choices(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += in_quotes(names[i]);
  }
  return text;
}

const DurationKind& read_kind(const JsonNode& node) {
  std::vector<std::string_view> names;
  for (const DurationKind* kind : duration_kinds()) names.push_back(kind->name());
  const std::string expected = choices(names);
  if (const DurationKind* kind = find_duration_kind(node.text(expected.c_str()))) return *kind;
  node.fail_expected(expected);
}

// Refuses keys that no kind has, then those that this one does not have.
void check_keys(const JsonNode& node) {
  std::vector<std::string_view> keys{"kind", "tail", "bias"};
  const auto is_among = [](const std::vector<std::string_view>& list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const DurationKind* kind : duration_kinds())
    for (const DurationKind::Parameter& parameter : kind->parameters())
      if (!is_among(keys, parameter.name)) keys.push_back(parameter.name);
  node.expect_object(keys);
  const DurationKind& kind = read_kind(node.at("kind"));
  std::vector<std::string_view> own{"kind", "tail"};
  if (kind.is_table()) own.push_back("bias");
  for (const DurationKind::Parameter& parameter : kind.parameters()) own.push_back(parameter.name);
  for (const std::string_view key : keys) {
    const auto extra = node.find(key);
    if (!extra || is_among(own, key)) continue;
    extra->fail(in_quotes(key) + " has no meaning for durations of kind " + in_quotes(kind.name()),
                "remove it or change the kind");
  }
}

// q of one label, 0 for none.
double read_tail_entry(const JsonNode& node, const DurationSpec& spec, std::size_t label) {
  if (node.is_null()) return 0;
  if (node.is_string() && node.text() == "continue") {
    if (!spec.kind->is_table())
      if (const auto tail = spec.kind->continued_tail(spec.values[label])) return tail->q;
    node.fail("\"continue\" is for geometric durations only", "give q, a number between 0 and 1");
  }
  return node.number(kTailRule);
}

void read_tail(const JsonNode& node, DurationSpec& spec, const ChainModel& chain) {
  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const bool shared = !node.is_list();  // "continue" or null for every label
  if (shared && !node.is_null() && !(node.is_string() && node.text() == "continue")) {
    node.fail_expected("a list of " + std::to_string(labels) + " (" + kPerLabel + "), or \"continue\"");
  }
  if (!shared) node.expect_list(labels, kPerLabel);
  spec.tail.assign(labels, 0.0);
  const double* last_row = chain.duration_bias.data() + chain.duration_bias.size() - labels;
  for (std::size_t c = 0; c < labels; ++c) {
    const JsonNode entry = shared ? node : node.element(c);
    spec.tail[c] = read_tail_entry(entry, spec, c);
    if (!entry.is_null() && last_row[c] == kNegativeInfinity) {
      entry.fail("a tail needs a finite duration score at max_duration, but bias " +
                     std::to_string(chain.max_duration) + " of label " + std::to_string(c) + " is \"-inf\"",
                 "remove the tail or give that duration a score");
    }
  }
  if (std::all_of(spec.tail.begin(), spec.tail.end(), [](double q) { return q == 0; })) spec.tail.clear();
}

}  // namespace

void read_durations(const JsonNode& node, DurationSpec& spec, ChainModel& chain) {
  check_keys(node);
  spec.kind = &read_kind(node.at("kind"));
  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const auto durations = static_cast<std::size_t>(chain.max_duration);
  if (spec.kind->is_table()) {
    chain.duration_bias =
        node.at("bias").matrix(durations, "one per duration 1..max_duration", labels, kPerLabel, kScoreRule);
  } else {
    spec.values.resize(labels);
    for (const DurationKind::Parameter& parameter : spec.kind->parameters()) {
      const NumberRule& rule = parameter.is_probability ? kProbabilityRule : kPositiveRule;
      const std::vector<double> values = node.at(parameter.name).numbers(labels, kPerLabel, rule);
      for (std::size_t c = 0; c < labels; ++c) spec.values[c].push_back(values[c]);
    }
    chain.duration_bias = duration_table(spec, chain.max_duration, chain.num_labels);
  }
  if (const auto tail = node.find("tail")) read_tail(*tail, spec, chain);
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
