// The command `count`: files of reads to binned tracks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/text/sample_sheet.h"
#include "reads/bin_values.h"
#include "reads/count_rule.h"

namespace semicrf {

struct CountOptions {
  std::vector<SampleRow> rows;  // the files; the sample is empty where they are on the command line
  CountRule reads;
  bool in_order = true;  // files without an index are sorted
  std::int64_t bin = 200;
  std::string chrom_sizes_file, exclude_file;  // or empty
  std::vector<std::string> regions;            // as parse_region() takes them; these and the file's count
  std::string regions_file;                    // BED; or empty. Where neither is given, everything counts
  std::string fasta_file;                      // the reference of the alignments, to be checked; or empty
  std::string groups_file;                     // barcodes and groups of cells (CellGroups); or empty
  std::string barcode_tag = "CB";              // the tag of alignments that has the barcode
  ValueOptions values;
  std::optional<BinariseOptions> binarise;
  std::string output;  // a bigWig file of the only track, or .npz of all; or empty
  // PREFIX.TRACK.bw, or PREFIX.SAMPLE.TRACK.bw; or empty. Groups of cells are the tracks of a single file,
  // and the samples of several, where the files of a track are counted together.
  std::string prefix;
  std::string chromhmm_folder;  // for binarised text; or empty
  std::string cell = "cell";    // the sample's name there, where it is empty
  int threads = 1;
  std::optional<std::int64_t> max_memory;  // bytes
};

// Writes all outputs or none. UsageError, InputError, ReadError, WriteError; MemoryError where the memory,
// which is known before reads are, is more than allowed.
void run_count(const CountOptions& options);

// Files, bins, outputs and memory; nothing is counted.
std::string plan_count(const CountOptions& options);

}  // namespace semicrf
