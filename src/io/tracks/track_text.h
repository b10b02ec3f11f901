// Tracks as text, plain or compressed by gzip or bgzip: bedGraph, wig, tables with positions, calls of
// methylation, and the binarised and signal files of ChromHMM. What a file is, is told from its first lines.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/text/text_lines.h"

namespace semicrf {

enum class TrackTextFormat {
  kBedGraph,   // chrom start end value
  kWig,        // fixedStep and variableStep
  kTable,      // columns of values beside chrom, start and perhaps end, named by a header or by their numbers
  kBinarised,  // ChromHMM: CELL and chromosome, names of marks, then 0, 1 or 2 (no data) by bin and mark
  kSignal,     // ChromHMM: the same with counts
  kBedMethyl,  // calls of methylation by site, as ENCODE and modkit write them: methylated and all, by bin
  kBismark,    // the same from the coverage files of Bismark
  kVcf,        // reads of two alleles at heterozygous positions, of a sample
};
const char* describe(TrackTextFormat format);  // "bedGraph", for messages
inline bool is_chromhmm(TrackTextFormat format) {
  return format == TrackTextFormat::kBinarised || format == TrackTextFormat::kSignal;
}

// Where a table has what; fields count from 0.
struct TableLayout {
  std::size_t chromosome = 0, start = 1;
  std::optional<std::size_t> end;   // without: a row is a bin, or a base where `one_based`
  bool one_based = false;           // the start is a position that counts from 1
  bool numbered = false;            // columns are named by their numbers, from 1: there is no header
  std::vector<std::size_t> fields;  // those of the columns of values
};

// A file of ChromHMM: a chromosome of a cell type.
struct ChromHmmFile {
  std::string path, cell, chromosome;
};

struct TrackText {
  std::string path;  // "-": standard input
  TrackTextFormat format = TrackTextFormat::kBedGraph;
  std::vector<std::string> columns;  // the names of the columns of values; one without a name: bedGraph, wig
  TableLayout layout;                // kTable
  std::vector<ChromHmmFile> files;   // ChromHMM: the file itself, or those of the folder, chr2 before chr10
  std::vector<std::string> samples;  // VCF; ChromHMM: the cell types of `files`, each once

  // Files of a cell type; nothing: of the only one. Empty for other formats.
  std::vector<std::string> paths_of(const std::string& cell) const;
};

// Whose values of a text are read.
struct TextSample {
  std::string name;    // cell type of ChromHMM, or sample of VCF; empty: the only one
  std::string normal;  // VCF: whose genotypes tell heterozygous positions; empty: the sample's own

  bool operator==(const TextSample&) const = default;
};

// ReadError: cannot be opened, or a folder without files of ChromHMM. InputError: no such text.
TrackText inspect_track_text(const std::string& path);

// Bases [begin, end) of a chromosome have these values.
struct TrackRow {
  std::string chromosome;
  std::int64_t begin = 0, end = 0;  // 0-based, end > begin
  bool is_bin = false;              // the row stands for a bin, which the chromosome's end may cut
  std::vector<float> values;        // by column that was asked for; finite, or NaN: no value
  std::string file;
  std::int64_t line = 0;

  InputError refused(const std::string& what, const std::string& advice) const {
    return InputError(file, line, what, advice);
  }
};

// Reads rows from left to right, one at a time. InputError with the line: damaged text, a field that is no
// number, NaN and infinities (in tables NaN, NA, . and nothing are no value), rows that are not sorted or
// overlap, a chromosome whose rows do not stand together.
class TrackTextReader {
 public:
  virtual ~TrackTextReader() = default;
  // False at the end. Reuses the memory of `row`, which must be the same object each time.
  bool next(TrackRow& row);

 protected:
  virtual bool next_row(TrackRow& row) = 0;

 private:
  std::string chromosome_;  // chromosome of the row before
  std::int64_t end_ = 0;    // end of the row before
  std::set<std::string> finished_;
};

// `columns`: places in text.columns. `sample`: of text.samples, or empty. `bin_size`: bases of a row that has
// no end.
std::unique_ptr<TrackTextReader> open_track_text(const TrackText& text, std::span<const std::size_t> columns,
                                                 const TextSample& sample, std::int64_t bin_size);

// Fields of lines, for the readers of tracks as text.
//
// The fields of a line between tabs, or between blanks where it has no tab, as views of it.
inline void split_fields(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  const bool tabs = line.find('\t') != std::string_view::npos;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

inline std::string quoted_field(std::string_view field) {
  std::string quoted = "'";
  quoted += shortened(escape_control(field), 60);
  quoted += '\'';
  return quoted;
}

inline InputError refused_at(const TextLines& lines, const std::string& what, const std::string& advice) {
  return InputError(lines.path(), lines.line_number(), what, advice);
}

// A base from `first` on. InputError where the field is none.
inline std::int64_t position_in(const TextLines& lines, std::string_view field, const char* name,
                                std::int64_t first) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // so that sums with bins do not overflow
  const auto value = number_in<std::int64_t>(field);
  if (!value || *value < first || *value > kMost)
    throw refused_at(
        lines, fmt::format("{} is {}, expected a whole number, {} or more", name, quoted_field(field), first),
        "correct the line");
  return *value;
}

// A finite number that a float can hold. InputError where the field is none.
inline float value_in(const TextLines& lines, std::string_view field) {
  const auto number = number_in<double>(field);
  const float value = number ? static_cast<float>(*number) : 0;
  if (number && std::isfinite(value)) return value;
  const bool none = number && std::isnan(*number);
  throw refused_at(
      lines, "the value is " + quoted_field(field) + ", expected a finite number",
      none ? "leave the line out: bases without a line have no value" : "correct the line, or leave it out");
}

// NA, NaN, . or nothing: no value.
inline bool is_no_value(std::string_view field) {
  return field.empty() || field == "." || field == "NA" || field == "NaN" || field == "nan" ||
         field == "na" || field == "null";
}

}  // namespace semicrf
