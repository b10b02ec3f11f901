// Inputs as they are opened and bound to tracks or labels: the arrays of NPY and NPZ files, and bigWig files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/input_argument.h"
#include "inputs/input_options.h"
#include "inputs/made_tracks.h"
#include "io/arrays/npy_reader.h"
#include "io/arrays/npz_reader.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/text/chromosomes.h"

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

// Inputs of one file or column of a file per track or label.
//
// Binds each argument by name to one of `names` (tracks or labels, which `names_are` says), in whose order
// they come back. InputError naming both sides when a name is unknown, is given twice or has no file. Adds a
// line per column to `binding`.
std::vector<const InputArgument*> bind_columns(const std::vector<InputArgument>& arguments,
                                               const std::vector<std::string>& names,
                                               const std::string& names_are,
                                               std::vector<std::string>& binding);

// Their bigWig files, in this order. Those that are reads or text are in `made`.
using BigWigColumns = std::vector<std::unique_ptr<BigWigFile>>;
BigWigColumns bind_bigwigs(const std::vector<InputArgument>& arguments, const std::vector<std::string>& names,
                           const std::string& names_are, const MadeTracks& made,
                           std::vector<std::string>& binding);

// The chromosomes of several bigWig files.
struct CommonChromosomes {
  std::vector<Chromosome> chosen;  // in the order of the output
  // Those that some file lacks, with the error that says so: left out with kCommon, and with kError where
  // the caller finds that nobody asked for them.
  std::vector<std::pair<Chromosome, InputError>> lacking;
  // Names of what nobody chose: with `wanted`, those that files have and it has not, and those of it that
  // the first file lacks and another has.
  std::vector<std::string> not_wanted, not_in_first;
};

// With `wanted` (of the file `wanted_file`) not empty: those of `wanted` that files have, in that order, else
// those of the first file in its order, then those that only later files have. `policy` says which of them
// are chosen. InputError naming both sides when files disagree on lengths, or with `wanted`, or when nothing
// is left.
CommonChromosomes common_chromosomes(const std::vector<const BigWigFile*>& files,
                                     const std::vector<Chromosome>& wanted, const std::string& wanted_file,
                                     ChromosomePolicy policy);

}  // namespace semicrf
