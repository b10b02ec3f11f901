// Tracks that are no bigWig files, as bigWig files without a name: counts of reads, and values as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/input_argument.h"
#include "inputs/read_tracks.h"
#include "inputs/text_tracks.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// What they are made with.
struct MakingOptions {
  std::int64_t bin_size = 1;       // bases
  std::vector<Chromosome> wanted;  // those of `wanted_file`, or empty
  std::string wanted_file;
  int threads = 1;
};

// Shared by all that opens the inputs of a run, so that each is made once. For one thread.
class MadeTracks {
 public:
  // Makes those of the arguments that are no bigWig files, as `tracks` of the parameters remember it. Errors
  // are those of ReadTracks::count() and TextTracks::read().
  void make(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
            const MakingOptions& options, std::vector<Warning>& warnings, std::vector<std::string>& notes);

  // The path of what was made before, or of the bigWig file that the argument is.
  std::string path_of(const InputArgument& argument) const;
  BigWigFile open(const InputArgument& argument) const {
    return BigWigFile::open(path_of(argument), argument.path);
  }

 private:
  ReadTracks reads_;
  TextTracks texts_;
};

}  // namespace semicrf
