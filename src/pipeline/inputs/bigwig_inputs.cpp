#include "pipeline/inputs/bigwig_inputs.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"

namespace semicrf {
namespace {

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kShown; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

std::vector<Chromosome> chromosomes_of(const BigWigFile& file) {
  std::vector<Chromosome> chromosomes;
  for (const ChromInfo& info : file.chromosomes()) chromosomes.push_back({info.name, info.length});
  return chromosomes;
}

// The file's length of `chromosome`, which must be the same.
void require_length(const BigWigFile& file, const Chromosome& chromosome, const std::string& other_file) {
  const auto index = file.find_chromosome(chromosome.name);
  if (!index)
    throw InputError({file.path(), "",
                      "has no chromosome \"" + chromosome.name + "\", which " + other_file + " has; it has " +
                          chromosome_names(chromosomes_of(file)),
                      "give tracks of one genome"});
  const std::int64_t length = file.chromosomes()[*index].length;
  if (length != chromosome.length)
    throw InputError({file.path(), "",
                      chromosome.name + " has " + std::to_string(length) + " bases, in " + other_file + " " +
                          std::to_string(chromosome.length),
                      "give tracks of one genome"});
}

}  // namespace

BigWigColumns bind_bigwigs(const std::vector<InputArgument>& arguments, const std::vector<std::string>& names,
                           const std::string& names_are, std::vector<std::string>& binding) {
  BigWigColumns columns(names.size());
  for (const InputArgument& argument : arguments) {
    const auto found = std::find(names.begin(), names.end(), argument.name);
    if (found == names.end())
      throw InputError(
          {argument.path, "",
           "\"" + argument.name + "\" is not one of the parameters' " + names_are + ": " + joined(names),
           "bind it by name: NAME=" + argument.path});
    std::unique_ptr<BigWigFile>& column = columns[static_cast<std::size_t>(found - names.begin())];
    if (column)
      throw InputError(
          {argument.path, "", "\"" + argument.name + "\" is given by " + column->path() + " already", ""});
    column = std::make_unique<BigWigFile>(BigWigFile::open(argument.path));
  }
  std::vector<std::string> unbound;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!columns[i]) unbound.push_back(names[i]);
  if (!unbound.empty()) {
    std::vector<std::string> given;
    for (const InputArgument& argument : arguments) given.push_back(argument.name);
    throw InputError(
        {"", "",
         "no input for the " + names_are + " " + joined(unbound) + "; the inputs are named " + joined(given),
         "bind files by name: NAME=PATH"});
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    binding.push_back(names[i] + " <- " + std::filesystem::path(columns[i]->path()).filename().string());
  return columns;
}

std::vector<Chromosome> common_chromosomes(const std::vector<const BigWigFile*>& files,
                                           const std::vector<Chromosome>& wanted,
                                           const std::string& wanted_file) {
  const BigWigFile& first = *files.front();
  const std::vector<Chromosome> own = chromosomes_of(first);
  std::vector<Chromosome> chosen;
  if (wanted.empty()) {
    chosen = own;
  } else {
    for (const Chromosome& chromosome : wanted) {
      if (!first.find_chromosome(chromosome.name)) continue;
      require_length(first, chromosome, wanted_file);
      chosen.push_back(chromosome);
    }
    if (chosen.empty())
      throw InputError({first.path(), "",
                        "has none of the chromosomes of " + wanted_file + " (" + chromosome_names(wanted) +
                            "); it has " + chromosome_names(own),
                        "use files of one genome; chromosome names must match exactly"});
  }
  for (const BigWigFile* file : files) {
    for (const Chromosome& chromosome : chosen) require_length(*file, chromosome, first.path());
    if (!wanted.empty()) continue;
    for (const Chromosome& chromosome : chromosomes_of(*file))
      require_length(first, chromosome, file->path());
  }
  return chosen;
}

}  // namespace semicrf
