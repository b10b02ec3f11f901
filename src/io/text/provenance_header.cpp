#include "io/text/provenance_header.h"

#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "core/error.h"

namespace semicrf {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

std::string provenance_header(const Provenance& provenance) {
  std::string header;
  const auto line = [&header](std::initializer_list<std::string_view> parts) {
    header += '#';
    for (const std::string_view part : parts) header += escape_control(part);
    header += '\n';
  };
  line({"semicrf ", provenance.version, " ", provenance.command});
  line({"params ", base_name(provenance.params_path), " sha256=", provenance.params_sha256});
  for (const ProvenanceInput& input : provenance.inputs) {
    const std::string file = (input.name.empty() ? "" : input.name + "=") + base_name(input.path);
    if (input.bytes >= 0) {
      line({"input ", file, " bytes=", std::to_string(input.bytes)});
    } else {
      line({"input ", file});
    }
  }
  for (const auto& [name, value] : provenance.options) line({"option ", name, "=", value});
  return header;
}

}  // namespace semicrf
