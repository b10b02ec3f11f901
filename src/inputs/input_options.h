// Which parameters, tracks and sequences a command reads. Filled in apps/; nothing below reads the command
// line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/text/sample_sheet.h"
#include "model/parameters.h"

namespace semicrf {

// A sequence of N(0,1) numbers in the place of an input: label scores, or tracks whose features (after their
// transforms) are N(0,1).
struct GeneratedSequence {
  std::string name;
  std::int64_t bins = 0;  // >= 1
};

// What to do with chromosomes that some bigWig files have and others lack.
enum class ChromosomePolicy {
  kError,   // refused, unless regions leave them out
  kCommon,  // left out
  kUnion,   // the files that lack one have no value there
};

class MadeTracks;
std::shared_ptr<MadeTracks> new_made_tracks();  // made_tracks.h

struct InputOptions {
  std::string parameters;            // the parameter file
  std::vector<std::string> inputs;   // [name=]PATH
  std::string track_pattern;         // names files without a name, track_pattern.h; or empty
  std::string samples_file;          // sample sheet, in place of `inputs`; or empty
  std::vector<std::string> samples;  // to take from it; only training takes several
  std::shared_ptr<const std::vector<SampleRow>> only_sample;  // the rows of `samples`, read before; or null
  // Names for the columns of arrays; empty: not said.
  std::vector<std::string> track_names;
  std::vector<std::string> label_names;             // names for the columns of label scores; or empty
  std::vector<std::string> missing_tracks;          // tracks of the parameters that have no file
  MissingPolicy missing = MissingPolicy::kDefault;  // in place of the parameters' ones, unless kDefault
  std::vector<std::string> start_scores;            // [name=]PATH
  std::vector<std::string> end_scores;              // [name=]PATH
  std::vector<std::string> regions;                 // chr:beg-end, 1-based inclusive
  std::string regions_file;                         // BED, or empty
  std::string exclude_file;                         // BED, or empty
  std::string chrom_sizes_file;                     // or empty
  std::optional<std::int64_t> bin_size;             // must equal the parameters' one
  bool sites = false;  // rows are the sites of the inputs, and their distances count (docs/algorithm.md)
  bool all_chromosomes = false;  // decode chromosomes without one value too
  ChromosomePolicy chromosomes = ChromosomePolicy::kError;
  std::optional<EdgeRule> edges;                                // in place of the parameters' one
  std::vector<GeneratedSequence> generated;                     // instead of `inputs`
  std::uint64_t seed = 0;                                       // seed for the generated sequences
  int threads = 1;                                              // that count reads and read text
  std::shared_ptr<MadeTracks> made_tracks = new_made_tracks();  // from reads and text, shared by copies
};

// Whether scores of starts or ends of segments are inputs.
inline bool gives_boundary_scores(const InputOptions& options) {
  return !options.start_scores.empty() || !options.end_scores.empty();
}

}  // namespace semicrf
