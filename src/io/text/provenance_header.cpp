#include "io/text/provenance_header.h"

#include <filesystem>
#include <initializer_list>

#include "core/error.h"
#include "core/text/text.h"

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

std::optional<std::pair<std::string, std::string>> header_option(std::string_view line) {
  constexpr std::string_view kOption = "#option ";
  if (!line.starts_with(kOption)) return std::nullopt;
  line.remove_prefix(kOption.size());
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
}

std::optional<std::int64_t> bin_size_option(const std::map<std::string, std::string>& options) {
  const auto found = options.find("bin-size");
  if (found == options.end()) return std::nullopt;
  const auto bases = number_in<std::int64_t>(found->second);
  return bases && *bases > 0 ? bases : std::nullopt;
}

}  // namespace semicrf
