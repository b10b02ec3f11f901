// A whole segmentation in memory: a BED file with labels in column 4.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

struct LabelledSegment {
  std::int64_t begin = 0, end = 0;  // bases, half-open
  std::uint32_t label = 0;
  std::uint32_t line = 0;  // line of the file; 0: it is bigBed
  float score = -1;        // column 5 over 1000: the mean posterior of the label; -1: there is none

  std::int64_t size() const { return end - begin; }
};

struct SegmentedChromosome {
  std::string name;
  std::vector<LabelledSegment> segments;  // sorted, not overlapping
};

struct SegmentationFile {
  std::string path;
  std::vector<Label> labels;                     // in natural order of their names; colours of column 9
  std::vector<SegmentedChromosome> chromosomes;  // in the order of the file
  std::map<std::string, std::string> options;    // options of the header, as `decode` writes it
  std::map<std::string, std::int64_t> lengths;   // bases of all chromosomes of the genome; of bigBed only
  std::unordered_map<std::string, std::size_t> places;  // places in `chromosomes`, by name

  const SegmentedChromosome* find(const std::string& chromosome) const;
  // For errors: where a segment is in the file.
  std::string place_of(const SegmentedChromosome& chromosome, const LabelledSegment& segment) const;
  // The place of the first segment with this label; empty where there is none. Looks through all segments.
  std::string first_place(std::size_t label) const;
  // Whether there is a segment with it, for every label.
  std::vector<char> used_labels() const;
  std::int64_t bases() const;
};

// Labels that no segment has; the numbers of all change.
void add_labels(SegmentationFile& segmentation, const std::vector<std::string>& names);

// A score of 0 is a value where the header says score=posterior, or where some score of the file is above 0:
// a column of zeros alone, without this header, is one that nobody filled. InputError with the line: no
// label, segments of a chromosome that overlap or are not sorted, a chromosome in two places; no segments at
// all. ReadError: cannot be opened or read.
SegmentationFile read_segmentation(const std::string& path);

// How long the segments of a BED file are, by label.
struct SegmentDurations {
  std::vector<std::vector<std::int64_t>> seen;                    // a list per label, in bins
  std::vector<std::optional<std::array<std::uint8_t, 3>>> color;  // by label: the first "r,g,b" of column 9
};

// Segments that touch and have the same label count as one; the end of a segment is rounded up to whole bins,
// as the last one of a chromosome is cut. InputError with the place: a label that is not among `labels`; a
// begin that is not on a multiple of `bin_size` bases; what read_segmentation() refuses. ReadError.
SegmentDurations read_segment_durations(const std::string& path, const std::vector<Label>& labels,
                                        std::int64_t bin_size);

}  // namespace semicrf
