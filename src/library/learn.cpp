// semicrf_learn(): models from tracks alone, as the command `learn` fits them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/arrays/npy_reader.h"
#include "learn/learn_data.h"
#include "learn/learn_fits.h"
#include "learn/learn_record.h"
#include "learn/learn_shapes.h"
#include "library/engine_handle.h"
#include "library/model_handle.h"
#include "library/sequence_inputs.h"
#include "library/status.h"
#include "model/missing_tracks.h"

namespace semicrf {
namespace {

std::optional<LawKind> law_kind(const char* name) {
  if (name == nullptr) return std::nullopt;
  if (const auto kind = law_from_name(name)) return kind;
  throw UsageError("durations is \"" + std::string(name) + "\"",
                   R"(it is "table", "geometric" or "negative-binomial")");
}

std::optional<EmissionFamily> family_of(const char* name) {
  if (name == nullptr) return std::nullopt;
  if (const auto family = emission_from_name(name)) return family;
  throw UsageError("emission is \"" + std::string(name) + "\"",
                   R"(it is "gaussian", "poisson", "negative-binomial", "bernoulli" or "categorical")");
}

LearnOptions options_of(const semicrf_learning& how, const semicrf_options& engine) {
  constexpr int kMostLabels = 200, kMostRestarts = 1000;
  if (how.num_labels < 1 || how.num_labels > kMostLabels)
    throw UsageError(fmt::format("num_labels is {}", how.num_labels), "it is 1 to 200");
  if (how.max_duration < 0 || how.max_iterations < 0 || how.restarts < 0 || how.restarts > kMostRestarts ||
      !(how.tolerance >= 0))
    throw UsageError("max_duration, max_iterations, restarts and tolerance must not be negative", "");
  LearnOptions options;
  options.labels = {how.num_labels};
  options.engine = engine_options(engine);
  if (const auto family = family_of(how.emission))
    options.emissions.choices = {{"", std::string(emission_name(*family))}};
  options.transform = Transform::kNone;
  options.law.durations = law_kind(how.durations);
  if (how.max_duration > 0) options.law.max_duration = how.max_duration;
  options.law.tail = how.tail != 0;
  options.law.self_transitions = how.self_transitions != 0;
  options.start = how.random_start != 0 ? LearnStart::kRandom : LearnStart::kKMeans;
  options.restarts = std::max(1, how.restarts);
  options.max_iterations = how.max_iterations;
  options.tolerance = how.tolerance;
  options.seed = how.seed;
  return options;
}

TrainingPiece piece_of(const semicrf_array& given, std::size_t index, std::int64_t columns) {
  const std::string name = fmt::to_string(index), what = "sequence " + name;
  if (given.data == nullptr) throw UsageError(what + " is a null pointer", "");
  const NpyArray array = viewed(given, what);
  if (array.columns() != columns)
    throw UsageError(fmt::format("{}: has {} columns, expected {}", what, array.columns(), columns), "");
  TrainingPiece piece;
  piece.location.chromosome = name;
  piece.location.limit = piece.length = array.rows();
  piece.features.resize(array.rows() * columns);
  array.read_rows(0, array.rows(), piece.features.data());
  check_values(std::span<const float>(piece.features), columns, 0, ValueRule::kFinite, what);
  return piece;
}

TrainingData data_of(const semicrf_array* sequences, std::size_t count, std::int64_t columns) {
  TrainingData data;
  data.num_tracks = static_cast<int>(columns);
  for (std::size_t i = 0; i < count; ++i) data.pieces.push_back(piece_of(sequences[i], i, columns));
  return data;
}

// The input tracks: those of the model, or new ones.
std::vector<Track> tracks_of(const semicrf_model* start, std::int64_t columns) {
  if (start != nullptr) return start->model->tracks;
  std::vector<Track> tracks;
  for (std::int64_t f = 1; f <= columns; ++f)
    tracks.push_back({.name = fmt::format("track{}", f), .missing = MissingPolicy::kSkip});
  return tracks;
}

// A model that learning can go on from.
std::optional<Parameters> first_of(const semicrf_model* start) {
  if (start == nullptr) return std::nullopt;
  const Parameters& parameters = start->model->parameters;
  if (!parameters.emission || parameters.boundary || parameters.centering != Centering::kNone ||
      parameters.chain.initial != InitialTerm::kNone)
    throw UsageError(
        "start is no model that learning can go on from",
        "it has an emission section, no boundary section, and \"none\" for centering and initial");
  return parameters;
}

// The likeliest of all fits, as a parameter file has it.
Parameters likeliest_model(const LearnOptions& options, const LearnData& data) {
  const LearnShapes shapes(options, data);
  LearnRecord record;
  record.version = SEMICRF_VERSION;
  record.emission = emission_text(data.emissions, data.tracks);
  record.positions = data.inputs.training.positions();
  Parameters best;
  for (const LearnJob& job : shapes.jobs()) {
    EmState first;
    first.parameters = shapes.shaped(job.labels);
    const FitResult fit = fit_job(options, data, job, options.engine, std::move(first), {});
    record.fits.push_back(learned_fit(job, fit.state, fit.free_parameters, record.positions));
    const std::size_t latest = record.fits.size() - 1;
    if (latest > 0 && !is_better(record.fits[latest], record.fits[record.chosen])) continue;
    record.chosen = latest;
    record.sizes = fit.state.sizes;
    best = data.init ? fit.state.parameters : sorted_by_bins(fit.state.parameters, fit.state.bins, 0);
  }
  set_duration_spec(best);
  remove_absences(best);
  best.training = learn_record_text(record);
  return best;
}

}  // namespace
}  // namespace semicrf

using namespace semicrf;

semicrf_status semicrf_learn(const semicrf_array* sequences, size_t count, const semicrf_model* start,
                             const semicrf_learning* how, const semicrf_options* options,
                             semicrf_model** model, semicrf_error* error) {
  return guarded(error, [&] {
    require(sequences, "sequences");
    require(how, "how");
    require(model, "model");
    if (count == 0) throw UsageError("there is no sequence to learn from", "");
    const LearnOptions settled = options_of(*how, options != nullptr ? *options : semicrf_options{});
    std::optional<Parameters> first = first_of(start);
    const std::int64_t columns = start != nullptr ? start->model->columns() : sequences[0].columns;
    TrainingData data = data_of(sequences, count, columns);
    *model = handle_of(likeliest_model(
        settled, learn_data_of(settled, std::move(first), std::move(data), tracks_of(start, columns))));
  });
}
