// The true segmentation: a BED file with a label in column 4.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// One line of the file.
struct LabelRecord {
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base
  int label = 0;           // index in LabelFile::labels
  std::int64_t line = 0;
};

struct LabelFile {
  std::string path;
  std::vector<Label> labels;  // the known ones, or those of the file in the order of their first lines
  std::map<std::string, std::vector<LabelRecord>> chromosomes;  // sorted by position, disjoint
  std::vector<std::string> order;                               // chromosomes in the file's order
};

// `known` are the labels of the model; empty: the file's own labels, coloured by its ninth column where every
// line of a label has the same colour there. InputError with the line: no name, a label that is not known, a
// name that cannot be one, two lines that overlap, no line at all.
LabelFile read_label_file(const std::string& path, const std::vector<Label>& known);

}  // namespace semicrf
