// Annotation to compare segmentations with: intervals of a genome, such as genes, CpG islands and TSS.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/segments/bed_reader.h"

namespace semicrf {

struct AnnotatedInterval {
  std::int64_t begin = 0, end = 0;  // bases, half-open
  bool reverse = false;             // column 6 is "-"
};

struct Annotation {
  std::string name;
  std::map<std::string, std::vector<AnnotatedInterval>> chromosomes;  // sorted by begin and end
  std::map<std::string, std::int64_t> lengths;                        // bases of chromosomes; of bigBed only
  std::set<std::string> names;  // in column 4 of its lines: the first kMostAnnotationNames
  std::int64_t lines = 0;       // intervals as the file has them
};
inline constexpr std::size_t kMostAnnotationNames = 50;

// What an annotation may not be meant to be: a file with several names taken as one, or one that covers
// nearly all between its first and last interval, so that its fold says little. Empty: no such doubt.
// `annotation` has overlapping intervals as one.
std::string names_text(const Annotation& annotation);
std::string covers_text(const Annotation& annotation);

// `argument`: [NAME=]PATH of a BED file, in any order; the name is else that of the file without folder and
// extensions. Points, which have no base, are for take_centres() and take_anchors(). InputError with the line
// for what is no BED file; ReadError.
Annotation read_annotation(const std::string& argument, BedPoints points = BedPoints::kRefused);
// An annotation for every name in column 4, named so behind `NAME:` where the argument has a name; in natural
// order of the names. InputError also where a line has none; with `may_lack_names` a file that has no name at
// all is one annotation.
std::vector<Annotation> read_named_annotations(const std::string& argument,
                                               BedPoints points = BedPoints::kRefused,
                                               bool may_lack_names = false);

// Overlapping and touching intervals as one.
void merge_overlaps(Annotation& annotation);
// One base of each interval, each base once: the middle one, the later of two. Of a point: the base behind
// it.
void take_centres(Annotation& annotation);
enum class Anchor { kStart, kCentre, kEnd };
// One base of each interval, each base and strand once: the first, middle or last one in the direction of its
// strand. Of a point: the base behind it.
void take_anchors(Annotation& annotation, Anchor anchor);

}  // namespace semicrf
