#include "inputs/array_inputs.h"

#include <optional>

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
  const std::uint64_t bytes = static_cast<std::uint64_t>(header.rows * header.columns) * header.item_bytes();
  if (!input.array && bytes <= room) {
    room -= bytes;
    input.array = array;
  }
  arrays.push_back(std::move(input));
}

InputError wrong_columns(const ArrayInput& input, std::int64_t columns, const std::string& columns_are) {
  const std::string expected = std::to_string(columns) + " " + columns_are;
  if (input.rows == columns)
    return InputError({input.file, "",
                       "has " + std::to_string(input.rows) + " rows and " + std::to_string(input.columns) +
                           " columns, and the parameters have " + expected + ": the array looks transposed",
                       "save a.T, whose rows are positions"});
  return InputError({input.file, "",
                     "has " + std::to_string(input.columns) + " columns, the parameters have " + expected,
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
    throw UsageError("\"" + argument.name + "=\" gives one name to " + argument.path + ", which holds " +
                         std::to_string(found) + " arrays",
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
