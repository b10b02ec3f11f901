#include "apps/options/segmentation_options.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "inputs/region_ranges.h"
#include "log/log.h"

namespace semicrf {

void check_complete(const std::string& prefix, std::span<const LabelTrack* const> tracks,
                    const SegmentationFile& segmentation) {
  constexpr double kComplete = 0.9;  // --min-posterior leaves out less
  constexpr double kMost = 1.02;     // printed with two digits they are rounded by less
  const double share = posterior_share(tracks, segmentation);
  if (share > kMost)
    throw InputError({prefix, "",
                      "on the segments of " + segmentation.path + " the label posteriors add up to " +
                          formatted("%.3g", share) + " in place of 1",
                      "remove or rename files " + prefix + ".* that are not the posterior of a label"});
  if (share >= kComplete) return;
  log_warning({"posteriors-incomplete",
               prefix + ": on the segments of " + segmentation.path + " the label posteriors add up to " +
                   formatted("%.3g", share) +
                   " in place of 1: are they of this run, and of all its labels and regions?"});
}

std::optional<SegmentationFile> segments_within(const SegmentationFile& segmentation,
                                                const InputOptions& input) {
  if (input.regions.empty() && input.regions_file.empty() && input.exclude_file.empty()) return std::nullopt;
  std::vector<Chromosome> known;
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes)
    known.push_back({chromosome.name, chromosome.segments.back().end});
  const GivenRegions regions = read_given_regions(input, ChromosomeIndex(known));
  for (const Warning& warning : regions.warnings) log_warning(warning);
  SegmentationFile left = segmentation;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::vector<LabelledSegment>& all = segmentation.chromosomes[i].segments;
    std::vector<LabelledSegment>& cut = left.chromosomes[i].segments;
    cut.clear();
    auto first = all.begin();
    for (const BinRange& range : regions.within(known[i].name, known[i].length)) {
      while (first != all.end() && first->end <= range.begin) ++first;
      for (auto segment = first; segment != all.end() && segment->begin < range.end; ++segment) {
        cut.push_back(*segment);
        cut.back().begin = std::max(segment->begin, range.begin);
        cut.back().end = std::min(segment->end, range.end);
      }
    }
  }
  if (left.bases() == 0)
    throw InputError({segmentation.path, "", "has no segment in these regions", "name others"});
  return left;
}

}  // namespace semicrf
