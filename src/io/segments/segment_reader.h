// Labelled segments, record by record: BED files, and files with times in seconds, of speech for example.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/bed_reader.h"

namespace semicrf {

// What files with times in seconds need to be known besides.
struct LabelTimes {
  double rate = 0;            // positions per second, 0: not given
  std::int64_t bin_size = 1;  // positions; times are rounded to the nearest edge of a bin
  std::string tier;           // interval tier of TextGrids; empty: the only one
  std::string sequence;       // that the labels belong to, for files that name none; empty: the file's stem
  // `tier` is that of other files: one that is alone may have any name.
  bool tier_of_others = false;
};

// Splits [name=]PATH: `argument` becomes the path, the result is the name or empty. A text that is the name
// of an existing file is a PATH as a whole.
std::string take_sequence_name(std::string& argument);
// As take_sequence_name(); a PATH without a name gets that of the file, without folder, .gz and one
// extension.
std::string take_file_name(std::string& argument);
// The PATH of [name=]PATH.
std::string path_of_argument(std::string argument);

// Three kinds of files, told by their content, or a folder with several TextGrids (names that end in
// .TextGrid), each of which is a sequence:
// - BED with a label in column 4;
// - TextGrid of Praat: the intervals of one tier, those without a text left out;
// - tables with the columns begin, end and label (seconds) and perhaps sequence, separated by tabs or blanks:
//   with a header line in any order, without one exactly begin, end and label.
// Times become whole bins, counted in positions; an interval of less than half a bin may vanish. InputError
// with the line: what is not such a file, an interval without length, intervals of one sequence that overlap
// or are not sorted. UsageError: a rate is needed, or a tier must be chosen.
class SegmentReader {
 public:
  SegmentReader(const std::string& path, const LabelTimes& times);
  ~SegmentReader();
  // As BedReader::next.
  bool next(BedRecord& record);
  // As BedReader::bin_size; not known of files with times.
  std::optional<std::int64_t> bin_size() const { return bed_ ? bed_->bin_size() : std::nullopt; }
  std::int64_t vanished() const { return vanished_; }  // intervals, known from the beginning; 0 for BED
  // What is read: the files of a folder in their natural order, else the file itself.
  const std::vector<std::string>& files() const { return files_; }
  // The one that the last record is from.
  const std::string& file() const { return files_[file_]; }

 private:
  void read_times(std::size_t file, bool grid, const LabelTimes& times);

  std::vector<std::string> files_;
  std::size_t file_ = 0;
  std::unique_ptr<BedReader> bed_;  // or null
  struct FromFile {
    BedRecord record;
    std::size_t file = 0;
  };
  std::vector<FromFile> records_;
  std::size_t next_ = 0;
  std::int64_t vanished_ = 0;
};

}  // namespace semicrf
