#include "pipeline/inputs/array_inputs.h"

#include <optional>

#include "core/error.h"
#include "core/text/name_index.h"
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

void add_members(const InputArgument& argument, std::vector<ArrayInput>& arrays) {
  const auto archive = std::make_shared<const NpzFile>(NpzFile::open(argument.path));
  const std::vector<NpzMember>& members = archive->members();
  if (argument.named && members.size() != 1)
    throw UsageError("\"" + argument.name + "=\" gives one name to " + argument.path + ", which holds " +
                         std::to_string(members.size()) + " arrays",
                     "leave the name out: each array in the archive has its own name");
  for (std::size_t i = 0; i < members.size(); ++i) {
    ArrayInput input;
    input.name = argument.named ? argument.name : members[i].name;
    input.named = true;
    input.file = argument.path + "[" + members[i].name + "]";
    input.archive = archive;
    input.member = i;
    arrays.push_back(std::move(input));
  }
}

void add_array(const InputArgument& argument, std::vector<ArrayInput>& arrays) {
  ArrayInput input;
  input.name = argument.name;
  input.named = argument.named;
  input.file = argument.path;
  input.array = NpyArray::open(argument.path);
  arrays.push_back(std::move(input));
}

}  // namespace

std::vector<ArrayInput> open_arrays(const std::vector<InputArgument>& arguments, std::int64_t columns,
                                    const std::string& columns_are) {
  std::vector<ArrayInput> arrays;
  for (const InputArgument& argument : arguments) {
    if (argument.kind == InputKind::kNpz) {
      add_members(argument, arrays);
    } else {
      add_array(argument, arrays);
    }
  }
  std::uint64_t room = kKeptBytes;
  NameIndex names;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ArrayInput& input = arrays[i];
    if (const auto [first, is_new] = names.add(input.name); !is_new)
      throw InputError({input.file, "",
                        "a sequence named \"" + input.name + "\" is in " + arrays[first].file + " too",
                        "give each its own name: NAME=PATH"});
    const NpyArray array = input.load();
    const NpyHeader& header = array.header();
    input.rows = header.rows;
    input.columns = header.columns;
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(header.rows * header.columns) * header.item_bytes();
    if (!input.array && bytes <= room) {
      room -= bytes;
      input.array = array;
    }
    if (input.columns != columns)
      throw InputError({input.file, "",
                        "has " + std::to_string(input.columns) + " columns, the parameters have " +
                            std::to_string(columns) + " " + columns_are,
                        columns_are == "tracks" ? "--missing-track NAME does without a track" : ""});
  }
  return arrays;
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
                        "has " + std::to_string(candidates[j].rows) + " rows, " + sequences[found].file +
                            " has " + std::to_string(sequences[found].rows),
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

}  // namespace semicrf
