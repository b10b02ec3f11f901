#include <algorithm>
#include <array>

#include "io/params/params_sections.h"
#include "model/duration.h"

namespace semicrf {
namespace {

constexpr const char* kPerLabel = "one per label";

constexpr NumberRule kTailRule{0, 1, true, false,
                               "a number between 0 and 1 (both excluded), null or \"continue\""};

// Keys of each kind besides "kind" and "tail".
std::vector<std::string_view> keys_of(DurationKind kind) {
  std::vector<std::string_view> keys{"kind", "tail"};
  switch (kind) {
    case DurationKind::kTable:
      keys.push_back("bias");
      break;
    case DurationKind::kGeometric:
      keys.push_back("p");
      break;
    case DurationKind::kNegativeBinomial:
      keys.insert(keys.end(), {"r", "p"});
      break;
    case DurationKind::kPoisson:
      keys.push_back("lambda");
      break;
    case DurationKind::kUniform:
      break;
  }
  return keys;
}

// q of one label, 0 for none.
double read_tail_entry(const JsonNode& node, const DurationSpec& spec, std::size_t label) {
  if (node.is_null()) return 0;
  if (node.is_string() && node.text() == "continue") {
    if (spec.kind != DurationKind::kGeometric) {
      node.fail("\"continue\" is for geometric durations only", "give q, a number between 0 and 1");
    }
    return continued_tail(spec.p[label]);
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
  constexpr std::array<std::string_view, 6> kAllKeys{"kind", "tail", "bias", "p", "r", "lambda"};
  node.expect_object(kAllKeys);
  spec.kind = read_choice(node.at("kind"), duration_kind_from_name,
                          "\"table\", \"geometric\", \"negative_binomial\", \"poisson\" or \"uniform\"");
  const std::vector<std::string_view> keys = keys_of(spec.kind);
  for (const std::string_view key : kAllKeys) {
    const auto extra = node.find(key);
    if (extra && std::find(keys.begin(), keys.end(), key) == keys.end()) {
      std::string what = in_quotes(key);
      what += " has no meaning for durations of kind " + in_quotes(duration_kind_name(spec.kind));
      extra->fail(what, "remove it or change the kind");
    }
  }

  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const auto durations = static_cast<std::size_t>(chain.max_duration);
  if (spec.kind == DurationKind::kTable) {
    chain.duration_bias =
        node.at("bias").matrix(durations, "one per duration 1..max_duration", labels, kPerLabel, kScoreRule);
  } else {
    if (const auto p = node.find("p")) spec.p = p->numbers(labels, kPerLabel, kProbabilityRule);
    if (const auto r = node.find("r")) spec.r = r->numbers(labels, kPerLabel, kPositiveRule);
    if (const auto lambda = node.find("lambda"))
      spec.lambda = lambda->numbers(labels, kPerLabel, kPositiveRule);
    for (const std::string_view key : keys) {
      if (key != "tail") static_cast<void>(node.at(key));
    }
    chain.duration_bias = duration_table(spec, chain.max_duration, chain.num_labels);
  }
  if (const auto tail = node.find("tail")) read_tail(*tail, spec, chain);
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
