// Tracks that are text (io/tracks): their values as bigWig files without a name.
//
// A file is read once, whatever number of its columns are tracks: values go to spools of 12 bytes each, and
// from there to bigWig files when the lengths of all chromosomes are known. Memory does not depend on the
// size of the text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/input_argument.h"
#include "io/files/temp_spool.h"
#include "io/text/chromosomes.h"

namespace semicrf {

// Chromosomes whose lengths are known, and the file that says them: of -g, or of other inputs.
struct KnownChromosomes {
  std::vector<Chromosome> list;  // empty: none are
  std::string file;
};

// For one thread.
class TextTracks {
 public:
  // Reads those of the arguments that are text, by `threads`, unless they were read before. Chromosomes that
  // `known` lacks, or all where it is empty, end with the last value that any of the texts has there. Every
  // track lists all chromosomes: one without a line has no values. `bin_size`: bases of a row without an
  // end. Adds a note to `notes` where lengths are not known. InputError: what the readers refuse, values
  // beyond their chromosome, ChromHMM's files with other bins, a text without a chromosome of the others.
  void read(const std::vector<InputArgument>& arguments, const KnownChromosomes& known, std::int64_t bin_size,
            int threads, std::vector<std::string>& notes);

  // The path of the values of an argument that was read.
  std::string path_of(const InputArgument& argument) const;

 private:
  std::string key_of(const InputArgument& argument) const;

  std::map<std::string, std::unique_ptr<UnnamedFile>> files_;  // by key
  std::string run_;  // what else decides about the values: other inputs, bin size
};

}  // namespace semicrf
