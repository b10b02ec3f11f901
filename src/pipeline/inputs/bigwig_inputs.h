// bigWig inputs, one file per track or label.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/text/chrom_sizes.h"
#include "pipeline/inputs/input_argument.h"

namespace semicrf {

// Files in the order of the columns they are bound to.
using BigWigColumns = std::vector<std::unique_ptr<BigWigFile>>;

// Binds each argument by name to one of `names` (tracks or labels, which `names_are` says). InputError naming
// both sides when a name is unknown, is given twice or has no file. Adds a line per column to `binding`.
BigWigColumns bind_bigwigs(const std::vector<InputArgument>& arguments, const std::vector<std::string>& names,
                           const std::string& names_are, std::vector<std::string>& binding);

// The chromosomes that all files have: those of the first file in its order, or, when `wanted` is not empty,
// those of `wanted` that the files have, in that order. InputError naming both sides when files disagree on
// names or lengths, or with `wanted` on lengths, or when nothing is left.
std::vector<Chromosome> common_chromosomes(const std::vector<const BigWigFile*>& files,
                                           const std::vector<Chromosome>& wanted,
                                           const std::string& wanted_file);

}  // namespace semicrf
