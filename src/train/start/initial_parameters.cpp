#include "train/start/initial_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/cholesky.h"
#include "core/counts.h"
#include "core/error.h"
#include "core/row_view.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/params/params_json.h"
#include "model/edit.h"

namespace semicrf {

namespace {

constexpr double kPseudoCount = 0.1;   // added to the counts of transitions
constexpr double kPercentile = 0.995;  // percentile of the training durations, for K

std::vector<std::int64_t> signal_durations(const TrainingData& data, std::optional<int> background) {
  std::vector<std::int64_t> durations;
  for (const TrainingPiece& piece : data.pieces)
    for (const Segment& segment : piece.segments)
      if (segment.label != background) durations.push_back(segment.end - segment.begin);
  return durations;
}

// Segments of the background are never too long: it has a tail.
void refuse_longer(const TrainingData& data, const TrainingData& other, int max_duration,
                   std::optional<int> background) {
  std::int64_t longest = 0;
  for (const TrainingData* part : {&data, &other})
    for (const TrainingPiece& piece : part->pieces)
      for (const Segment& segment : piece.segments)
        if (segment.label != background) longest = std::max(longest, segment.end - segment.begin);
  if (longest <= max_duration) return;
  for (const TrainingData* part : {&data, &other})
    for (const TrainingPiece& piece : part->pieces)
      for (std::size_t i = 0; i < piece.segments.size(); ++i) {
        const Segment& segment = piece.segments[i];
        if (segment.end - segment.begin != longest || segment.label == background) continue;
        throw InputError(
            {"", piece.place(segment.begin, segment.end),
             fmt::format("the segment of line {} has {} bins, but --max-duration is {} and there is no tail",
                         piece.lines[i], longest, max_duration),
             fmt::format("give --max-duration {} or --tail", longest)});
      }
}

std::vector<double> log_shares(const std::vector<double>& counts, double pseudo) {
  double total = 0;
  for (const double count : counts) total += count + pseudo;
  std::vector<double> scores;
  scores.reserve(counts.size());
  for (const double count : counts) scores.push_back(std::log((count + pseudo) / total));
  return scores;
}

// A label follows itself only where it does so in the data: otherwise durations would mean nothing.
std::vector<double> transition_scores(const PathCounts& counts, const PathCounts& held_out) {
  const std::size_t labels = counts.segments.size();
  std::vector<double> scores(labels * labels, kNegativeInfinity);
  for (std::size_t from = 0; from < labels; ++from) {
    const auto seen = RowView(counts.transition, labels).row(from),
               beside = RowView(held_out.transition, labels).row(from);
    const auto allowed = [&](std::size_t to) { return from != to || seen[to] + beside[to] > 0; };
    double total = 0;
    for (std::size_t to = 0; to < labels; ++to)
      if (allowed(to)) total += seen[to] + kPseudoCount;
    for (std::size_t to = 0; to < labels; ++to)
      if (allowed(to)) scores[from * labels + to] = std::log((seen[to] + kPseudoCount) / total);
  }
  return scores;
}

}  // namespace

std::int64_t long_duration(std::vector<std::int64_t> durations) {
  std::sort(durations.begin(), durations.end());
  const auto rank = static_cast<std::size_t>(std::ceil(kPercentile * static_cast<double>(durations.size())));
  return durations[std::max<std::size_t>(rank, 1) - 1];
}

DurationShape settle_durations(const ShapeOptions& options, const TrainingData& training,
                               const TrainingData& validation, std::optional<int> background,
                               int least_longest) {
  DurationShape shape;
  if (options.duration != nullptr) shape.kind = options.duration;
  shape.tail = options.tail || !options.max_duration;
  const std::int64_t most = kMaxDurationEntries / std::max(1, training.num_labels);
  if (options.max_duration) {
    shape.max_duration = *options.max_duration;
  } else {
    const std::vector<std::int64_t> seen = signal_durations(training, background);
    if (!seen.empty()) shape.max_duration = static_cast<int>(std::min(long_duration(seen), most));
    shape.max_duration = std::max(shape.max_duration, least_longest);
  }
  const bool chain = shape.max_duration == 1 && !shape.tail;
  if (!chain) shape.background = background;
  if (shape.max_duration > most)
    throw UsageError(
        fmt::format("--max-duration times the number of labels may be at most {}", kMaxDurationEntries),
        "use larger bins, or a shorter --max-duration with --tail");
  if (!shape.tail && !chain) refuse_longer(training, validation, shape.max_duration, background);
  return shape;
}

std::vector<int> shortest_durations(const std::vector<std::string>& texts, const std::vector<Label>& labels) {
  std::vector<int> shortest(labels.size(), 1);
  const auto bins_in = [](const std::string& text, std::string_view number) {
    const auto bins = number_in<int>(number);
    if (bins && *bins >= 1) return *bins;
    throw UsageError("--min-duration: '" + text + "' is no number of bins, 1 or more",
                     "give N for all labels, or LABEL=N");
  };
  const auto is_of_all = [](const std::string& text) { return text.find('=') == std::string::npos; };
  for (const std::string& text : texts)
    if (is_of_all(text)) std::ranges::fill(shortest, bins_in(text, text));
  for (const std::string& text : texts) {
    if (is_of_all(text)) continue;
    const std::size_t equals = text.rfind('=');
    const auto named = std::ranges::find(labels, text.substr(0, equals), &Label::name);
    if (named == labels.end())
      throw UsageError("--min-duration " + text + ": there is no such label",
                       "the labels are " + joined(names_of(labels), ", "));
    shortest[named - labels.begin()] = bins_in(text, std::string_view(text).substr(equals + 1));
  }
  return shortest;
}

void set_shortest_durations(const std::vector<int>& shortest, Parameters& parameters) {
  for (int c = 0; c < count_of(shortest); ++c) {
    if (shortest[c] == 1) continue;
    if (!parameters.duration.kind->is_table())
      throw UsageError(
          "--min-duration goes with a table of durations, not with a formula",
          "leave --duration out; durations that are geometric from N bins on have --max-duration N "
          "--tail --min-duration N");
    set_minimum_duration(parameters, c, shortest[c]);
  }
}

EmissionHead discriminant_emissions(const TrainingData& data) {
  const std::size_t labels = data.num_labels;
  const std::size_t tracks = data.num_tracks;
  // Many tracks: their variances alone. A full covariance would cost tracks^2 per bin.
  constexpr std::size_t kMostCovaried = 256;
  const bool full = tracks <= kMostCovaried;
  std::vector<double> count(labels, 0.0);
  std::vector<double> mean(labels * tracks, 0.0);
  const auto for_each_bin = [&](auto visit) {
    for (const TrainingPiece& piece : data.pieces)
      for (const Segment& segment : piece.segments)
        for (std::int64_t t = segment.begin; t < segment.end; ++t)
          visit(segment.label, piece.features.data() + t * tracks);
  };
  for_each_bin([&](std::size_t c, const float* x) {
    count[c] += 1;
    for (std::size_t f = 0; f < tracks; ++f) mean[c * tracks + f] += x[f];
  });
  double total = 0;
  for (std::size_t c = 0; c < labels; ++c) {
    total += count[c];
    // One bin at the overall mean, 0, is added to every label.
    for (std::size_t f = 0; f < tracks; ++f) mean[c * tracks + f] /= count[c] + 1;
  }
  std::vector<double> covariance(full ? tracks * tracks : tracks, 0.0);
  std::vector<double> d(tracks);
  for_each_bin([&](std::size_t c, const float* x) {
    for (std::size_t f = 0; f < tracks; ++f) d[f] = x[f] - mean[c * tracks + f];
    for (std::size_t f = 0; f < tracks; ++f) {
      if (!full) covariance[f] += d[f] * d[f];
      for (std::size_t g = 0; full && g <= f; ++g) covariance[f * tracks + g] += d[f] * d[g];
    }
  });
  constexpr double kRidge = 0.05;  // features have variance 1
  for (double& entry : covariance) entry /= total;
  for (std::size_t f = 0; f < tracks; ++f) covariance[full ? f * tracks + f : f] += kRidge;
  EmissionHead head{mean, std::vector<double>(labels, 0.0)};
  if (full && !cholesky_factor(covariance, tracks)) {
    std::fill(head.weights.begin(), head.weights.end(), 0.0);
    return head;
  }
  for (std::size_t c = 0; c < labels; ++c) {
    double* weights = head.weights.data() + c * tracks;
    if (full) {
      solve_by_factor(covariance, tracks, weights);
    } else {
      for (std::size_t f = 0; f < tracks; ++f) weights[f] /= covariance[f];
    }
    for (std::size_t f = 0; f < tracks; ++f) head.bias[c] -= 0.5 * weights[f] * mean[c * tracks + f];
  }
  return head;
}

Parameters initial_parameters(std::optional<Centering> centering, const DurationShape& shape,
                              const LabelFile& labels, const std::vector<Track>& tracks,
                              std::int64_t bin_size, const TrainingData& training,
                              const TrainingData& validation, bool with_heads) {
  const PathCounts counts = count_paths(training);
  Parameters parameters;
  parameters.labels = labels.labels;
  parameters.bin_size = bin_size;
  parameters.centering = centering.value_or(Centering::kNone);
  parameters.tracks = tracks;
  ChainModel& chain = parameters.chain;
  chain.num_labels = parameters.num_labels();
  chain.initial = InitialTerm::kNone;
  chain.transition = transition_scores(counts, count_paths(validation));
  // A piece may begin and end anywhere: shares of the segments, not of the few pieces.
  chain.start_scores = log_shares(counts.segments, 1);
  chain.end_scores.assign(parameters.labels.size(), 0.0);
  set_initial_durations(shape, counts, parameters);
  if (!with_heads) return parameters;
  parameters.emission = discriminant_emissions(training);
  if (parameters.centering == Centering::kMean)
    std::fill(parameters.emission->bias.begin(), parameters.emission->bias.end(), 0.0);
  return parameters;
}

// First durations: distributions with the moments of what was seen. A table starts as a negative binomial,
// which is smooth.

namespace {

// q of the tail: mean excess over K of the segments seen there, and of one more that exceeds K by half the
// mean duration.
double tail_ratio(const std::vector<std::int64_t>& durations, int max_duration) {
  double excess = std::max(1.0, mean_duration(durations) / 2);
  double count = 1;
  for (const std::int64_t d : durations) {
    if (d <= max_duration) continue;
    excess += static_cast<double>(d - max_duration);
    count += 1;
  }
  return clamped_probability(excess / (excess + count));
}

}  // namespace

void set_initial_durations(const DurationShape& shape, const PathCounts& counts, Parameters& parameters) {
  ChainModel& chain = parameters.chain;
  DurationSpec& spec = parameters.duration;
  chain.max_duration = shape.max_duration;
  const bool is_table = shape.kind->is_table();
  spec.kind = is_table ? find_duration_kind("negative_binomial") : shape.kind;
  for (int c = 0; c < parameters.num_labels(); ++c) {
    const std::vector<std::int64_t>& durations = counts.durations[c];
    spec.values.push_back(spec.kind->estimate(durations));
    if (!shape.tail && c != shape.background) {
      if (shape.background) spec.tail.push_back(0);
      continue;
    }
    const auto continued = spec.kind->continued_tail(spec.values[c]);
    spec.tail.push_back(continued ? continued->q : tail_ratio(durations, shape.max_duration));
  }
  chain.duration_bias = duration_table(spec, shape.max_duration, chain.num_labels);
  if (is_table) {
    spec.kind = shape.kind;
    spec.values.clear();
    // A linear chain has nothing to say about durations.
    if (shape.max_duration == 1 && !shape.tail) chain.duration_bias.assign(chain.num_labels, 0.0);
  }
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
