#include "inputs/track_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"

namespace semicrf {

namespace {

constexpr std::uint64_t kKeptBytes = std::uint64_t{32}
                                     << 20;  // unpacked arrays of archives that are not dropped

std::string quoted_names(const std::vector<ArrayInput>& arrays) {
  std::vector<std::string> names;
  names.reserve(arrays.size());
  for (const ArrayInput& array : arrays) names.push_back("\"" + array.name + "\"");
  return few_of(names, 5);
}

// Keeps a small array of an archive unpacked, while `room` bytes are left for such.
void add(ArrayInput input, const NpyArray& array, std::uint64_t& room, std::vector<ArrayInput>& arrays) {
  const NpyHeader& header = array.header();
  input.rows = header.rows;
  input.columns = header.columns;
  const std::uint64_t bytes = header.rows * header.columns * header.item_bytes();
  if (!input.array && bytes <= room) {
    room -= bytes;
    input.array = array;
  }
  arrays.push_back(std::move(input));
}

InputError wrong_columns(const ArrayInput& input, std::int64_t columns, const std::string& columns_are) {
  const std::string expected = fmt::format("{} {}", columns, columns_are);
  if (input.rows == columns)
    return InputError(
        {input.file, "",
         fmt::format("has {} rows and {} columns, and the parameters have {}: the array looks transposed",
                     input.rows, input.columns, expected),
         "save a.T, whose rows are positions"});
  return InputError({input.file, "",
                     fmt::format("has {} columns, the parameters have {}", input.columns, expected),
                     columns_are == "tracks" ? "--missing-track NAME does without a track" : ""});
}

void add_members(const InputArgument& argument, std::uint64_t& room, std::vector<ArrayInput>& arrays,
                 std::vector<Warning>& warnings) {
  const auto archive = std::make_shared<const NpzFile>(NpzFile::open(argument.path));
  const std::vector<NpzMember>& members = archive->members();
  std::vector<std::string> passed;
  const std::size_t before = arrays.size();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::optional<NpyArray> array = archive->load_numbers(i);
    if (!array) {
      passed.push_back(members[i].name);
      continue;
    }
    ArrayInput input;
    input.name = argument.named ? argument.name : members[i].name;
    input.named = true;
    input.file = argument.path + "[" + members[i].name + "]";
    input.archive = archive;
    input.member = i;
    add(std::move(input), *array, room, arrays);
  }
  const std::size_t found = arrays.size() - before;
  if (found == 0) archive->load(0);  // says what is wrong with it
  if (argument.named && found != 1)
    throw UsageError(fmt::format("\"{}=\" gives one name to {}, which holds {} arrays", argument.name,
                                 argument.path, found),
                     "leave the name out: each array in the archive has its own name");
  if (!passed.empty())
    warnings.push_back(
        {"not-numbers",
         argument.path + " has members that hold no numbers and are passed over: " + few_of(passed, 5)});
}

void add_array(const InputArgument& argument, std::uint64_t& room, std::vector<ArrayInput>& arrays) {
  ArrayInput input;
  input.name = argument.name;
  input.named = argument.named;
  input.file = argument.path;
  input.array = NpyArray::open(argument.path);
  const NpyArray array = *input.array;
  add(std::move(input), array, room, arrays);
}

}  // namespace

std::vector<ArrayInput> open_arrays(const std::vector<InputArgument>& arguments, std::int64_t columns,
                                    const std::string& columns_are, std::vector<Warning>& warnings) {
  std::vector<ArrayInput> arrays;
  std::uint64_t room = kKeptBytes;
  for (const InputArgument& argument : arguments) {
    if (argument.kind == InputKind::kNpz) {
      add_members(argument, room, arrays, warnings);
    } else {
      add_array(argument, room, arrays);
    }
  }
  NameIndex names;
  for (const ArrayInput& input : arrays) {
    if (const auto [first, is_new] = names.add(input.name); !is_new)
      throw InputError({input.file, "",
                        "a sequence named \"" + input.name + "\" is in " + arrays[first].file + " too",
                        "give each its own name: NAME=PATH"});
    if (input.columns != columns) throw wrong_columns(input, columns, columns_are);
  }
  return arrays;
}

std::int64_t columns_of(const InputArgument& argument) {
  if (argument.kind != InputKind::kNpz) return NpyArray::open(argument.path).columns();
  const NpzFile archive = NpzFile::open(argument.path);
  for (std::size_t i = 0; i < archive.members().size(); ++i)
    if (const std::optional<NpyArray> array = archive.load_numbers(i)) return array->columns();
  return archive.load(0).columns();  // says what is wrong with it
}

std::vector<std::size_t> pair_arrays(const std::vector<ArrayInput>& sequences,
                                     const std::vector<ArrayInput>& candidates, const std::string& option) {
  const bool only_pair = sequences.size() == 1 && candidates.size() == 1 && !candidates[0].named;
  std::vector<std::size_t> pairs(sequences.size(), candidates.size());
  const NameIndex names = NameIndex::of(sequences);
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    const std::optional<std::size_t> place = only_pair ? 0 : names.find(candidates[j].name);
    if (!place)
      throw InputError(
          {candidates[j].file, "",
           option + " for \"" + candidates[j].name + "\", but the sequences are " + quoted_names(sequences),
           "name the sequence: NAME=PATH"});
    const std::size_t found = *place;
    if (candidates[j].rows != sequences[found].rows)
      throw InputError({candidates[j].file, "",
                        fmt::format("has {} rows, {} has {}", candidates[j].rows, sequences[found].file,
                                    sequences[found].rows),
                        ""});
    pairs[found] = j;
  }
  for (std::size_t i = 0; i < sequences.size(); ++i)
    if (pairs[i] == candidates.size())
      throw InputError(
          {sequences[i].file, "",
           option + " has no array for \"" + sequences[i].name + "\", only for " + quoted_names(candidates),
           ""});
  return pairs;
}

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
    throw InputError(
        {file.path(), "",
         fmt::format("{} has {} bases, in {} {}", chromosome.name, length, other_file, chromosome.length),
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

std::vector<const InputArgument*> bind_columns(const std::vector<InputArgument>& arguments,
                                               const std::vector<std::string>& names,
                                               const std::string& names_are,
                                               std::vector<std::string>& binding) {
  std::vector<const InputArgument*> columns(names.size());
  const NameIndex places = NameIndex::of(names);
  for (const InputArgument& argument : arguments) {
    const std::optional<std::size_t> found = places.find(argument.name);
    if (!found)
      throw InputError({argument.path, "",
                        "\"" + argument.name + "\" is not one of the parameters' " + names_are + ": " +
                            few_of(names, kShown),
                        advice_to_bind(argument)});
    const InputArgument*& column = columns[*found];
    if (column != nullptr)
      throw InputError(
          {argument.path, "", "\"" + argument.name + "\" is given by " + column->path + " already", ""});
    column = &argument;
  }
  std::vector<std::string> unbound;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (columns[i] == nullptr) unbound.push_back(names[i]);
  if (!unbound.empty()) {
    throw InputError(
        {"", "",
         "no input for the " + names_are + " " + few_of(unbound, kShown) + "; the inputs are named " +
             few_of(names_of(arguments), kShown),
         "bind files by name: NAME=PATH, or all at once by --track-pattern '{sample}.{track}.bw'" +
             std::string(names_are == "tracks" ? "; --missing-track NAME does without one" : "")});
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    binding.push_back(names[i] + " <- " + std::filesystem::path(columns[i]->path).filename().string());
  return columns;
}

BigWigColumns bind_bigwigs(const std::vector<InputArgument>& arguments, const std::vector<std::string>& names,
                           const std::string& names_are, const MadeTracks& made,
                           std::vector<std::string>& binding) {
  BigWigColumns columns;
  for (const InputArgument* argument : bind_columns(arguments, names, names_are, binding))
    columns.push_back(std::make_unique<BigWigFile>(made.open(*argument)));
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
