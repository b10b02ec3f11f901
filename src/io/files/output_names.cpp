#include "io/files/output_names.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "io/files/file_errors.h"

namespace semicrf {

namespace fs = std::filesystem;

std::string output_display_name(const std::string& path) {
  return path == kStandardOutput ? "standard output" : path;
}

std::string resolve_output(const std::string& path) {
  if (descriptor_of(path)) return "";
  std::error_code error;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return "";
    const fs::path real = fs::canonical(path, error);
    return error ? "" : real.string();
  }
  // Nothing there yet, or a chain of links that ends at nothing: the file is made where the chain ends.
  constexpr int kMaxLinks = 40;
  fs::path target = fs::absolute(path);
  for (int i = 0; i < kMaxLinks && fs::is_symlink(target, error); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  const fs::path folder = fs::canonical(target.parent_path(), error);
  return error ? target.string() : (folder / target.filename()).string();
}

std::string folder_of(const std::string& target) { return fs::path(target).parent_path().string(); }

namespace {

using Ending = std::string_view;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

// Endings that mean a format, ours or that of another program.
constexpr auto kKnown = std::to_array<Ending>(
    {"2bit",   "7z",     "arrow",     "bam",        "bb",   "bcf",  "bdg",   "bed",     "bedgraph", "bg",
     "bigbed", "bigwig", "broadpeak", "bw",         "bz2",  "cram", "cns",   "csi",     "csv",      "db",
     "eps",    "fa",     "fasta",     "feather",    "fna",  "fq",   "fastq", "gff",     "gff3",     "gtf",
     "h5",     "hdf",    "hdf5",      "htm",        "html", "jpeg", "jpg",   "json",    "jsonl",    "log",
     "lz4",    "mat",    "md",        "narrowpeak", "npy",  "npz",  "ods",   "parquet", "pdf",      "pickle",
     "pkl",    "png",    "rar",       "rdata",      "rds",  "sam",  "seg",   "sqlite",  "svg",      "tab",
     "tar",    "tbi",    "textgrid",  "tgz",        "toml", "tsv",  "txt",   "vcf",     "wig",      "xls",
     "xlsx",   "xml",    "xz",        "yaml",       "yml",  "zarr", "zip",   "zst"});

// What people call the formats whose endings are not their names.
constexpr auto kNames = std::to_array<std::pair<Ending, std::string_view>>({{"bw", "bigWig"},
                                                                            {"bigwig", "bigWig"},
                                                                            {"bb", "bigBed"},
                                                                            {"bigbed", "bigBed"},
                                                                            {"bed", "BED"},
                                                                            {"bedgraph", "bedGraph"},
                                                                            {"csv", "CSV, with commas"},
                                                                            {"npy", "a NumPy array"},
                                                                            {"npz", "NumPy arrays"},
                                                                            {"xls", "a spreadsheet"},
                                                                            {"xlsx", "a spreadsheet"},
                                                                            {"json", "JSON"}});

constexpr auto kBed = std::to_array<Ending>({"bed", "tsv", "tab", "txt"});
constexpr auto kPeaks =
    std::to_array<Ending>({"bed", "narrowpeak", "seg", "cns", "vcf", "tsv", "tab", "txt"});
constexpr auto kBigBedOrGrid = std::to_array<Ending>({"bb", "bigbed", "textgrid"});
constexpr auto kBedGraph = std::to_array<Ending>({"bedgraph", "bdg", "bg", "bed", "tsv", "tab", "txt"});
constexpr auto kTsv = std::to_array<Ending>({"tsv", "tab", "txt", "bed"});
constexpr auto kTextEndings = std::to_array<Ending>({"txt", "tsv", "tab", "log"});
constexpr auto kJsonEndings = std::to_array<Ending>({"json", "txt"});
constexpr auto kSvg = std::to_array<Ending>({"svg", "xml"});
constexpr auto kHtml = std::to_array<Ending>({"html", "htm"});
constexpr auto kBigBed = std::to_array<Ending>({"bb", "bigbed"});
constexpr auto kBigWig = std::to_array<Ending>({"bw", "bigwig"});
constexpr auto kWigOrArray = std::to_array<Ending>({"bw", "bigwig", "npy", "npz"});
constexpr auto kWigOrNpz = std::to_array<Ending>({"bw", "bigwig", "npz"});
constexpr auto kNpy = std::to_array<Ending>({"npy"});
constexpr auto kNpz = std::to_array<Ending>({"npz"});

bool is_in(std::span<const Ending> endings, std::string_view ending) {
  return std::ranges::find(endings, ending) != endings.end();
}

// The text behind the last dot of the file's name; empty where there is none.
std::string_view last_ending(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return {};
  return path.substr(dot + 1);
}

std::string name_of(std::string_view ending) {
  const auto named = std::ranges::find(kNames, ending, &std::pair<Ending, std::string_view>::first);
  return named == kNames.end() ? std::string(1, '.').append(ending) : std::string(named->second);
}

}  // namespace

bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) {
    return path.size() >= ending.size() && lower_case(path.substr(path.size() - ending.size())) == ending;
  });
}

bool is_compressed_name(std::string_view path) { return has_ending(path, {".gz", ".bgz"}); }

std::string_view without_compression(std::string_view path) {
  return is_compressed_name(path) ? path.substr(0, path.rfind('.')) : path;
}

const OutputFormat& format_of(OutputKind kind) {
  // In the order of OutputKind.
  static const auto formats = std::to_array<OutputFormat>({
      {"segments are", "BED or bigBed", ".bed or .bb", kBed, kBigBed},
      {"segments are", "BED, bigBed, narrowPeak, SEG, CNS, VCF or TextGrid",
       ".bed, .bb, .narrowPeak, .seg, .cns, .vcf or .TextGrid", kPeaks, kBigBedOrGrid},
      {"this output is", "BED", ".bed", kBed, {}},
      {"posteriors are", "bedGraph or bigWig", ".bedgraph or .bw", kBedGraph, kBigWig},
      {"posteriors are", "bedGraph, bigWig or NumPy arrays", ".bw, .npy or .npz, or a prefix", kBedGraph,
       kWigOrArray},
      {"counts are", "bigWig or NumPy arrays", ".bw or .npz", {}, kWigOrNpz},
      {"this table is", "text, separated by tabs", ".tsv", kTsv, {}},
      {"the tables are", "text", ".txt", kTextEndings, {}},
      {"this output is", "JSON", ".json", kJsonEndings, {}},
      {"parameters are", "JSON", ".json", kJsonEndings, {}},
      {"a checkpoint is", "text of its own", ".checkpoint", kJsonEndings, {}},
      {"a picture is", "SVG", ".svg", kSvg, {}},
      {"the page is", "HTML", ".html", kHtml, {}},
      {"the counts are", ".npz", ".npz", {}, kNpz},
      {"scores are", "a NumPy array", ".npy, or a prefix", {}, kNpy},
      {"the log is", "plain text", ".log", kTextEndings, {}, false},
  });
  return formats.at(static_cast<std::size_t>(kind));
}

void check_ending(const std::string& path, OutputKind kind) {
  const OutputFormat& format = format_of(kind);
  const auto refuse = [&](const std::string& found) {
    throw UsageError(path + ": " + std::string(format.what) + " written as " + std::string(format.written) +
                         ", not as " + found,
                     "give a name ending in " + std::string(format.advice));
  };
  const bool packed = is_compressed_name(path);
  const std::string name = lower_case(without_compression(path));
  const std::string_view ending = last_ending(name);
  if (packed && is_in(format.binary, ending)) refuse("compressed " + name_of(ending));
  if (is_in(kKnown, ending) && !is_in(format.text, ending) && !is_in(format.binary, ending))
    refuse(name_of(ending));
  if (packed && !format.compressed) refuse("compressed text");
}

std::string in_file_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

std::map<std::string, std::string> label_track_files(const std::string& prefix) {
  constexpr std::array kSuffixes = {std::string_view(".bw"), std::string_view(".bigwig")};
  // What posterior --labels-out NAME.bw was given.
  const auto given =
      std::ranges::find_if(kSuffixes, [&](std::string_view e) { return has_ending(prefix, {e}); });
  const std::size_t cut = given == kSuffixes.end() ? 0 : given->size();
  const std::filesystem::path path(prefix.substr(0, prefix.size() - cut));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const std::string beginning = path.filename().string() + ".";
  std::map<std::string, std::string> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    for (const std::string_view ending : {".bedgraph", ".bedgraph.gz", ".bedgraph.bgz", ".bw", ".bigwig"}) {
      if (!name.starts_with(beginning) || !has_ending(name, {ending}) ||
          name.size() <= beginning.size() + ending.size())
        continue;
      const std::string label = name.substr(beginning.size(), name.size() - beginning.size() - ending.size());
      const std::string file = path.has_parent_path() ? entry->path().string() : name;
      if (const auto [other, added] = files.emplace(label, file); !added)
        throw InputError(
            {file, "", "holds the same label as " + other->second, "remove one of the two files"});
    }
  }
  return files;
}

}  // namespace semicrf
