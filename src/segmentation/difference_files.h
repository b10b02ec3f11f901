// Files of where samples differ.
#pragma once

#include <string>
#include <vector>

#include "io/text/chrom_sizes.h"
#include "segmentation/agreement.h"

namespace semicrf {

// The regions that differ as BED, widest first; or, where the name says so, as bigBed, sorted by position.
// `lengths`: of the chromosomes, for bigBed and bigWig. InputError: `lengths` lacks a chromosome of the first
// sample, or segments are longer than it says; WriteError.
void write_differences(const std::string& path, const std::vector<Sample>& samples,
                       const Agreement& agreement, const std::vector<Chromosome>& lengths);

// The probability that not all samples have the same label (visit_disagreement) as bedGraph with six
// decimals, or as bigWig where the name says so.
void write_disagreement(const std::string& path, const std::vector<Sample>& samples,
                        const JointLabels& labels, const std::vector<std::vector<LabelTrack>>& tracks,
                        const std::vector<Chromosome>& lengths);

}  // namespace semicrf
