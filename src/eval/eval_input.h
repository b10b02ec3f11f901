// The two segmentations that are compared: BED files with a label in column 4.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/segment.h"
#include "io/segments/segment_reader.h"
#include "io/text/chrom_sizes.h"

namespace semicrf {

// Numbers for label names, in the order in which they were first met.
class LabelNumbers {
 public:
  int number(const std::string& name);
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int, std::less<>> numbers_;
};

// The last part of a path, as reports name a file; "-": standard input.
std::string file_title(const std::string& path);

struct Segmentation {
  std::string path;
  std::vector<std::string> chromosomes;                  // in the file's order
  std::map<std::string, std::vector<Segment>> segments;  // by chromosome, in bases, sorted and disjoint
  std::int64_t count = 0;
  std::optional<std::int64_t> bin_size;  // bases, where the file's header says it

  // Those of a chromosome, empty when it has none.
  const std::vector<Segment>& on(const std::string& chromosome) const;
};

// Lines may come in any order. `known`: chromosomes and their lengths, or empty when nothing is known about
// them. InputError with the line number: not BED, no label, overlaps another line, ends beyond its
// chromosome, a chromosome that is not known. "-" is standard input.
Segmentation read_segmentation(const std::string& path, const std::vector<Chromosome>& known,
                               LabelNumbers& labels, const LabelTimes& times = {});

}  // namespace semicrf
