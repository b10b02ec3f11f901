// Tracks that are files of reads (TRACK=file.bam?mapq=30&shift=100): their counts, as bigWig files without a
// name.
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
#include "model/parameters.h"

namespace semicrf {

// For one thread.
class ReadTracks {
 public:
  // Counts those of the arguments that are files of reads, by `threads`. An argument without options follows
  // the track of its name, where that remembers some (Track::reads). `wanted`: chromosomes of `wanted_file`,
  // or empty. Adds warnings. InputError: another way than the track remembers, and what count_reads()
  // refuses.
  void count(const std::vector<InputArgument>& arguments, const std::vector<Track>& tracks,
             std::int64_t bin_size, const std::vector<Chromosome>& wanted, const std::string& wanted_file,
             int threads, std::vector<Warning>& warnings);

  // The path of the counts of an argument, which were made before.
  std::string path_of(const InputArgument& argument) const;

 private:
  std::map<std::string, std::unique_ptr<UnnamedFile>> files_;  // by file, options and bin size
  std::map<std::string, std::string> key_of_;  // by path, for the arguments that were counted last
};

}  // namespace semicrf
