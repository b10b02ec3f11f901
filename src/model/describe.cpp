#include "model/describe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "model/centering.h"
#include "model/duration.h"
#include "model/feature_transform.h"

namespace semicrf {
namespace {

std::string color_text(const Label& label) {
  if (!label.color) return "-";
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", (*label.color)[0], (*label.color)[1], (*label.color)[2]);
  return text;
}

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
  std::vector<std::vector<std::string>> rows{
      {"label", "color", "mean duration", "most likely", "allowed", "tail q", "start", "end"}};
  for (int c = 0; c < parameters.num_labels(); ++c) {
    const auto index = static_cast<std::size_t>(c);
    const DurationSummary durations = summarize_durations(parameters.chain, c);
    const bool possible = durations.shortest > 0;
    const bool has_tail =
        parameters.chain.has_tail() && parameters.chain.log_tail[index] != kNegativeInfinity;
    rows.push_back({parameters.labels[index].name, color_text(parameters.labels[index]),
                    possible ? described_number(durations.mean) : "-",
                    possible ? std::to_string(durations.most_likely) : "-",
                    possible ? std::to_string(durations.shortest) + ".." +
                                   (has_tail ? "any" : std::to_string(durations.longest))
                             : "never",
                    has_tail ? described_number(std::exp(parameters.chain.log_tail[index])) : "-",
                    described_number(parameters.chain.start_scores[index]),
                    described_number(parameters.chain.end_scores[index])});
  }
  return table_text(rows);
}

std::string track_table(const Parameters& parameters) {
  std::vector<std::vector<std::string>> rows{{"track", "transform", "center", "scale", "missing"}};
  for (const Track& track : parameters.tracks) {
    rows.push_back({track.name, std::string(transform_name(track.transform)), described_number(track.center),
                    described_number(track.scale), std::string(missing_policy_name(track.missing))});
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
  return text + "boundary scores: " + which + ", bins " + std::to_string(head.first) + ".." +
         std::to_string(head.last) + " around a segment's first or last bin\n";
}

}  // namespace

std::string described_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string describe_parameters(const Parameters& parameters) {
  const ChainModel& chain = parameters.chain;
  const auto forbidden = std::count(chain.transition.begin(), chain.transition.end(), kNegativeInfinity);
  std::ostringstream text;
  text << "labels: " << parameters.num_labels() << "\n"
       << "longest duration (K): " << chain.max_duration << " bins\n"
       << "bin size: " << parameters.bin_size << " bp"
       << (parameters.bin_size_given ? "\n" : " (default, not in the file; --bin-size may set another)\n")
       << "centering: " << centering_name(parameters.centering) << "\n"
       << "initial: " << (chain.initial == InitialTerm::kUniform ? "uniform" : "none") << "\n"
       << "duration kind: " << parameters.duration.kind->name() << "\n"
       << "forbidden transitions: " << forbidden << " of " << chain.transition.size() << "\n"
       << head_text(parameters) << "\n"
       << label_table(parameters);
  if (!parameters.tracks.empty()) text << "\n" << track_table(parameters);
  text << "\nDurations are in bins, from the duration scores alone (without centring, transitions and "
          "data).\n";
  if (!parameters.training.empty()) text << "training section: present\n";
  return text.str();
}

}  // namespace semicrf
