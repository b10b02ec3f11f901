#include "segmentation/replicate_chromosomes.h"

namespace semicrf {

std::vector<ChromosomePair> pair_chromosomes(const SegmentationFile& first, const SegmentationFile& second) {
  std::vector<ChromosomePair> pairs;
  for (const SegmentedChromosome& chromosome : first.chromosomes)
    if (const SegmentedChromosome* other = second.find(chromosome.name))
      pairs.push_back({&chromosome, other, covered_ranges(other->segments)});
  return pairs;
}

std::vector<BinRange> bases_near(const SegmentedChromosome& chromosome, std::size_t label,
                                 std::int64_t tolerance) {
  std::vector<BinRange> ranges;
  for (const LabelledSegment& segment : chromosome.segments) {
    if (segment.label != label) continue;
    const BinRange wide{segment.begin - tolerance, segment.end + tolerance};
    if (!ranges.empty() && ranges.back().end >= wide.begin) {
      ranges.back().end = wide.end;
    } else {
      ranges.push_back(wide);
    }
  }
  return ranges;
}

}  // namespace semicrf
