// What the name of an output stands for, and what its ending says of its format.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace semicrf {

inline constexpr std::string_view kStandardOutput = "-";
inline constexpr std::string_view kStandardInput = "-";  // where a file is read

// "standard output" for "-", else the path, for messages.
std::string output_display_name(const std::string& path);

// The regular file that writing to `path` creates or replaces, as an absolute path with links resolved. Empty
// when the bytes go straight to `path` itself: an open descriptor (standard output, /dev/fd/3), or something
// that exists and is neither a regular file nor a folder.
std::string resolve_output(const std::string& path);

// The folder part of a resolved target.
std::string folder_of(const std::string& target);

// Whether `path` ends in one of `endings`, which are in lower case and begin with a dot. Case does not count:
// out.BW is a bigWig file.
bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings);

// Names that are written as BGZF: .gz and .bgz.
bool is_compressed_name(std::string_view path);
// `path` without .gz or .bgz, where it has one: its ending says what is compressed.
std::string_view without_compression(std::string_view path);

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
  kDecoded,  // segments that decode finds: narrowPeak and TextGrids, too
  kDraft,    // BED alone
  kTrack,
  kLabelTracks,
  kBins,  // values of bins
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

inline bool is_bigwig_name(std::string_view path) { return has_ending(path, {".bw", ".bigwig"}); }
inline bool is_bigbed_name(std::string_view path) { return has_ending(path, {".bb", ".bigbed"}); }
// Either: a file with an index of its own and without header lines.
inline bool is_indexed_name(std::string_view path) { return is_bigwig_name(path) || is_bigbed_name(path); }

// `name` as a part of a file's name, which cannot have a "/".
std::string in_file_name(std::string name);

// The files with a track for every label, as `posterior --labels-out PREFIX` writes them, of `prefix` (or
// prefix.bw, as bigWig files are asked for): by the name of the label as it is in file names.
std::map<std::string, std::string> label_track_files(const std::string& prefix);

}  // namespace semicrf
