#include "model/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/error.h"
#include "core/sizes.h"
#include "core/text/names.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr double kLargestScore = 1e30;  // in a parameter file

DurationColumn<double> column_of(ChainModel& chain, int label) {
  return {chain.duration_bias.data() + label, wide(chain.num_labels), wide(chain.max_duration)};
}

// The scores stay as they are.
void make_table(Parameters& parameters) {
  parameters.duration.kind = &table_durations();
  parameters.duration.values.clear();
}

double parse_value(const std::string& law, std::string_view text) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value))
    throw UsageError("--duration: '" + std::string(text) + "' in '" + law + "' is not a number",
                     "write a finite number such as 0.5, 12 or 1e3");
  return *value;
}

std::string law_help() {
  return "write for example geometric:mean=20, negative_binomial:r=2,mean=12, poisson:mean=30 or uniform";
}

// The last parameter of the kind that gives this mean duration.
double value_for_mean(const DurationKind& kind, std::span<const double> others, double mean) {
  if (kind.name() == "geometric") return 1 / mean;
  // k - 1 is counted: its mean is r (1 - p) / p.
  if (kind.name() == "negative_binomial") return others[0] / (others[0] + mean - 1);
  return mean;
}

using NamedValues = std::map<std::string, double, std::less<>>;

[[noreturn]] void refuse_twice(const std::string& name, const std::string& law) {
  throw UsageError("--duration: '" + name + "' is given twice in '" + law + "'");
}

NamedValues parse_values(const std::string& law, std::string_view text) {
  NamedValues values;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw UsageError(fmt::format("--duration: '{}' in '{}' is not NAME=VALUE", item, law), law_help());
    const std::string name(item.substr(0, equals));
    if (!values.emplace(name, parse_value(law, item.substr(equals + 1))).second) refuse_twice(name, law);
  }
  return values;
}

void check_value(const std::string& law, const DurationKind::Parameter& parameter, double value) {
  const bool fits = value > 0 && (!parameter.is_probability || value < 1) && value < 1e30;
  if (!fits)
    throw UsageError("--duration: " + std::string(parameter.name) + " of '" + law +
                     "' must be above 0 and below " + (parameter.is_probability ? "1" : "1e30"));
}

// Within (0, 1), so that the law goes on beyond K as from K - 1 to K.
std::optional<double> continuation(const DurationColumn<double>& scores) {
  if (scores.count < 2) return std::nullopt;
  const double q = std::exp(scores[scores.count - 1] - scores[scores.count - 2]);
  return q > 0 && q < 1 ? std::optional(q) : std::nullopt;
}

// Rows of `width` numbers each, one per label, or no numbers at all.
void reorder_rows(std::vector<double>& numbers, const std::vector<std::size_t>& order) {
  const std::vector<double> before = numbers;
  const std::size_t width = before.size() / order.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = 0; j < width; ++j) numbers[i * width + j] = before[order[i] * width + j];
}

// Rows of one number per label.
void reorder_columns(std::vector<double>& numbers, const std::vector<std::size_t>& order) {
  const std::vector<double> before = numbers;
  for (std::size_t at = 0; at < numbers.size(); ++at)
    numbers[at] = before[at - at % order.size() + order[at % order.size()]];
}

template <class Item>
void reorder_items(std::vector<Item>& items, const std::vector<std::size_t>& order) {
  if (items.empty()) return;
  std::vector<Item> before = std::move(items);
  items.clear();
  for (const std::size_t place : order) items.push_back(std::move(before[place]));
}

}  // namespace

int label_index(const Parameters& parameters, std::string_view name) {
  const std::vector<std::string> names = names_of(parameters.labels);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  throw UsageError("'" + std::string(name) + "' is not a label of the model",
                   "its labels are " + joined(names, ", "));
}

void forbid_transition(Parameters& parameters, int from, int to) {
  ChainModel& chain = parameters.chain;
  const std::size_t labels = chain.num_labels;
  chain.transition[from * labels + to] = kNegativeInfinity;
  const auto stays = [&](auto score_of) {
    for (int c = 0; c < chain.num_labels; ++c)
      if (score_of(c) != kNegativeInfinity) return true;
    return false;
  };
  const std::string pair = parameters.labels[from].name + "," + parameters.labels[to].name;
  if (chain.num_labels > 1 && !stays([&](int c) { return chain.transition_at(from, c); }))
    throw UsageError("--forbid " + pair + ": no label could follow " + parameters.labels[from].name,
                     "leave at least one transition from it");
  if (chain.num_labels > 1 && !stays([&](int c) { return chain.transition_at(c, to); }))
    throw UsageError("--forbid " + pair + ": no label could come before " + parameters.labels[to].name,
                     "leave at least one transition to it");
}

void set_minimum_duration(Parameters& parameters, int label, std::int64_t bins) {
  ChainModel& chain = parameters.chain;
  const std::string& name = parameters.labels[label].name;
  if (bins < 1 || bins > chain.max_duration)
    throw UsageError(fmt::format(
        "--min-duration {}={}: must be 1 or more and at most the longest duration of the model, {} bins",
        name, bins, chain.max_duration));
  make_table(parameters);
  const DurationColumn<double> scores = column_of(chain, label);
  bool possible = false;
  for (std::size_t k = 0; k < scores.count; ++k) {
    if (wide(bins) > k + 1) scores[k] = kNegativeInfinity;
    possible = possible || scores[k] != kNegativeInfinity;
  }
  if (!possible)
    throw UsageError(fmt::format("--min-duration {}={}: no duration would be left", name, bins),
                     "the model allows none that is so long");
}

void rename_track(Parameters& parameters, const std::string& from, const std::string& to) {
  const std::vector<std::string> names = names_of(parameters.tracks);
  if (const std::string problem = name_problem(to); !problem.empty())
    throw UsageError("the new name of track '" + from + "', '" + to + "': " + problem);
  if (std::find(names.begin(), names.end(), to) != names.end())
    throw UsageError("the model already has a track '" + to + "'", "its tracks are " + joined(names, ", "));
  const auto found = std::find(names.begin(), names.end(), from);
  if (found == names.end())
    throw UsageError("'" + from + "' is not a track of the model", "its tracks are " + joined(names, ", "));
  parameters.tracks[found - names.begin()].name = to;
  for (Track& track : parameters.tracks)
    for (std::string* const source :
         {&track.square_of, &track.indicator_of, &track.density_of, &track.density.beside})
      if (*source == from) *source = to;
}

void drop_track_prefix(Parameters& parameters, const std::string& prefix) {
  for (const Track& track : parameters.tracks)
    if (!track.name.starts_with(prefix))
      throw UsageError("--drop-track-prefix: track '" + track.name + "' does not begin with '" + prefix + "'",
                       "use --rename-track OLD=NEW for single tracks");
  for (Track& track : parameters.tracks) {
    const std::string old = track.name;
    rename_track(parameters, old, old.substr(prefix.size()));
  }
}

DurationLaw parse_duration_law(const std::string& text) {
  std::string name = text.substr(0, text.find(':'));
  std::replace(name.begin(), name.end(), '-', '_');
  DurationLaw law{find_duration_kind(name), {}};
  if (law.kind == nullptr || law.kind->is_table())
    throw UsageError("--duration: '" + text + "' does not begin with a kind of law", law_help());
  const std::size_t colon = text.find(':');
  NamedValues given = parse_values(
      text, colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1));
  const auto take = [&](std::string_view key) -> std::optional<double> {
    const auto found = given.find(key);
    if (found == given.end()) return std::nullopt;
    const double value = found->second;
    given.erase(found);
    return value;
  };
  const auto parameters = law.kind->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::optional<double> value = take(parameters[i].name);
    if (i + 1 == parameters.size()) {
      if (const std::optional<double> mean = take("mean")) {
        if (value)
          throw UsageError(fmt::format("--duration: '{}' has both {} and mean", text, parameters[i].name));
        if (!(*mean > 1)) throw UsageError("--duration: the mean of '" + text + "' must be more than 1 bin");
        value = value_for_mean(*law.kind, law.values, *mean);
      }
    }
    if (!value)
      throw UsageError("--duration: '" + text + "' lacks " + std::string(parameters[i].name), law_help());
    check_value(text, parameters[i], *value);
    law.values.push_back(*value);
  }
  if (!given.empty())
    throw UsageError("--duration: '" + given.begin()->first + "' in '" + text +
                         "' is not a parameter of this kind of duration",
                     law_help());
  return law;
}

void set_duration_law(Parameters& parameters, int label, const DurationLaw& law, double scale) {
  ChainModel& chain = parameters.chain;
  DurationSpec& spec = parameters.duration;
  const std::size_t c = label;
  const bool keeps_kind = spec.kind == law.kind && scale == 1;
  const DurationColumn<double> scores = column_of(chain, label);
  law.kind->fill(law.values, scores);
  for (std::size_t k = 0; k < scores.count; ++k) {
    scores[k] *= scale;
    if (!(std::abs(scores[k]) <= kLargestScore) && scores[k] != kNegativeInfinity)
      throw UsageError(
          fmt::format("--duration {}: the score of {} would be {:.3g}, and scores are at most 1e30",
                      parameters.labels[c].name, plural(k + 1, "bin"), scores[k]),
          "give another law, or a smaller --scale");
  }
  if (keeps_kind) {
    if (!law.values.empty()) spec.values[c] = law.values;
  } else {
    make_table(parameters);
  }
  if (!spec.tail.empty() && spec.tail[c] > 0) {
    if (const auto continued = law.kind->continued_tail(law.values)) {
      spec.tail[c] = scale == 1 ? continued->q : std::pow(continued->q, scale);
    } else if (const auto q = continuation(scores)) {
      spec.tail[c] = *q;
    }
  }
  chain.log_tail = tail_scores(spec);
}

void rename_labels(Parameters& parameters, const LabelNames& names) {
  std::set<std::string> renamed;
  std::vector<std::pair<std::size_t, std::string>> changes;
  for (const auto& [from, to] : names) {
    if (!renamed.insert(from).second)
      throw UsageError("--rename-label: '" + from + "' is renamed twice", "give every label one new name");
    if (const std::string problem = name_problem(to); !problem.empty())
      throw UsageError("--rename-label: the new name of '" + from + "', '" + to + "': " + problem,
                       "give another name");
    changes.emplace_back(label_index(parameters, from), to);
  }
  for (const auto& [label, name] : changes) parameters.labels[label].name = name;
  std::vector<std::string> all = names_of(parameters.labels);
  std::ranges::sort(all);
  const auto twice = std::ranges::adjacent_find(all);
  if (twice != all.end())
    throw UsageError("--rename-label: two labels would be called '" + *twice + "'",
                     "give the other one another name, too; A=B with B=A exchanges two names");
}

std::vector<std::size_t> parse_label_order(const Parameters& parameters, const std::string& text) {
  const std::vector<std::string> names = names_of(parameters.labels);
  const NameIndex index = NameIndex::of(names);
  const auto refuse = [&](const std::string& what) {
    return UsageError("--label-order: " + what,
                      "give all labels once, with commas between them: " + few_of(names, 20));
  };
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  std::vector<std::size_t> order;
  std::vector<bool> taken(names.size());
  for (std::size_t at = 0; at <= text.size();) {
    std::optional<std::size_t> label;  // label with the longest name that stands here
    std::size_t end = at;
    for (std::size_t comma = text.find(',', at);; comma = text.find(',', comma + 1)) {
      const std::size_t stop = std::min(comma, text.size());
      if (const auto found = index.find(text.substr(at, stop - at)); found && !taken[*found]) {
        label = found;
        end = stop;
      }
      if (comma == std::string::npos || stop - at > longest) break;
    }
    if (!label) {
      const std::string name = text.substr(at, std::min(text.find(',', at), text.size()) - at);
      throw refuse("'" + name + "' is " + (index.find(name) ? "given twice" : "not a label of the model"));
    }
    taken[*label] = true;
    order.push_back(*label);
    at = end + 1;
  }
  const auto lacking = std::ranges::find(taken, false);
  if (lacking != taken.end()) throw refuse("'" + names[lacking - taken.begin()] + "' is not in the list");
  return order;
}

void reorder_labels(Parameters& parameters, const std::vector<std::size_t>& order) {
  ChainModel& chain = parameters.chain;
  reorder_items(parameters.labels, order);
  reorder_rows(chain.transition, order);
  reorder_columns(chain.transition, order);
  for (std::vector<double>* const numbers :
       {&chain.duration_bias, &chain.log_tail, &chain.start_scores, &chain.end_scores})
    reorder_columns(*numbers, order);
  reorder_items(parameters.duration.values, order);
  reorder_columns(parameters.duration.tail, order);
  if (parameters.emission) {
    reorder_rows(parameters.emission->weights, order);
    reorder_rows(parameters.emission->bias, order);
  }
  if (parameters.boundary)
    for (std::vector<double>* const numbers :
         {&parameters.boundary->start_weights, &parameters.boundary->start_bias,
          &parameters.boundary->end_weights, &parameters.boundary->end_bias})
      reorder_rows(*numbers, order);
}

}  // namespace semicrf
