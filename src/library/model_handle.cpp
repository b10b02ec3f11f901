#include "library/model_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/text/names.h"
#include "inputs/arguments/lacking_tracks.h"
#include "io/params/params_json.h"
#include "io/params/training_record.h"
#include "library/status.h"
#include "model/durations/duration.h"
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

// The scores of a table of the caller: what a parameter file may have.
std::vector<double> checked(const char* name, const double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!(values[i] <= kMaxNumber) || (values[i] < -kMaxNumber && values[i] != kNegativeInfinity))
      throw UsageError(
          fmt::format("{}: entry {} is {}, expected a number of at most 1e30 in magnitude or -inf", name, i,
                      values[i]),
          "");
  return copied(values, count);
}

void check_tail(const DurationSpec& duration, const ChainModel& chain) {
  const std::size_t labels = duration.tail.size();
  for (std::size_t c = 0; c < labels; ++c) {
    const double q = duration.tail[c];
    if (!(q >= 0 && q < 1))
      throw UsageError(fmt::format("tail: entry {} is {}, expected a number from 0 to below 1", c, q), "");
    if (q > 0 && chain.duration_bias[chain.duration_bias.size() - labels + c] == kNegativeInfinity)
      throw UsageError(fmt::format("tail: label {} has one, and its last duration is -inf", c), "");
  }
}

std::vector<Label> labels_of(const semicrf_tables& tables) {
  std::vector<Label> labels;
  std::unordered_set<std::string> seen;
  for (std::size_t c = 0; c < static_cast<std::size_t>(tables.num_labels); ++c) {
    if (tables.labels == nullptr) {
      labels.push_back({fmt::to_string(c), {}});
      continue;
    }
    require(tables.labels[c], "a name of labels");
    const std::string& name = labels.emplace_back(Label{tables.labels[c], {}}).name;
    if (const std::string problem = name_problem(name); !problem.empty())
      throw UsageError(fmt::format("labels: name {}: {}", c, problem), "");
    if (!seen.insert(name).second) throw UsageError("labels: \"" + name + "\" is there twice", "");
  }
  return labels;
}

Parameters parameters_of(const semicrf_tables& tables) {
  if (tables.num_labels < 1 || tables.num_labels > kMaxLabels)
    throw UsageError(fmt::format("num_labels is {}, expected 1 to {}", tables.num_labels, kMaxLabels), "");
  if (tables.max_duration < 1 || tables.max_duration > kMaxDuration ||
      std::int64_t{tables.max_duration} * tables.num_labels > kMaxDurationEntries)
    throw UsageError(fmt::format("max_duration is {}, expected 1 to {}", tables.max_duration,
                                 std::min(kMaxDuration, kMaxDurationEntries / tables.num_labels)),
                     "");
  require(tables.transition, "transition");
  require(tables.duration, "duration");
  const std::size_t labels = tables.num_labels;
  Parameters parameters;
  parameters.labels = labels_of(tables);
  parameters.centering = centering_of(tables.centering);
  ChainModel& chain = parameters.chain;
  chain.num_labels = tables.num_labels;
  chain.max_duration = tables.max_duration;
  chain.transition = checked("transition", tables.transition, labels * labels);
  chain.duration_bias = checked("duration", tables.duration, tables.max_duration * labels);
  for (auto& [name, from, to] : {std::tuple{"start", tables.start, &chain.start_scores},
                                 std::tuple{"end", tables.end, &chain.end_scores}}) {
    if (from != nullptr) *to = checked(name, from, labels);
    to->resize(labels);
  }
  chain.initial = initial_of(tables.initial);
  parameters.duration.tail = copied(tables.tail, labels);
  check_tail(parameters.duration, chain);
  if (std::ranges::all_of(parameters.duration.tail, [](double q) { return q == 0; }))
    parameters.duration.tail.clear();
  chain.log_tail = tail_scores(parameters.duration);
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
    *model = handle_of(parameters_of(*tables));
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
    if (tracks != nullptr) *tracks = std::ssize(model->model->tracks);
  });
}

void semicrf_model_free(semicrf_model* model) { delete model; }
