// Where conditions differ in their labels, from files of label posteriors; `compare --posterior`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/files/output_file.h"
#include "segmentation/label_differences.h"

namespace semicrf {

// A condition and the label posteriors (posterior --labels-out) of its replicates, one or several.
struct Condition {
  std::string name;
  std::vector<std::string> prefixes;
};

// The conditions of [name=]PREFIX[,PREFIX...] arguments. UsageError: fewer than two, two of one name, a
// prefix that is empty or given twice.
std::vector<Condition> conditions_of(const std::vector<std::string>& arguments);

// What is asked for; names of files may be empty.
struct DifferenceOptions {
  double fdr = 0.05;         // false discovery rate of the bases of regions, in (0, 1]
  std::string regions;       // BED, or bigBed by its name
  std::string disagreement;  // P(differs) by bin: bedGraph, or bigWig by its name
  std::string chrom_sizes;   // lengths of chromosomes, for bigBed and bigWig
};

struct PosteriorDifferences {
  std::int64_t bases = 0;               // for which all replicates of all conditions have posteriors
  double expected = 0;                  // bases that differ, expected
  DifferenceCurves curves;              // P(differs) of `bases`
  std::optional<std::size_t> cell;      // from which on bases are reported; nothing: none are
  std::int64_t regions = 0;             // maximal runs of these with the same likeliest_difference()
  std::optional<double> empty_regions;  // which share of the regions has no differing base, at most
  std::vector<Warning> warnings;
};

// A condition's posterior is the mean of those of its replicates: P(differs) is that of a replicate of each,
// drawn at random. Replicates of two conditions are also compared in mixed groups. One pass over the files,
// and one over what of it was spooled: memory does not depend on the length of the genome. Outputs are some
// of `files`. Errors are those of JointPosteriors; InputError also where no base has posteriors of all;
// UsageError: lengths are not known.
PosteriorDifferences find_differences(const std::vector<Condition>& conditions,
                                      const DifferenceOptions& options, OutputGroup& files);

// One line with a line of names: what was compared, the threshold and what lies above it.
std::string differences_text(const std::vector<Condition>& conditions, const DifferenceOptions& options,
                             const PosteriorDifferences& found);
// A line per threshold with bases: the threshold, bases, same_share, null_bases, null_share.
std::string difference_curve_text(const DifferenceCurves& curves);

}  // namespace semicrf
