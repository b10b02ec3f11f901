#include "io/params/training_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/files/mapped_file.h"
#include "io/json/json_document.h"
#include "io/text/provenance_header.h"

namespace semicrf {
namespace {

Json json_of(const SeenDurations& seen) {
  return {{"segments", seen.segments},
          {"mean", seen.mean},
          {"q05", seen.low},
          {"median", seen.median},
          {"q95", seen.high}};
}

// Absent where something in it is not as json_of() writes it.
std::optional<SeenDurations> seen_of(const Json& object) {
  const auto number = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  const auto segments = number("segments"), mean = number("mean"), low = number("q05"),
             median = number("median"), high = number("q95");
  if (!segments || !mean || !low || !median || !high) return std::nullopt;
  for (const auto& value : {segments, mean, low, median, high})
    if (!(*value >= 0 && *value < 1e18)) return std::nullopt;
  return SeenDurations{static_cast<std::int64_t>(*segments), *mean, static_cast<std::int64_t>(*low),
                       static_cast<std::int64_t>(*median), static_cast<std::int64_t>(*high)};
}

}  // namespace

std::string training_record_text(const TrainingRecord& record) {
  Json object;
  object["program"] = "semicrf train";
  object["version"] = record.version;
  object["files"] = Json::array();
  for (const TrainingRecord::File& file : record.files)
    object["files"].push_back({{"role", file.role}, {"name", file.name}, {"sha256", file.sha256}});
  object["options"] = Json::object();
  for (const auto& [name, value] : record.options) object["options"][name] = value;
  object["positions"] = record.positions;
  object["pieces"] = record.pieces;
  object["segments"] = record.segments;
  if (record.free_positions > 0) object["free_positions"] = record.free_positions;
  object["iterations"] = record.iterations;
  object["best_iteration"] = record.best_iteration;
  if (record.scale) object["scale"] = *record.scale;
  if (!record.durations.empty()) {
    Json& durations = object["durations"] = Json::object();
    for (const TrainingRecord::Durations& one : record.durations)
      durations[one.label] = {{"training", json_of(one.training)}, {"decoded", json_of(one.decoded)}};
  }
  object["nll_per_position"] = record.nll;
  if (record.validation_nll) {
    object["validation_positions"] = record.validation_positions;
    object["validation_nll_per_position"] = *record.validation_nll;
  }
  object["converged"] = record.converged;
  object["stopped_because"] = record.stopped_because;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TrainingFacts training_facts(const Parameters& parameters) {
  TrainingFacts facts;
  facts.durations.resize(parameters.labels.size());
  if (parameters.training.empty()) return facts;
  const Json training = Json::parse(parameters.training, nullptr, false);
  if (!training.is_object()) return facts;
  if (const auto scale = training.find("scale"); scale != training.end() && scale->is_number())
    if (const double factor = scale->get<double>(); factor > 0 && factor < 1e6) facts.scale = factor;
  facts.edited = training.contains("edited");
  const auto durations = training.find("durations");
  if (durations == training.end() || !durations->is_object()) return facts;
  for (std::size_t c = 0; c < parameters.labels.size(); ++c) {
    const auto found = durations->find(parameters.labels[c].name);
    if (found == durations->end() || !found->is_object()) continue;
    for (const auto& [key, seen] : {std::pair("training", &facts.durations[c].training),
                                    std::pair("decoded", &facts.durations[c].decoded)})
      if (const auto object = found->find(key); object != found->end() && object->is_object())
        *seen = seen_of(*object);
  }
  return facts;
}

RecordedEmissions recorded_emissions(const std::string& training) {
  const Json section = training.empty() ? Json() : Json::parse(training, nullptr, false);
  RecordedEmissions found;
  if (!section.is_object()) return found;
  if (const auto emission = section.find("emission"); emission != section.end() && emission->is_string())
    found.family = emission->get<std::string>();
  if (const auto sizes = section.find("sizes"); sizes != section.end() && sizes->is_array())
    for (const Json& size : *sizes)
      if (size.is_number() && size.get<double>() > 0) found.sizes.push_back(size.get<double>());
  if (const auto scale = section.find("emission_scale"); scale != section.end() && scale->is_number())
    if (const double factor = scale->get<double>(); factor > 0 && factor < 1e9) found.scale = factor;
  return found;
}

std::optional<std::string> recorded_background(const std::string& training) {
  const Json section = training.empty() ? Json() : Json::parse(training, nullptr, false);
  if (!section.is_object()) return {};
  const auto options = section.find("options");
  if (options == section.end() || !options->is_object()) return {};
  const auto found = options->find("background");
  if (found == options->end() || !found->is_string()) return {};
  return found->get<std::string>();
}

std::string training_with_label_names(const std::string& training,
                                      const std::vector<std::pair<std::string, std::string>>& names) {
  Json object = training.empty() ? Json() : Json::parse(training);
  if (!object.is_object() || !object.contains("durations") || !object["durations"].is_object())
    return training;
  Json durations = Json::object();
  for (const auto& [label, seen] : object["durations"].items()) {
    const auto change = std::ranges::find(names, label, &std::pair<std::string, std::string>::first);
    durations[change == names.end() ? label : change->second] = seen;
  }
  object["durations"] = std::move(durations);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string training_with_edits(const std::string& training, const std::vector<std::string>& edits) {
  Json object = training.empty() ? Json::object() : Json::parse(training);
  Json& list = object["edited"];
  if (!list.is_array()) list = Json::array();
  for (const std::string& edit : edits) list.push_back(edit);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string file_sha256(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  Sha256 hash;
  constexpr std::size_t kPart = std::size_t{1} << 20;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPart) {
    const auto part = bytes.subspan(begin, std::min(kPart, bytes.size() - begin));
    hash.update(std::string_view(reinterpret_cast<const char*>(part.data()), part.size()));
  }
  return hash.hex_digest();
}

}  // namespace semicrf
