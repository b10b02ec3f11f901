#include "library/model_handle.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "inputs/arguments/lacking_tracks.h"
#include "io/params/params_json.h"
#include "io/params/training_record.h"
#include "library/status.h"
#include "model/scores/centering.h"

namespace semicrf {
namespace {

constexpr std::string_view kUniformName = "uniform", kNoneName = "none";

std::vector<double> copied(const double* values, std::size_t count) {
  return values == nullptr ? std::vector<double>() : std::vector<double>(values, values + count);
}

InitialTerm initial_of(const char* name) {
  if (name == nullptr || name == kUniformName) return InitialTerm::kUniform;
  if (name == kNoneName) return InitialTerm::kNone;
  throw UsageError("initial is \"" + std::string(name) + "\"", "it is \"uniform\" or \"none\"");
}

Centering centering_of(const char* name) {
  if (name == nullptr) return Centering::kNone;
  if (const auto found = centering_from_name(name)) return *found;
  throw UsageError("centering is \"" + std::string(name) + "\"",
                   R"(it is "mean", "none", "position-max" or "mean-preserving")");
}

// The tables as a parameter file has them, not checked.
Parameters parameters_of(const semicrf_tables& tables) {
  if (tables.num_labels < 1) throw UsageError("num_labels must be at least 1", "");
  if (tables.max_duration < 1) throw UsageError("max_duration must be at least 1", "");
  require(tables.transition, "transition");
  require(tables.duration, "duration");
  const auto labels = static_cast<std::size_t>(tables.num_labels);
  Parameters parameters;
  for (std::size_t c = 0; c < labels; ++c) {
    if (tables.labels != nullptr) require(tables.labels[c], "a name of labels");
    parameters.labels.push_back({tables.labels != nullptr ? tables.labels[c] : std::to_string(c), {}});
  }
  parameters.centering = centering_of(tables.centering);
  ChainModel& chain = parameters.chain;
  chain.num_labels = tables.num_labels;
  chain.max_duration = tables.max_duration;
  chain.transition = copied(tables.transition, labels * labels);
  chain.duration_bias = copied(tables.duration, static_cast<std::size_t>(tables.max_duration) * labels);
  chain.start_scores = copied(tables.start, labels);
  chain.end_scores = copied(tables.end, labels);
  chain.start_scores.resize(labels);
  chain.end_scores.resize(labels);
  chain.initial = initial_of(tables.initial);
  parameters.duration.tail = copied(tables.tail, labels);
  if (std::ranges::all_of(parameters.duration.tail, [](double q) { return q == 0; }))
    parameters.duration.tail.clear();
  return parameters;
}

}  // namespace

semicrf_model* handle_of(Parameters parameters) {
  return new semicrf_model{std::make_shared<const LibraryModel>(std::move(parameters))};
}

LibraryModel::LibraryModel(Parameters given) : parameters(std::move(given)) {
  for (const Label& label : parameters.labels) label_names.push_back(label.name.c_str());
  initial = parameters.chain.initial == InitialTerm::kUniform ? kUniformName : kNoneName;
  centering = centering_name(parameters.centering);
  if (!parameters.emission) return;
  Parameters settled = parameters;
  RecordedEmissions recorded = recorded_emissions(settled.training);
  settle_lacking({}, settled, recorded);
  heads = std::make_shared<const LinearHeads>(settled);
  derived = take_derived(settled.tracks);
  tracks = std::move(settled.tracks);
  for (Track& track : tracks)
    if (track.missing == MissingPolicy::kDefault) track.missing = MissingPolicy::kSkip;
}

}  // namespace semicrf

using namespace semicrf;

semicrf_status semicrf_model_read(const char* path, semicrf_model** model, semicrf_error* error) {
  return guarded(error, [&] {
    require(path, "path");
    require(model, "model");
    *model = handle_of(read_params_json(path).parameters);
  });
}

semicrf_status semicrf_model_parse(const char* json, size_t length, semicrf_model** model,
                                   semicrf_error* error) {
  return guarded(error, [&] {
    require(json, "json");
    require(model, "model");
    *model = handle_of(parse_params_json({json, length}, "json"));
  });
}

semicrf_status semicrf_model_make(const semicrf_tables* tables, semicrf_model** model, semicrf_error* error) {
  return guarded(error, [&] {
    require(tables, "tables");
    require(model, "model");
    // What a file may hold is checked in one place: where files are read.
    *model = handle_of(parse_params_json(write_params_json(parameters_of(*tables), "tables"), "tables"));
  });
}

semicrf_status semicrf_model_json(const semicrf_model* model, char* text, size_t capacity, size_t* length,
                                  semicrf_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(length, "length");
    const std::string json = write_params_json(model->model->parameters);
    *length = json.size();
    if (capacity > 0) require(text, "text");
    std::copy_n(json.data(), std::min(capacity, json.size()), text);
  });
}

semicrf_status semicrf_model_tables(const semicrf_model* model, semicrf_tables* tables,
                                    semicrf_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    require(tables, "tables");
    const LibraryModel& own = *model->model;
    const ChainModel& chain = own.parameters.chain;
    const std::vector<double>& tail = own.parameters.duration.tail;
    *tables = {chain.num_labels,          chain.max_duration,         own.label_names.data(),
               chain.transition.data(),   chain.duration_bias.data(), tail.empty() ? nullptr : tail.data(),
               chain.start_scores.data(), chain.end_scores.data(),    own.initial.c_str(),
               own.centering.c_str()};
  });
}

semicrf_status semicrf_model_columns(const semicrf_model* model, int64_t* columns, int64_t* tracks,
                                     semicrf_error* error) {
  return guarded(error, [&] {
    require(model, "model");
    if (columns != nullptr) *columns = model->model->columns();
    if (tracks != nullptr) *tracks = static_cast<std::int64_t>(model->model->tracks.size());
  });
}

void semicrf_model_free(semicrf_model* model) { delete model; }
