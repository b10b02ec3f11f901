#include "io/provenance_header.h"

#include <filesystem>

#include "core/error.h"

namespace semicrf {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

std::string provenance_header(const Provenance& provenance) {
  std::string header;
  const auto line = [&](const std::string& text) { header += "#" + escape_control(text) + "\n"; };
  line("semicrf " + provenance.version + " " + provenance.command);
  line("params " + base_name(provenance.params_path) + " sha256=" + provenance.params_sha256);
  for (const ProvenanceInput& input : provenance.inputs) {
    std::string text = "input " + base_name(input.path);
    if (input.bytes >= 0) text += " bytes=" + std::to_string(input.bytes);
    line(text);
  }
  for (const auto& [name, value] : provenance.options) line("option " + name + "=" + value);
  return header;
}

}  // namespace semicrf
