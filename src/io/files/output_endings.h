// What the ending of an output's name says of its format. Case does not count: out.BW is a bigWig file.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace semicrf {

// Whether `path` ends in one of `endings`, which are in lower case and begin with a dot.
bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings);

// Names that are written as BGZF: .gz and .bgz.
bool is_compressed_name(std::string_view path);

// What an output is written as, and which names fit it.
struct OutputFormat {
  std::string_view what;                     // "segments are", "the table is"
  std::string_view written;                  // "BED or bigBed"
  std::string_view advice;                   // ".bed or .bb"
  std::span<const std::string_view> text;    // endings of text, which may be followed by .gz or .bgz
  std::span<const std::string_view> binary;  // endings of binary files, which may not
  bool compressed = true;                    // text may be compressed
};

// The formats of all outputs.
enum class OutputKind {
  kSegments,
  kDraft,  // BED alone
  kTrack,
  kLabelTracks,
  kTable,
  kReport,
  kJson,
  kParameters,
  kCheckpoint,
  kPicture,
  kPage,
  kCounts,
  kScores,
  kLog,
};
const OutputFormat& format_of(OutputKind kind);

// UsageError where the ending of `path` means another format than `kind` is written as: .gff3 for segments,
// .bw.gz for a track. Unknown endings, and names without one, fit every output.
void check_ending(const std::string& path, OutputKind kind);

}  // namespace semicrf
