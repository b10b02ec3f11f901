#include "segmentation/replicate_chromosomes.h"

#include <algorithm>

#include "core/text/text.h"
#include "io/json/json_document.h"

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

PosteriorReader::PosteriorReader(const std::string& path, const SegmentationFile& order)
    : order_(order),
      records_(path, order.places,
               {[&order](const std::string& chromosome, std::size_t last) {
                  return in_quotes(chromosome) + " stands behind " + in_quotes(order.chromosomes[last].name) +
                         ", and in " + order.path + " before it";
                },
                "give segments and posteriors of one run, or sort the segments in this order"}) {}

void PosteriorReader::visit(const SegmentedChromosome& chromosome, std::int64_t begin, std::int64_t end,
                            const Visitor& visit) {
  const std::size_t place = order_.places.at(chromosome.name);
  records_.advance(place, begin);
  for (const BedGraphRecord* record = records_.on(place); record != nullptr && record->begin < end;
       record = records_.on(place)) {
    visit(std::max(begin, record->begin), std::min(end, record->end), record->value);
    if (record->end > end) return;
    records_.next();
  }
}

}  // namespace semicrf
