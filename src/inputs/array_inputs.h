// The arrays of NPY and NPZ inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/input_argument.h"
#include "io/arrays/npy_reader.h"
#include "io/arrays/npz_reader.h"

namespace semicrf {

// One array; its data are mapped, or unpacked by load() unless they are small and kept.
struct ArrayInput {
  std::string name;  // name of its sequence
  std::string file;
  bool named = false;  // by the user or by the archive, not by the file's name
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::optional<NpyArray> array;           // NPY, or kept
  std::shared_ptr<const NpzFile> archive;  // NPZ
  std::size_t member = 0;

  NpyArray load() const { return array ? *array : archive->load(member); }
};

// Arrays in the order of the arguments and of the members; members that hold no numbers are passed over where
// others of their archive do, with a warning. InputError: one name twice, or not `columns` columns;
// `columns_are` says what they are, for example "labels".
std::vector<ArrayInput> open_arrays(const std::vector<InputArgument>& arguments, std::int64_t columns,
                                    const std::string& columns_are, std::vector<Warning>& warnings);

// Columns of the array, or of the first member that holds numbers.
std::int64_t columns_of(const InputArgument& argument);

// The arrays of `candidates` (boundary scores) for each of `sequences`, by name; an unnamed array goes with
// the only sequence. InputError naming both sides when some do not pair up or differ in rows.
std::vector<std::size_t> pair_arrays(const std::vector<ArrayInput>& sequences,
                                     const std::vector<ArrayInput>& candidates, const std::string& option);

}  // namespace semicrf
