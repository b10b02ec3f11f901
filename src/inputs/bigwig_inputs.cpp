#include "inputs/bigwig_inputs.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "core/error.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::size_t kShown = 10;  // names in a message

std::string advice_to_bind(const InputArgument& argument) {
  if (!argument.from.empty()) return "correct the name in " + argument.from + ", or take the row out";
  if (argument.named)
    return "give one of these names, or change those of the model: semicrf edit --drop-track-prefix, "
           "--rename-track";
  return "bind it by name: NAME=" + argument.path +
         ", or all files at once by --track-pattern '{sample}.{track}.bw', which takes names from file "
         "names; semicrf edit --drop-track-prefix takes a sample's name out of a model";
}

InputError lacks(const BigWigFile& file, const Chromosome& chromosome, const std::string& other_file) {
  return InputError(
      {file.path(), "",
       "has no chromosome \"" + chromosome.name + "\", which " + other_file + " has; it has " +
           chromosome_names(file.chromosomes()),
       "give tracks of one genome, or choose the chromosomes: -r REGION, -g FILE with those of all "
       "tracks, --chromosomes common (those in all tracks) or --chromosomes union (a track has no "
       "value on those it lacks)"});
}

// A file that has the chromosome must have it in the same length.
void require_length(const BigWigFile& file, const Chromosome& chromosome, const std::string& other_file) {
  const auto index = file.find_chromosome(chromosome.name);
  if (!index) return;
  const std::int64_t length = file.chromosomes()[*index].length;
  if (length != chromosome.length)
    throw InputError({file.path(), "",
                      chromosome.name + " has " + std::to_string(length) + " bases, in " + other_file + " " +
                          std::to_string(chromosome.length),
                      "give tracks of one genome"});
}

struct Candidate {
  Chromosome chromosome;
  std::string file;  // that has it
};

// Everything that could be chosen, in the order of the output.
std::vector<Candidate> candidates(const std::vector<const BigWigFile*>& files,
                                  const std::vector<Chromosome>& wanted, const std::string& wanted_file) {
  std::vector<Candidate> found;
  if (!wanted.empty()) {
    for (const Chromosome& chromosome : wanted) found.push_back({chromosome, wanted_file});
    std::erase_if(found, [&](const Candidate& candidate) {
      return std::ranges::none_of(files, [&](const BigWigFile* file) {
        return file->find_chromosome(candidate.chromosome.name).has_value();
      });
    });
    return found;
  }
  std::unordered_set<std::string> names;
  for (const BigWigFile* file : files)
    for (const Chromosome& chromosome : file->chromosomes())
      if (names.insert(chromosome.name).second) found.push_back({chromosome, file->path()});
  return found;
}

// Names of the chromosomes of the files that are not wanted, each once.
std::vector<std::string> others_than(const std::vector<Chromosome>& wanted,
                                     const std::vector<const BigWigFile*>& files) {
  NameIndex known = NameIndex::of(wanted);
  std::vector<std::string> others;
  for (const BigWigFile* file : files)
    for (const Chromosome& chromosome : file->chromosomes())
      if (known.add(chromosome.name).second) others.push_back(chromosome.name);
  return others;
}

}  // namespace

BigWigColumns bind_bigwigs(const std::vector<InputArgument>& arguments, const std::vector<std::string>& names,
                           const std::string& names_are, const MadeTracks& made,
                           std::vector<std::string>& binding) {
  BigWigColumns columns(names.size());
  const NameIndex places = NameIndex::of(names);
  for (const InputArgument& argument : arguments) {
    const std::optional<std::size_t> found = places.find(argument.name);
    if (!found)
      throw InputError({argument.path, "",
                        "\"" + argument.name + "\" is not one of the parameters' " + names_are + ": " +
                            few_of(names, kShown),
                        advice_to_bind(argument)});
    std::unique_ptr<BigWigFile>& column = columns[*found];
    if (column)
      throw InputError(
          {argument.path, "", "\"" + argument.name + "\" is given by " + column->path() + " already", ""});
    column = std::make_unique<BigWigFile>(made.open(argument));
  }
  std::vector<std::string> unbound;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!columns[i]) unbound.push_back(names[i]);
  if (!unbound.empty()) {
    throw InputError(
        {"", "",
         "no input for the " + names_are + " " + few_of(unbound, kShown) + "; the inputs are named " +
             few_of(names_of(arguments), kShown),
         "bind files by name: NAME=PATH, or all at once by --track-pattern '{sample}.{track}.bw'" +
             std::string(names_are == "tracks" ? "; --missing-track NAME does without one" : "")});
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    binding.push_back(names[i] + " <- " + std::filesystem::path(columns[i]->path()).filename().string());
  return columns;
}

CommonChromosomes common_chromosomes(const std::vector<const BigWigFile*>& files,
                                     const std::vector<Chromosome>& wanted, const std::string& wanted_file,
                                     ChromosomePolicy policy) {
  CommonChromosomes result;
  if (!wanted.empty()) result.not_wanted = others_than(wanted, files);
  for (const auto& [chromosome, having] : candidates(files, wanted, wanted_file)) {
    const BigWigFile* lacking = nullptr;
    for (const BigWigFile* file : files) {
      require_length(*file, chromosome, having);
      if (lacking == nullptr && !file->find_chromosome(chromosome.name)) lacking = file;
    }
    // With -g, chromosomes that the first file lacks are passed over: its own decide.
    const bool passed_over = !wanted.empty() && lacking == files.front();
    if (lacking == nullptr || policy == ChromosomePolicy::kUnion) {
      result.chosen.push_back(chromosome);
    } else if (policy == ChromosomePolicy::kCommon || !passed_over) {
      result.lacking.emplace_back(chromosome, lacks(*lacking, chromosome, having));
    } else {
      result.not_in_first.push_back(chromosome.name);
    }
  }
  if (result.chosen.empty() && result.lacking.empty())
    throw InputError({files.front()->path(), "",
                      "has none of the chromosomes of " + wanted_file + " (" + chromosome_names(wanted) +
                          "); it has " + chromosome_names(files.front()->chromosomes()),
                      "use files of one genome; chromosome names must match exactly"});
  if (result.chosen.empty() && policy == ChromosomePolicy::kCommon) throw result.lacking.front().second;
  return result;
}

}  // namespace semicrf
