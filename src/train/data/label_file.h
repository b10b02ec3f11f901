// The true segmentation: a BED file with a label in column 4, or a file with times
// (io/text/segment_reader.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/text/segment_reader.h"
#include "model/bin_labels.h"
#include "model/parameters.h"

namespace semicrf {

struct LabelFile {
  std::string path;                // as it was given
  std::vector<std::string> files;  // that were read: those of a folder, else `path`
  std::vector<Label> labels;       // the known ones, or those of the file in their natural order
  std::map<std::string, std::vector<LabelRecord>> chromosomes;  // sorted by position, disjoint
  std::vector<std::string> order;                               // chromosomes in the file's order
  std::map<std::string, std::string> sources;  // of chromosomes: the file that has their segments
  std::int64_t vanished = 0;                   // intervals too short for a bin, of files with times
  std::optional<int> background;               // label of what no line covers
  bool none = false;  // there is no file: every bin with data is in a piece, and pieces have no segments
};

// `known` are the labels of the model; empty: the file's own labels, coloured by its ninth column where every
// line of a label has the same colour there. InputError with the line: no name, a label that is not known, a
// name that cannot be one, two lines that overlap, no line at all.
LabelFile read_label_file(const std::string& path, const std::vector<Label>& known,
                          const LabelTimes& times = {});

// Makes `name` the label of what no line covers: a new label, or one that the file has. Of `known` labels it
// must be one (UsageError).
void set_background(const std::string& name, const std::vector<Label>& known, LabelFile& labels);

// InputError where the labels are one alone, which a model would predict everywhere.
void require_two_labels(const LabelFile& labels);

}  // namespace semicrf
