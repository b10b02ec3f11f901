#include "io/tracks/track_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/files/input_kind.h"
#include "io/segments/bed_reader.h"
#include "io/tracks/chromhmm_text.h"
#include "io/tracks/interval_text.h"
#include "io/tracks/methylation_text.h"
#include "io/tracks/vcf_text.h"

namespace semicrf {

namespace {

constexpr const char* kAdvice =
    "tracks as text are bedGraph, wig, tables with chrom, start and end, bedMethyl, Bismark's coverage, VCF, "
    "and ChromHMM's binarised or signal files";
constexpr std::size_t kLooked = 3;  // lines beside headers that tell what a file is

InputError no_track(const TextLines& lines, const std::string& what) {
  return refused_at(lines, what, kAdvice);
}

// The first lines that are data or might be the header of a table.
struct FirstLines {
  std::string comment;             // the last line before the data that begins with #
  std::vector<std::string> lines;  // not empty
};

FirstLines first_lines_of(TextLines& text) {
  FirstLines first;
  std::string line;
  while (first.lines.size() < kLooked && text.next(line)) {
    if (first.lines.empty() && is_bed_header(line)) {
      if (line.starts_with('#')) {
        if (const auto other = other_format(line); !other.empty())
          throw no_track(text, "this is " + std::string(other) + ", no track");
        first.comment = line;
      }
      continue;
    }
    first.lines.push_back(line);
  }
  return first;
}

bool is_wig(std::string_view line) {
  return line.starts_with("fixedStep") || line.starts_with("variableStep");
}

}  // namespace

const char* describe(TrackTextFormat format) {
  switch (format) {
    case TrackTextFormat::kBedGraph:
      return "bedGraph";
    case TrackTextFormat::kWig:
      return "wig";
    case TrackTextFormat::kTable:
      return "a table with positions";
    case TrackTextFormat::kBinarised:
      return "binarised text of ChromHMM";
    case TrackTextFormat::kSignal:
      return "signal text of ChromHMM";
    case TrackTextFormat::kBedMethyl:
      return "bedMethyl";
    case TrackTextFormat::kBismark:
      return "coverage of Bismark";
    case TrackTextFormat::kVcf:
      return "VCF";
  }
  return "";
}

std::vector<std::string> TrackText::paths_of(const std::string& cell) const {
  std::vector<std::string> paths;
  for (const ChromHmmFile& file : files)
    if (cell.empty() || file.cell == cell) paths.push_back(file.path);
  return paths;
}

TrackText inspect_track_text(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return chromhmm_folder(path);
  TextLines lines(path);
  if (lines.head().starts_with(kVcfStart)) return vcf_text(path);
  if (lines.head().starts_with("BCF"))
    throw InputError({path, "", "this is BCF", "write it as VCF: bcftools view -o FILE.vcf.gz"});
  const FirstLines first = first_lines_of(lines);
  if (first.lines.empty()) throw no_track(lines, "has no line of data");
  TrackText text;
  text.path = path;
  text.columns = {""};
  if (is_wig(first.lines.front())) {
    text.format = TrackTextFormat::kWig;
    return text;
  }
  if (is_chromhmm_text(first.lines)) return chromhmm_file(path, first.lines);
  if (const auto methylation = methylation_format_of(first.lines)) {
    text.format = *methylation;
    text.columns = methylation_columns();
    return text;
  }
  if (auto table = table_of(first.comment, first.lines)) {
    text.format = TrackTextFormat::kTable;
    text.columns = std::move(table->columns);
    text.layout = std::move(table->layout);
    if (text.columns.empty()) throw no_track(lines, "has no column of numbers beside the positions");
    if (text.layout.numbered && text.columns == std::vector<std::string>{"4"} &&
        table->fields == kBedGraphFields) {
      text.format = TrackTextFormat::kBedGraph;
      text.columns = {""};
    }
    return text;
  }
  const auto other = other_format(first.lines.front());
  throw no_track(lines, other.empty() ? "line " + quoted_field(first.lines.front()) + " is no track"
                                      : "this is " + std::string(other) + ", no track");
}

bool TrackTextReader::next(TrackRow& row) {
  if (!next_row(row)) return false;
  if (row.chromosome != chromosome_) {
    if (row.chromosome.empty()) throw row.refused("the chromosome's name is empty", "correct the line");
    if (!chromosome_.empty()) finished_.insert(chromosome_);
    if (finished_.contains(row.chromosome))
      throw row.refused("chromosome " + row.chromosome + " comes a second time",
                        "sort the file, for example with sort -k1,1 -k2,2n");
    chromosome_ = row.chromosome;
  } else if (row.begin < end_) {
    throw row.refused(
        fmt::format("starts at base {} (from 0), before the end of the values before, {}", row.begin, end_),
        "values must be sorted and must not overlap");
  }
  end_ = row.end;
  return true;
}

std::unique_ptr<TrackTextReader> open_track_text(const TrackText& text, std::span<const std::size_t> columns,
                                                 const TextSample& sample, std::int64_t bin_size) {
  switch (text.format) {
    case TrackTextFormat::kWig:
      return open_wig(text.path);
    case TrackTextFormat::kBedGraph:
    case TrackTextFormat::kTable:
      return open_intervals(text, columns, bin_size);
    case TrackTextFormat::kBedMethyl:
    case TrackTextFormat::kBismark:
      return open_methylation(text, columns, bin_size);
    case TrackTextFormat::kVcf:
      return open_vcf(text, columns, sample, bin_size);
    default:
      return open_chromhmm(text, columns, sample.name, bin_size);
  }
}

}  // namespace semicrf
