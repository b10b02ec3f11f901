// What a line of a BED file is: a header, data, or the line of another format.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "io/bigwig/bigbed_reader.h"
#include "io/text/text_lines.h"

namespace semicrf {

// Splits a line at its tabs, or at its blanks where it has no tab, into `fields`, reusing their memory.
void split_bed(std::string_view line, std::vector<std::string>& fields);

// Whether the line is empty, a comment (#) or a header of a genome browser: "track" with KEY=VALUE behind it,
// or "browser" with one of its words. A chromosome may be called track or browser, too.
bool is_bed_header(std::string_view line);

// The format that a line, which is no data of a BED file, tells: "VCF", "GFF"; empty: not known.
std::string_view other_format(std::string_view line);

struct BedRecord {
  std::string chromosome;
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base, > begin unless points are allowed
  std::string name;        // column 4, empty when absent; of .narrowPeak and .broadPeak without the number
  std::vector<std::string> fields;  // every column as it stands
  std::int64_t line = 0;            // line number in the file; of bigBed the number of the interval
  bool is_text = true;              // else of bigBed, whose intervals have no lines
};

// For errors: "line 7"; of bigBed "chr1:101-200", first and last base.
std::string place_of(const BedRecord& record);
// "r,g,b" in column 9; nothing where it is something else, such as 0.
std::optional<std::array<std::uint8_t, 3>> item_color(const BedRecord& record);

// Whether intervals with begin == end, which have no base, are read.
enum class BedPoints { kRefused, kAllowed };

// Reads record by record. Empty lines, comments and headers of genome browsers are skipped (is_bed_header);
// columns are separated by tabs, or by blanks in a line without tabs. InputError with the line
// number: another format (GFF, VCF), fewer than three columns, positions that are not integers, begin > end,
// points where they are refused. ReadError: cannot be opened or read. A regular file with the signature of
// bigBed is read as that: the same columns, chromosome by chromosome, without header lines. InputError for
// files with the signature of something else.
class BedReader {
 public:
  // `path` "-": standard input.
  explicit BedReader(std::string path, BedPoints points = BedPoints::kRefused);
  // Fills `record` (reusing its memory); false at the end of the file.
  bool next(BedRecord& record);
  // Bases per bin, as the header lines that were passed say it (provenance_header.h).
  std::optional<std::int64_t> bin_size() const;
  // The options of these header lines.
  const std::map<std::string, std::string>& options() const { return options_; }
  // Bases of the chromosomes that a bigBed file lists; of text, which does not say, nothing.
  std::map<std::string, std::int64_t> lengths() const;

 private:
  InputError refuse(const std::string& what) const;
  std::int64_t position(const std::string& text, const char* column) const;
  void next_of_bigbed(const BigBedInterval& interval, BedRecord& record);

  BedPoints points_;
  std::optional<BigBedFile> bigbed_;
  std::int64_t intervals_ = 0;      // intervals of bigBed that were returned
  std::optional<TextLines> lines_;  // else
  std::string line_;
  std::map<std::string, std::string> options_;
  bool numbers_peaks_ = false;  // names are those of numbered peaks: BedRecord::name is without the number
};

std::vector<BedRecord> read_bed(const std::string& path);

}  // namespace semicrf
