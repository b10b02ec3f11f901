// Tracks that are no bigWig files, as bigWig files without a name: counts of reads, and values as text.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "inputs/arguments/input_argument.h"
#include "inputs/site_tracks.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/temp_spool.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// Tracks that are files of reads (TRACK=file.bam?mapq=30&shift=100): their counts, as bigWig files without a
// name.
//
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

// Tracks that are text (io/tracks): their values as bigWig files without a name.
//
// A file is read once, whatever number of its columns are tracks: values go to spools of 12 bytes each, and
// from there to bigWig files when the lengths of all chromosomes are known. Memory does not depend on the
// size of the text.
//
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
  // The sites of tracks, see read_sites().
  const std::vector<SiteRows>& sites(const std::vector<const InputArgument*>& tracks, int threads);
  BigWigFile open(const InputArgument& argument) const {
    return BigWigFile::open(path_of(argument), argument.path);
  }

 private:
  ReadTracks reads_;
  TextTracks texts_;
  std::map<std::string, std::vector<SiteRows>> sites_;  // by files and columns
};

}  // namespace semicrf
