#include "io/text/label_track_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/error.h"
#include "io/files/output_endings.h"

namespace semicrf {

std::string in_file_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::map<std::string, std::string> label_track_files(const std::string& prefix) {
  constexpr std::array kBigWig = {std::string_view(".bw"), std::string_view(".bigwig")};
  // What posterior --labels-out NAME.bw was given.
  const auto given =
      std::ranges::find_if(kBigWig, [&](std::string_view e) { return has_ending(prefix, {e}); });
  const std::size_t cut = given == kBigWig.end() ? 0 : given->size();
  const std::filesystem::path path(prefix.substr(0, prefix.size() - cut));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::string beginning = path.filename().string() + ".";
  std::map<std::string, std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    for (const std::string_view ending : {".bedgraph", ".bedgraph.gz", ".bedgraph.bgz", ".bw", ".bigwig"}) {
      if (!name.starts_with(beginning) || !has_ending(name, {ending}) ||
          name.size() <= beginning.size() + ending.size())
        continue;
      const std::string label = name.substr(beginning.size(), name.size() - beginning.size() - ending.size());
      const std::string file = path.has_parent_path() ? entry->path().string() : name;
      if (const auto [other, added] = files.emplace(label, file); !added)
        throw InputError(
            {file, "", "holds the same label as " + other->second, "remove one of the two files"});
    }
  }
  return files;
}

}  // namespace semicrf
