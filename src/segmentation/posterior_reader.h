// The posterior of one label, read from its file beside the segments of a segmentation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "io/segments/segmentation.h"
#include "io/text/bedgraph.h"

namespace semicrf {

// Holds one line of the file at a time. The chromosomes of the segmentation stand in the file in the order of
// the segmentation, as in files of one run; others are passed over.
class PosteriorReader {
 public:
  // bedGraph or bigWig; `order` stays valid as long as this. ReadError; InputError, also in visit().
  PosteriorReader(const std::string& path, const SegmentationFile& order);

  // Calls visit(begin, end, P) for the parts of bases [begin, end) that have a value. Ranges are asked for
  // from left to right, chromosome by chromosome in the order of the segmentation. InputError: a value
  // outside 0..1, or another order of the chromosomes.
  using Visitor = std::function<void(std::int64_t begin, std::int64_t end, double p)>;
  void visit(const SegmentedChromosome& chromosome, std::int64_t begin, std::int64_t end,
             const Visitor& visit);
  // Reads what is left, so that all of the file is checked. InputError.
  void finish();

 private:
  void next();

  std::string path_;
  const SegmentationFile& order_;
  BedGraphReader reader_;
  BedGraphRecord record_;
  std::string chromosome_;            // name of the record's chromosome
  std::optional<std::size_t> place_;  // its place in `order_`; nothing where that lacks it
  std::size_t last_place_ = 0;        // the largest place so far
  bool has_record_ = true;
};

}  // namespace semicrf
