#include "inputs/made_tracks.h"

#include <algorithm>
#include <utility>

#include "core/text/names.h"
#include "inputs/input_options.h"

namespace semicrf {

std::shared_ptr<MadeTracks> new_made_tracks() { return std::make_shared<MadeTracks>(); }

void MadeTracks::make(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
                      const MakingOptions& options, std::vector<Warning>& warnings,
                      std::vector<std::string>& notes) {
  reads_.count(arguments, tracks, options.bin_size, options.wanted, options.wanted_file, options.threads,
               warnings);
  const auto is_text = [](const InputArgument& argument) { return argument.text != nullptr; };
  if (std::ranges::none_of(arguments, is_text)) return;
  KnownChromosomes known{options.wanted, options.wanted_file};
  NameIndex names;
  for (const InputArgument& argument : arguments) {
    if (!options.wanted.empty() || is_text(argument)) continue;
    if (known.file.empty()) known.file = argument.path;
    const BigWigFile file = open(argument);
    for (const Chromosome& chromosome : file.chromosomes())
      if (names.add(chromosome.name).second) known.list.push_back(chromosome);
  }
  texts_.read(arguments, known, options.bin_size, options.threads, notes);
}

std::string MadeTracks::path_of(const InputArgument& argument) const {
  if (argument.text) return texts_.path_of(argument);
  return argument.reads ? reads_.path_of(argument) : argument.path;
}

}  // namespace semicrf
