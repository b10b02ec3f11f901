// Files of where samples differ.
#pragma once

#include <string>
#include <vector>

#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_group.h"
#include "io/text/chromosomes.h"
#include "segmentation/agreement.h"

namespace semicrf {

// What bigBed and bigWig files list: all chromosomes of the file `chrom_sizes`, or where that is empty those
// that the first sample knows. Those that it has segments on come first, in its order, which is that of the
// data. InputError: the sizes lack one of these, or segments are longer than they say. UsageError: no lengths
// are known; `output` is the file that needs them.
std::vector<Chromosome> listed_chromosomes(const std::vector<Sample>& samples, const std::string& chrom_sizes,
                                           const std::string& output);

// The regions that differ as BED, widest first; or, where the name says so, as bigBed, sorted by position.
// `listed`: for bigBed. One of `files`. WriteError.
void write_differences(OutputGroup& files, const std::string& path, const std::vector<Sample>& samples,
                       const Agreement& agreement, const std::vector<Chromosome>& listed);

// The probability that not all samples have the same label (visit_disagreement) as bedGraph with six
// decimals, or as bigWig where the name says so. One of `files`.
void write_disagreement(OutputGroup& files, const std::string& path, const std::vector<Sample>& samples,
                        const JointLabels& labels, const std::vector<NamedTracks>& tracks,
                        const std::vector<Chromosome>& listed);

}  // namespace semicrf
