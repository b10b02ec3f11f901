#include "model/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/text/text.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

// Left-aligned columns, two spaces apart; no trailing spaces.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size(), ' ');
    }
    text += line + "\n";
  }
  return text;
}

std::string label_table(const Parameters& parameters) {
  std::vector<std::vector<std::string>> rows{{"label", "color", "durations", "tail q", "start", "end"}};
  for (int c = 0; c < parameters.num_labels(); ++c) {
    const std::size_t index = c;
    const DurationSummary durations = summarize_durations(parameters.chain, c);
    const bool possible = durations.shortest > 0;
    const bool has_tail =
        parameters.chain.has_tail() && parameters.chain.log_tail[index] != kNegativeInfinity;
    rows.push_back({parameters.labels[index].name,
                    parameters.labels[index].color ? hex_color(*parameters.labels[index].color) : "-",
                    possible ? fmt::format("{}..{}", durations.shortest,
                                           has_tail ? "any" : fmt::to_string(durations.longest))
                             : "never",
                    has_tail ? described_number(std::exp(parameters.chain.log_tail[index])) : "-",
                    described_number(parameters.chain.start_scores[index]),
                    described_number(parameters.chain.end_scores[index])});
  }
  return table_text(rows);
}

// "66.2 (13240)": bins, and bases where these are others.
std::string length_text(double bins, std::int64_t bin_size, const char* format) {
  const std::string text = formatted(format, bins);
  return bin_size == 1 ? text : fmt::format("{} ({:.0f})", text, bins * static_cast<double>(bin_size));
}

std::string duration_table_text(const Parameters& parameters, const TrainingFacts& facts) {
  const std::int64_t bin_size = parameters.bin_size;
  const auto seen_columns = [&](const std::optional<SeenDurations>& seen, std::vector<std::string>& row) {
    const bool any = seen && seen->segments > 0;
    row.push_back(seen ? fmt::to_string(seen->segments) : "-");
    row.push_back(any ? length_text(seen->mean, bin_size, "%.1f") : "-");
    row.push_back(any ? fmt::format("{} {} {}", seen->low, seen->median, seen->high) : "-");
  };
  const bool trained = std::any_of(facts.durations.begin(), facts.durations.end(),
                                   [](const TrainingFacts::Label& label) { return label.training; });
  std::vector<std::vector<std::string>> rows{{"label"}};
  if (trained)
    rows[0].insert(rows[0].end(),
                   {"training: segments", "mean", "5% 50% 95%", "decoded: segments", "mean", "5% 50% 95%"});
  rows[0].insert(rows[0].end(), {"scores alone: mean", "most likely"});
  for (int c = 0; c < parameters.num_labels(); ++c) {
    const std::size_t index = c;
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(parameters.labels[index].name);
    if (trained) {
      seen_columns(facts.durations[index].training, row);
      seen_columns(facts.durations[index].decoded, row);
    }
    const DurationSummary durations = summarize_durations(parameters.chain, c);
    const bool possible = durations.shortest > 0;
    row.push_back(possible ? length_text(durations.mean, bin_size, "%.1f") : "-");
    row.push_back(possible ? fmt::to_string(durations.most_likely) : "-");
  }
  std::string text = bin_size == 1
                         ? "Durations in bins of one " + units().one
                         : fmt::format("Durations in bins of {} {}; means also in {}, in parentheses",
                                       bin_size, units().many, units().many);
  text += ".\n";
  if (trained)
    text += "training: what the labels have; decoded: what the best segmentation of the training data has;\n";
  text += "scores alone: what the duration scores would give if tracks and transitions said nothing.\n";
  return text + table_text(rows);
}

std::string calibration_text(double scale) {
  const std::string factor = described_number(scale);
  return fmt::format(
      "\nCalibration: after the fit all scores (weights, transitions, durations, start and end) "
      "were\nmultiplied by {}. That makes the probabilities fit the data and leaves the best segmentation as "
      "it\nwas. Durations from the scores alone therefore differ from those that segments have: a "
      "factor\nbelow 1 spreads them out, one above 1 narrows them. If you put in durations of your own, use "
      "the\nlogarithms of their probabilities times {}; semicrf edit --duration does that.\n",
      factor, factor);
}

std::string track_table(const Parameters& parameters) {
  std::vector<std::vector<std::string>> rows{{"track", "transform", "center", "scale", "missing"}};
  for (const Track& track : parameters.tracks) {
    const std::string transform = transform_text(track);
    if (!track.is_input()) {
      rows.push_back({track.name, transform, "-", "-", "-"});
      continue;
    }
    rows.push_back({track.name, transform, described_number(track.center), described_number(track.scale),
                    std::string(missing_policy_name(track.missing))});
  }
  return table_text(rows);
}

std::string score_text(double score) { return score == kNegativeInfinity ? "-" : described_number(score); }

// `weights`: (C, columns) or empty; `bias`: (C) or empty.
std::string weight_table(const Parameters& parameters, const std::vector<std::string>& columns,
                         const std::vector<double>& weights, const std::vector<double>& bias) {
  std::vector<std::vector<std::string>> rows{{"label"}};
  if (!bias.empty()) rows[0].push_back("bias");
  if (!weights.empty()) rows[0].insert(rows[0].end(), columns.begin(), columns.end());
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(parameters.labels[c].name);
    if (!bias.empty()) row.push_back(described_number(bias[c]));
    if (weights.empty()) continue;
    for (std::size_t f = 0; f < columns.size(); ++f)
      row.push_back(described_number(weights[c * columns.size() + f]));
  }
  return table_text(rows);
}

std::string head_text(const Parameters& parameters) {
  if (!parameters.emission) return "scores: the inputs are the label scores themselves\n";
  std::string text = "scores: linear emission over the tracks\n";
  if (!parameters.boundary) return text;
  const BoundaryHead& head = *parameters.boundary;
  const bool starts = !head.start_weights.empty() || !head.start_bias.empty();
  const bool ends = !head.end_weights.empty() || !head.end_bias.empty();
  const std::string which = starts && ends ? "start and end" : starts ? "start" : ends ? "end" : "no";
  return fmt::format("{}boundary scores: {}, bins {}..{} around a segment's first or last bin\n", text, which,
                     head.first, head.last);
}

}  // namespace

std::string described_number(double value) { return fmt::format("{:.6g}", value); }

std::string describe_parameters(const Parameters& parameters, const TrainingFacts& facts) {
  const ChainModel& chain = parameters.chain;
  const auto forbidden = std::count(chain.transition.begin(), chain.transition.end(), kNegativeInfinity);
  std::ostringstream text;
  text << "labels: " << parameters.num_labels() << "\n"
       << "longest duration (K): " << chain.max_duration << " bins\n"
       << "bin size: " << parameters.bin_size << (units().one == "base" ? " bp" : " " + units().many)
       << (parameters.bin_size_given ? "\n" : " (default, not in the file; --bin-size may set another)\n")
       << "centering: " << centering_name(parameters.centering) << "\n"
       << "edges: " << edge_rule_name(parameters.edges) << "\n"
       << (parameters.rule == PathRule::kPosterior ? "rule of decode: posterior\n" : "")
       << "initial: " << (chain.initial == InitialTerm::kUniform ? "uniform" : "none") << "\n"
       << "duration kind: " << parameters.duration.kind->name() << "\n"
       << "forbidden transitions: " << forbidden << " of " << chain.transition.size() << "\n"
       << head_text(parameters) << "\n"
       << label_table(parameters) << "\n"
       << duration_table_text(parameters, facts);
  if (!parameters.tracks.empty()) text << "\n" << track_table(parameters);
  if (facts.scale) text << calibration_text(*facts.scale);
  if (!parameters.training.empty()) text << "\ntraining section: present\n";
  if (facts.edited) text << "edited after training, see training/edited in the file\n";
  return text.str();
}

std::string describe_transitions(const Parameters& parameters) {
  std::vector<std::vector<std::string>> rows{{"from \\ to"}};
  for (const Label& label : parameters.labels) rows[0].push_back(label.name);
  for (int from = 0; from < parameters.num_labels(); ++from) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(parameters.labels[from].name);
    for (int to = 0; to < parameters.num_labels(); ++to)
      row.push_back(score_text(parameters.chain.transition_at(from, to)));
  }
  return "transition scores (natural logarithms; - is forbidden):\n" + table_text(rows);
}

std::string describe_weights(const Parameters& parameters) {
  if (!parameters.emission) return "weights: none, the inputs are the label scores themselves\n";
  const std::vector<std::string> tracks = names_of(parameters.tracks);
  std::string text =
      "emission weights (score per unit of a feature):\n" +
      weight_table(parameters, tracks, parameters.emission->weights, parameters.emission->bias);
  if (!parameters.boundary) return text;
  const BoundaryHead& head = *parameters.boundary;
  std::vector<std::string> columns;
  for (int offset = head.first; offset <= head.last; ++offset)
    for (const std::string& track : tracks) columns.push_back(fmt::format("{}[{}]", track, offset));
  if (!head.start_weights.empty() || !head.start_bias.empty())
    text += "\nstart weights ([n]: n bins from a segment's first bin):\n" +
            weight_table(parameters, columns, head.start_weights, head.start_bias);
  if (!head.end_weights.empty() || !head.end_bias.empty())
    text += "\nend weights ([n]: n bins from a segment's last bin):\n" +
            weight_table(parameters, columns, head.end_weights, head.end_bias);
  return text;
}

}  // namespace semicrf
