#include "learn/learn_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

#include "core/row_view.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "train/emissions/emissions.h"

namespace semicrf {
namespace {

constexpr double kManySegments = 0.25;
constexpr double kRareLabel = 0.001;  // share of the bins

// The share of a label's segments that have K bins or more.
double share_at_cap(const ChainModel& chain, int label) {
  const double at_cap = std::exp(chain.duration_score(chain.max_duration, label));
  if (!chain.has_tail()) return at_cap;
  return at_cap / -std::expm1(chain.log_tail[label]);
}

// Bins that segments of at least K bins have beyond K, on average.
double mean_excess(const ChainModel& chain, int label) {
  if (!chain.has_tail()) return chain.max_duration;
  const double log_q = chain.log_tail[label];
  return std::exp(log_q) / -std::expm1(log_q);
}

// Its durations fall geometrically from the first possible one on, so that a longer table has nothing to
// learn.
bool is_geometric(const ChainModel& chain, int label) {
  for (int k = 1; k <= chain.max_duration; ++k) {
    if (chain.duration_score(k, label) == kNegativeInfinity) continue;
    const double step = chain.duration_score(k + 1, label) - chain.duration_score(k, label);
    if (!(std::fabs(step - chain.log_tail[label]) < 1e-9)) return false;
  }
  return true;
}

std::vector<Warning> warnings_of_durations(const Parameters& parameters) {
  const ChainModel& chain = parameters.chain;
  const int longest = chain.max_duration;
  if (longest == 1) return {};
  std::string labels;
  double wanted = 0;
  for (int c = 0; c < chain.num_labels; ++c) {
    const double share = share_at_cap(chain, c);
    if (share < kManySegments || (chain.has_tail() && is_geometric(chain, c))) continue;
    labels += fmt::format("{}{} ({} %)", labels.empty() ? "" : ", ", in_quotes(parameters.labels[c].name),
                          std::lround(100 * share));
    wanted = std::max(wanted, longest + 2 * mean_excess(chain, c));
  }
  if (labels.empty()) return {};
  const std::int64_t rounded = static_cast<std::int64_t>(std::ceil(wanted / 50)) * 50;
  return {{"durations-at-cap",
           fmt::format("many segments have {} bins or more, where durations {}: of label {}; --max-duration "
                       "{} --tail learns how long they are",
                       longest, chain.has_tail() ? "fall geometrically" : "end", labels, rounded)}};
}

// Gaussian emissions whose variance would be less than the least one: exact zeros, for example.
std::vector<Warning> warnings_of_variances(const Parameters& parameters) {
  const std::size_t columns = parameters.tracks.size();
  std::vector<std::string> found;
  for (std::size_t f = 0; f < columns; ++f) {
    const Track& track = parameters.tracks[f];
    if (track.square_of.empty()) continue;
    for (std::size_t c = 0; c < parameters.labels.size(); ++c)
      if (RowView(parameters.emission->weights, columns)(c, f) < -0.5 / kLeastVariance * (1 - 1e-6))
        found.push_back(in_quotes(track.square_of) + " in label " + in_quotes(parameters.labels[c].name));
  }
  if (found.empty()) return {};
  return {{"variance-at-floor",
           "a track has nearly the same value wherever a label is, so that its variance stays at the least "
           "one, and a bin with another value can hardly have that label: " +
               few_of(found, 5) +
               "; such values may be missing ones (--missing marginal), and --emission "
               "poisson or negative-binomial fits counts"}};
}

// Labels that hold few bins: often noise, or one of more than the tracks tell apart.
std::vector<Warning> warnings_of_rare_labels(const Parameters& parameters, const std::vector<double>& bins) {
  const double all = std::accumulate(bins.begin(), bins.end(), 0.0);
  std::vector<std::string> found;
  for (std::size_t c = 0; c < bins.size(); ++c)
    if (bins[c] >= 1 && bins[c] < kRareLabel * all)
      found.push_back(
          fmt::format("{} ({:.2g} %)", in_quotes(parameters.labels[c].name), 100 * bins[c] / all));
  if (found.empty()) return {};
  return {{"rare-label", "less than 0.1 % of the bins have label " + few_of(found, 5) +
                             ", which may be noise: try fewer labels, or --min-duration"}};
}

// Labels of a preset are called by the means that it begins with.
std::vector<Warning> warnings_of_moved_labels(const Parameters& parameters, const Parameters& preset) {
  constexpr double kFar = 0.2;  // means are shares
  std::vector<std::string> found;
  for (std::size_t i = 0; i < parameters.tracks.size(); ++i) {
    if (!parameters.tracks[i].is_density()) continue;
    const double mean = parameters.tracks[i].density.mean, first = preset.tracks[i].density.mean;
    if (std::abs(mean - first) > kFar)
      found.push_back(
          fmt::format("{} ({:.2f} to {:.2f})", in_quotes(parameters.tracks[i].name), first, mean));
  }
  if (found.empty()) return {};
  return {{"label-moved", "means have moved far from those that labels are called by: " + few_of(found, 5) +
                              "; --freeze means keeps labels what they are called"}};
}

}  // namespace

std::vector<Warning> warnings_of_model(const Parameters& parameters, const std::vector<double>& bins,
                                       const Parameters* preset) {
  std::vector<Warning> warnings;
  if (const auto empty = std::ranges::count_if(bins, [](double one) { return one < 1; }); empty > 0)
    warnings.push_back({"empty-label", fmt::format("{}{} less than one bin: the tracks may have fewer labels",
                                                   empty, empty == 1 ? " label covers" : " labels cover")});
  for (const Warning& warning : warnings_of_rare_labels(parameters, bins)) warnings.push_back(warning);
  for (const Warning& warning : warnings_of_durations(parameters)) warnings.push_back(warning);
  for (const Warning& warning : warnings_of_variances(parameters)) warnings.push_back(warning);
  if (preset != nullptr)
    for (const Warning& warning : warnings_of_moved_labels(parameters, *preset)) warnings.push_back(warning);
  return warnings;
}

}  // namespace semicrf
