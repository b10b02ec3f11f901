// The true segmentation: a BED file with a label in column 4, or a file with times
// (io/segments/segment_reader.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "io/segments/segment_reader.h"
#include "model/bins.h"
#include "model/parameters.h"

namespace semicrf {

// What a label file says of the bins of a piece where it does not say everything.
//
// About positions [begin, end) of a piece: they are labelled by a line of the file, or by none.
struct LabelEvidence {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::vector<int> labels;          // one of these; empty: any
  std::vector<double> log_weights;  // weights of the labels, natural logarithms; empty: 0
  // A line: its bins belong to one segment, which ends where the next line begins at once. Else segments may
  // begin and end at every bin. A linear chain has no such lines: all its segments are single bins.
  bool one_segment = false;

  bool is_free() const { return labels.empty(); }
};

// Several labels that a line may have, "A|B" or "A:0.7|B:0.3".
struct LabelChoice {
  std::vector<int> labels;          // ascending
  std::vector<double> log_weights;  // weights of the labels, whose exponentials sum to 1; or empty

  friend bool operator==(const LabelChoice&, const LabelChoice&) = default;
};

// Where labels of lines are numbers, other numbers stand for what is not one label.
inline constexpr int kNoLabel = -1;
inline constexpr int choice_number(std::size_t index) { return -2 - static_cast<int>(index); }
inline constexpr bool is_choice(int label) { return label < kNoLabel; }
inline constexpr std::size_t choice_index(int label) { return -2 - label; }

// A pale grey: most of a chromosome is background, which should not be what one sees of it.
inline constexpr std::array<std::uint8_t, 3> kBackgroundColor = {224, 224, 224};

struct LabelFile {
  std::string path;                  // for messages; where there are several files, the first of them
  std::vector<std::string> files;    // that were read: those of a folder, else the ones that were given
  std::vector<Label> labels;         // the known ones, or those of the file in their natural order
  std::vector<LabelChoice> choices;  // choices of lines with several labels
  // Sorted by position, disjoint; their labels are indices, or choice_number() of an index in `choices`.
  std::map<std::string, std::vector<LabelRecord>> chromosomes;
  std::vector<std::string> order;              // chromosomes in the file's order
  std::map<std::string, std::string> sources;  // by chromosome: the file that has its segments
  std::int64_t vanished = 0;                   // intervals too short for a bin, of files with times
  std::optional<int> background;               // label of what no line covers
  std::int64_t longest_free_gap =
      0;  // bins between two lines that may have any label; longer gaps cut a piece
  // Every bin with data is in a piece, labelled or not, and lines do not say where segments begin and end.
  // Then there may be no file.
  bool whole_sequences = false;
};

// `known` are the labels of the model; empty: the file's own labels, coloured by its ninth column where every
// line of a label has the same colour there. A name "A|B" means that the line has label A or B, "A:3|B:1"
// that A is three times as likely; a name that is a known label as a whole, or has no other line's label in
// it, is just a name. Several files, each [sequence=]PATH, have the labels of different sequences; what
// `times` says of a sequence is ignored. InputError with the line: no name, a label that is not known, a name
// that cannot be one, weights of some labels of a line alone, two lines that overlap, a sequence that two
// files have, no line at all.
LabelFile read_label_file(const std::vector<std::string>& paths, const std::vector<Label>& known,
                          const LabelTimes& times = {});

// Labels of several samples, each in files of its own: those of all files, each with the colour that all
// files agree on, are the labels of each. InputError as above.
std::vector<LabelFile> read_label_files(const std::vector<std::vector<std::string>>& paths,
                                        const std::vector<Label>& known, const LabelTimes& times = {});

// Makes `name` the label of what no line covers: a new label, or one that the file has. Of `known` labels it
// must be one (UsageError).
void set_background(const std::string& name, const std::vector<Label>& known, LabelFile& labels);

// A warning where the labels are numbers with decimals, or many numbers, as the values of a bedGraph are.
std::optional<Warning> numbers_as_labels(const LabelFile& labels);

// Edges of labels, but the last of each chromosome, which may be its end; one that two labels share counts
// once. `within`: those on no multiple of `bin_size` bases.
struct LabelEdges {
  std::size_t all = 0, within = 0;

  LabelEdges& operator+=(const LabelEdges& other);
};
LabelEdges edges_within_bins(const LabelFile& labels, std::int64_t bin_size);

// InputError where the labels are one alone, which a model would predict everywhere.
void require_two_labels(const LabelFile& labels);

}  // namespace semicrf
