#include "inputs/read_tracks.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "reads/count_reads.h"
#include "reads/value_writers.h"

namespace semicrf {
namespace {

// How the reads of an argument are counted.
CountRule rule_of(const InputArgument& argument, const std::vector<Track>& tracks) {
  const CountRule& own = *argument.reads;
  const auto track = std::ranges::find(tracks, argument.name, &Track::name);
  if (track == tracks.end() || !track->reads) return own;
  if (!argument.reads_given) return parse_count_rule(*track->reads);
  if (const std::string text = count_rule_text(own); text != *track->reads)
    throw InputError({argument.path, "",
                      "the track " + track->name + " of the parameters counts reads by '" + *track->reads +
                          "', and here '" + text + "' is given",
                      "leave out what stands behind the ?, or train again"});
  return own;
}

}  // namespace

void ReadTracks::count(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
                       std::int64_t bin_size, const std::vector<Chromosome>& wanted,
                       const std::string& wanted_file, int threads, std::vector<Warning>& warnings) {
  std::vector<CountedFile> files;
  std::vector<std::string> keys;
  for (const InputArgument& argument : arguments) {
    if (!argument.reads) {
      const auto track = std::ranges::find(tracks, argument.name, &Track::name);
      if (track != tracks.end() && track->reads)
        warnings.push_back({"reads-not-checked",
                            "the parameters count reads by '" + *track->reads + "' for the track " +
                                track->name + "; how this file was made is not known",
                            argument.path});
      continue;
    }
    const CountRule rule = rule_of(argument, tracks);
    const std::string key = argument.path + "?" + count_rule_text(rule) + "&bin=" + std::to_string(bin_size);
    key_of_[argument.path] = key;
    if (files_.contains(key) || std::ranges::find(keys, key) != keys.end()) continue;
    files.push_back({inspect_reads(argument.path), rule, {}});
    keys.push_back(key);
  }
  if (files.empty()) return;
  std::vector<const ReadFileInfo*> infos;
  infos.reserve(files.size());
  for (const CountedFile& file : files) infos.push_back(&file.file);
  ReadChromosomes chromosomes = chromosomes_of_reads(infos, wanted, wanted_file);
  warnings.insert(warnings.end(), chromosomes.warnings.begin(), chromosomes.warnings.end());
  const ReadGrid grid{std::move(chromosomes.list), bin_size};
  for (CountedFile& file : files) {
    file.counts = {std::make_shared<CountStore>(grid.chromosomes.size())};
    if (auto warning = older_index_warning(file.file)) warnings.push_back(std::move(*warning));
  }
  const ExcludedBases none;
  count_reads(grid, none, files, threads, true);
  std::vector<std::unique_ptr<UnnamedFile>> made(files.size());
  for (auto& file : made) file = std::make_unique<UnnamedFile>();
  parallel_for(threads, files.size(), [&](std::size_t i, int) {
    const auto values =
        scaled_values(grid, files[i].options.part, none, files[i].counts.front(), nullptr, {});
    OutputFile output({made[i]->path()});
    write_bigwig(grid, *values, output);
    output.commit();
  });
  for (std::size_t i = 0; i < files.size(); ++i) files_[keys[i]] = std::move(made[i]);
}

std::string ReadTracks::path_of(const InputArgument& argument) const {
  return files_.at(key_of_.at(argument.path))->path();
}

}  // namespace semicrf
