#include "io/params/training_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/files/mapped_file.h"
#include "io/json/json_document.h"
#include "io/text/sha256.h"

namespace semicrf {

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
  object["iterations"] = record.iterations;
  object["best_iteration"] = record.best_iteration;
  if (record.scale) object["scale"] = *record.scale;
  object["nll_per_position"] = record.nll;
  if (record.validation_nll) {
    object["validation_positions"] = record.validation_positions;
    object["validation_nll_per_position"] = *record.validation_nll;
  }
  object["converged"] = record.converged;
  object["stopped_because"] = record.stopped_because;
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
