#include "io/params/training_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "io/files/mapped_file.h"
#include "io/json/json_document.h"
#include "io/json/statistic_json.h"
#include "io/text/provenance_header.h"

namespace semicrf {
namespace {

std::int64_t count(int number) { return number; }

// Calls visit(name, member) for each number.
template <class Seen, class Visit>
void visit_numbers(Seen& seen, Visit visit) {
  visit("segments", seen.segments);
  visit("mean", seen.mean);
  visit("q05", seen.low);
  visit("median", seen.median);
  visit("q95", seen.high);
}

Json json_of(const SeenDurations& seen) {
  Json object;
  visit_numbers(seen, [&](const char* name, auto number) { object[name] = number; });
  return object;
}

// Absent where something in it is not as json_of() writes it.
std::optional<SeenDurations> seen_of(const Json& object) {
  SeenDurations seen;
  bool complete = true;
  visit_numbers(seen, [&](const char* name, auto& number) {
    const auto found = object.find(name);
    const double value = found != object.end() && found->is_number() ? found->template get<double>() : -1;
    if (value >= 0 && value < 1e18)
      number = static_cast<std::remove_reference_t<decltype(number)>>(value);
    else
      complete = false;
  });
  return complete ? std::optional(seen) : std::nullopt;
}

}  // namespace

const StatisticList<TrainingRecord>& training_statistics() {
  using enum StatisticUnit;
  using enum JsonPart;
  using T = TrainingRecord;
  static const StatisticList<T> list = {
      {"positions", "bins", kCount, "bins of the training data", &T::positions},
      {"pieces", "pieces", kCount, "pieces of the training data", &T::pieces},
      {"segments", "segments", kCount, "segments of the training data", &T::segments},
      {"free_positions", "", kCount, "bins without a label",
       [](const T& t) { return t.free_positions > 0 ? std::optional(t.free_positions) : std::nullopt; }},
      {"iterations", "iterations", kCount, "iterations of the fit",
       [](const T& t) { return count(t.iterations); }},
      {"best_iteration", "", kCount, "the iteration that the parameters are of",
       [](const T& t) { return count(t.best_iteration); }},
      {"scale", "", kNumber, "factor of all scores after a fit with a margin", &T::scale},
      {"nll_per_position", "NLL", kNats, "negative log likelihood per bin of the training data", &T::nll,
       kSecond},
      {"validation_positions", "", kCount, "bins of the validation data",
       [](const T& t) { return t.validation_nll ? std::optional(t.validation_positions) : std::nullopt; },
       kSecond},
      {"validation_nll_per_position", "validation NLL", kNats,
       "negative log likelihood per bin of the validation data", &T::validation_nll, kSecond},
  };
  return list;
}

std::string training_record_text(const TrainingRecord& record) {
  Json object;
  object["program"] = "semicrf train";
  object["version"] = record.version;
  object["files"] = Json::array();
  for (const TrainingRecord::File& file : record.files)
    object["files"].push_back({{"role", file.role}, {"name", file.name}, {"sha256", file.sha256}});
  object["options"] = Json::object();
  for (const auto& [name, value] : record.options) object["options"][name] = value;
  put_known(object, training_statistics(), record);
  if (!record.durations.empty()) {
    Json& durations = object["durations"] = Json::object();
    for (const TrainingRecord::Durations& one : record.durations)
      durations[one.label] = {{"training", json_of(one.training)}, {"decoded", json_of(one.decoded)}};
  }
  put_known(object, training_statistics(), record, JsonPart::kSecond);
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
