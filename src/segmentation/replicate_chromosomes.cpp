#include "segmentation/replicate_chromosomes.h"

#include <algorithm>

#include "core/error.h"
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
    : path_(path), order_(order), reader_(path) {
  next();
}

void PosteriorReader::next() {
  has_record_ = reader_.next(record_);
  if (!has_record_) return;
  if (!(record_.value >= 0 && record_.value <= 1))
    throw InputError({path_, place_of(record_), formatted("%g", record_.value) + " is not a probability",
                      "give label posteriors"});
  if (record_.chromosome == chromosome_) return;
  chromosome_ = record_.chromosome;
  const auto found = order_.places.find(chromosome_);
  place_.reset();
  if (found == order_.places.end()) return;
  place_ = found->second;
  if (*place_ < last_place_)
    throw InputError({path_, place_of(record_),
                      in_quotes(chromosome_) + " stands behind " +
                          in_quotes(order_.chromosomes[last_place_].name) + ", and in " + order_.path +
                          " before it",
                      "give segments and posteriors of one run, or sort the segments in this order"});
  last_place_ = *place_;
}

void PosteriorReader::finish() {
  while (has_record_) next();
}

void PosteriorReader::visit(const SegmentedChromosome& chromosome, std::int64_t begin, std::int64_t end,
                            const Visitor& visit) {
  const std::size_t place = order_.places.at(chromosome.name);
  while (has_record_ && (!place_ || *place_ < place || (*place_ == place && record_.end <= begin))) next();
  while (has_record_ && place_ == place && record_.begin < end) {
    visit(std::max(begin, record_.begin), std::min(end, record_.end), record_.value);
    if (record_.end > end) return;
    next();
  }
}

}  // namespace semicrf
