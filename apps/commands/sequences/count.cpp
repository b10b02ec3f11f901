// semicrf count: files of reads to binned tracks.

#include <memory>
#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/segments/segment_reader.h"
#include "reads/count_run.h"

namespace semicrf {
namespace {

constexpr std::int64_t kMostBases = 100'000'000;

struct CountArguments {
  CountOptions options;
  std::vector<std::string> inputs;
  std::string samples, control, part, strand = "both", scale = "none", control_as = "log2", max_memory;
  bool unsorted = false, binarise = false, dry_run = false;
  BinariseOptions binary;
  EngineArguments engine;  // its threads alone
  LogArguments log;
};

std::vector<SampleRow> rows_of(const CountArguments& arguments) {
  if (arguments.samples.empty() == arguments.inputs.empty())
    throw UsageError("give files of reads, or a sheet with --samples");
  if (!arguments.samples.empty()) {
    std::vector<SampleRow> rows = read_sample_sheet(arguments.samples);
    for (SampleRow& row : rows)
      if (row.control.empty()) row.control = arguments.control;
    return rows;
  }
  std::vector<SampleRow> rows;
  for (const std::string& text : arguments.inputs) {
    std::string path = text;
    const std::string name = take_file_name(path);
    for (const SampleRow& other : rows)
      if (other.track == name)
        throw UsageError("two tracks are named '" + name + "'", "name the files: NAME=PATH");
    rows.push_back({.sample = "", .track = name, .path = path, .control = arguments.control});
  }
  return rows;
}

void count(CountArguments& arguments) {
  start_logging(arguments.log);
  CountOptions& options = arguments.options;
  options.rows = rows_of(arguments);
  options.in_order = !arguments.unsorted;
  if (!arguments.part.empty()) {
    options.reads.part = counted_part_of(arguments.part);
  } else if (options.reads.fragments) {
    options.reads.part = CountedPart::kCentre;
  }
  if (arguments.strand != "both")
    options.reads.strand = arguments.strand == "forward" ? ReadStrand::kForward : ReadStrand::kReverse;
  options.values.scale = arguments.scale == "cpm" ? CountScale::kCpm : CountScale::kNone;
  options.values.control = arguments.control_as == "log2"    ? ControlUse::kLog2
                           : arguments.control_as == "ratio" ? ControlUse::kRatio
                                                             : ControlUse::kDifference;
  if (arguments.binarise) options.binarise = arguments.binary;
  options.reads.first_bin_takes_more = arguments.binarise;
  options.threads = arguments.engine.threads;
  EngineOptions engine;
  options.max_memory = memory_limit(arguments.max_memory, engine);
  if (arguments.dry_run) {
    print(plan_count(options));
  } else {
    run_count(options);
  }
}

void add_read_options(CLI::App& command, CountArguments& arguments) {
  CountRule& reads = arguments.options.reads;
  const auto flags = CLI::Range(0, 65535);
  add_number(command, "--min-mapq", reads.filter.min_mapq, "smallest mapping quality", CLI::Range(0, 255));
  add_number(command, "--include-flags", reads.filter.include_flags, "all of these SAM flags must be set",
             flags);
  add_number(command, "--exclude-flags", reads.filter.exclude_flags,
             "none of these SAM flags may be set: by default secondary and supplementary alignments, "
             "duplicates and what failed the platform's checks are left out; unmapped reads always are",
             flags);
  add_choice(command, "--strand", arguments.strand, "reads of this strand", {"both", "forward", "reverse"});
  add_choice(
      command, "--count", arguments.part,
      "start: the bin of the 5' end gets 1 (default); centre: that of the middle (default with "
      "--fragments); overlap: every bin with an aligned base; span: every bin from the first base to the "
      "last; depth: the mean depth of a bin's bases",
      {"start", "centre", "overlap", "span", "depth"});
  const auto bases = CLI::Range(std::int64_t{0}, kMostBases);
  add_number(command, "--shift", reads.shift, "bases that reads are moved in their direction",
             CLI::Range(-kMostBases, kMostBases));
  add_number(command, "--extend", reads.extend, "bases that reads have from their 5' end on; 0: as aligned",
             bases);
  command.add_flag("--fragments", reads.fragments,
                   "count proper pairs once, as what they span; of text every line, which needs no strand");
  command.add_flag(
      "--mixed", reads.mixed,
      "--fragments: single reads count, too, where a centre is asked for by their start, shifted");
  add_number(command, "--longest-fragment", reads.longest_fragment, "--fragments: bases",
             CLI::Range(std::int64_t{1}, kMostBases));
  add_number(command, "--keep-dup", reads.keep_duplicates,
             "reads with the same 5' end, strand and fragment that count; 0: all",
             CLI::Range(std::int64_t{0}, kMostBases));
  command.add_flag("--unsorted", arguments.unsorted,
                   "files without an index need not be sorted; takes more memory");
}

void add_binarise_options(CLI::App& command, CountArguments& arguments) {
  BinariseOptions& binary = arguments.binary;
  command.add_flag("--binarise", arguments.binarise,
                   "1 where a bin has more reads than by chance, else 0, as ChromHMM's BinarizeBam");
  add_number(command, "--poisson", binary.tail, "--binarise: probability of a 1 by chance",
             CLI::Range(1e-10, 1.0));
  add_number(command, "--fold", binary.fold, "--binarise: smallest ratio to what is expected",
             CLI::Range(0.0, 1e6));
  add_number(command, "--min-count", binary.least, "--binarise: smallest number of reads",
             CLI::Range(0.0, 1e9));
  command.add_flag("--strict", binary.beyond,
                   "--binarise: the probability of a 1 by chance is below --poisson, "
                   "not just above");
  add_number(command, "--control-flank", binary.flank, "--binarise: bins on either side added to the control",
             CLI::Range(0, 10000));
  add_number(command, "--control-pseudocount", binary.pseudocount, "--binarise: reads added to its bins",
             CLI::Range(0, 10000));
  command
      .add_option("--chromhmm-out", arguments.options.chromhmm_folder,
                  "--binarise: folder for ChromHMM's text files, made where it is missing")
      ->type_name("FOLDER");
  command
      .add_option("--cell", arguments.options.cell, "--chromhmm-out: name of the cell type without a sheet")
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace

void add_count_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "count", "Count sequencing reads in bins: from alignments to tracks.",
      "Chromosomes on which a file has no read have no value in its track. Files with an index "
      "(.bai, .csi, .crai)\n"
      "are read by all threads; memory does not grow with the number of reads.\n\n"
      "Outputs:\n"
      "  -o FILE              .bw: the only track as bigWig; .npz: all tracks, an array (bins, "
      "tracks) per chromosome\n"
      "  --prefix PREFIX      PREFIX.TRACK.bw, with --samples PREFIX.SAMPLE.TRACK.bw; with --groups\n"
      "                       PREFIX.GROUP.bw of one file, PREFIX.GROUP.TRACK.bw of several\n"
      "  --chromhmm-out FOLDER  CELL_CHROMOSOME_binary.txt.gz\n");
  const auto arguments = std::make_shared<CountArguments>();
  CountOptions& options = arguments->options;
  command->add_option(
      "INPUT", arguments->inputs,
      "[name=]PATH of BAM, CRAM, SAM, BED, tagAlign or fragments.tsv files, text also compressed");
  command->add_option("--samples", arguments->samples,
                      "sheet with the columns sample, track, path and, where there is one, control");
  command->add_option("-g,--chrom-sizes", options.chrom_sizes_file,
                      "chromosomes and lengths, two columns or .fai; for alignments which to count");
  add_number(*command, "-b,--bin-size", options.bin, "bases per bin",
             CLI::Range(std::int64_t{1}, kMostBases));
  add_read_options(*command, *arguments);
  add_repeatable(*command, "-r,--region", options.regions,
                 "region whose bins count: chr, or chr:begin-end counted from 1 with both ends included")
      ->type_name("REGION");
  command->add_option("-L,--regions-file", options.regions_file,
                      "BED file of regions, used together with --region");
  command->add_option("--exclude", options.exclude_file,
                      "BED: bins with such a base have no value, reads with one do not count");
  command->add_option(
      "--fasta", options.fasta_file,
      "reference of the alignments, with its index .fai; most CRAM files are read without it");
  command->add_option("--groups", options.groups_file,
                      "table of barcodes and groups of cells: a track for each group");
  command
      ->add_option("--barcode-tag", options.barcode_tag,
                   "--groups: the tag of alignments with the barcode; of text it is column 4")
      ->type_name("TAG")
      ->check([](const std::string& tag) {
        const auto letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
        const bool good =
            tag.size() == 2 && letter(tag[0]) && (letter(tag[1]) || (tag[1] >= '0' && tag[1] <= '9'));
        return good ? std::string() : "must be a letter and a letter or digit, not '" + tag + "'";
      })
      ->capture_default_str();
  add_choice(*command, "--scale", arguments->scale, "cpm: per million reads that are counted",
             {"none", "cpm"});
  command->add_option(
      "--control", arguments->control,
      "file of reads that the tracks are compared with, both brought to the same number of reads");
  add_choice(*command, "--control-as", arguments->control_as,
             "log2 or ratio of (count + 1) / (control + 1), or difference", {"log2", "ratio", "difference"});
  add_binarise_options(*command, *arguments);
  command->add_option("-o,--output", options.output, "bigWig or .npz file to write");
  command->add_option("--prefix", options.prefix, "beginning of the names of bigWig files");
  add_number(*command, "-t,--threads,-@", arguments->engine.threads, "threads", CLI::Range(1, 1024));
  add_memory_option(*command, arguments->max_memory);
  add_log_options(*command, arguments->log);
  command->add_flag("--dry-run", arguments->dry_run, "print files, bins, outputs and memory; do not count");
  command->callback([arguments] { count(*arguments); });
}

}  // namespace semicrf
