// semicrf report: a page that shows a segmentation.
#include <memory>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "report/report_options.h"

namespace semicrf {
namespace {

struct ReportArguments {
  ReportOptions options;
  UnitArguments unit;
  LogArguments log;
};

void add_inputs(CLI::App& command, ReportArguments& arguments) {
  ReportOptions& options = arguments.options;
  InputOptions& input = options.input;
  command
      .add_option("-p,--params", input.parameters, "parameter file (JSON) that the segments were made with")
      ->required();
  command.add_option("--segments", options.segments, "the segments: BED file with labels in column 4")
      ->required();
  command.add_option(
      "INPUT", input.inputs,
      "the tracks that were decoded, one or more [name=]PATH as decode reads them; may be left out");
  command.add_option("--posterior", options.posterior,
                     "boundary posterior of the same run, bedGraph or bigWig: how sure each boundary is");
  command.add_option(
      "--labels-posterior", options.labels_posterior,
      "label posteriors: the NAME that posterior --labels-out was given, of bedGraph or bigWig files");
  command.add_option(
      "--truth", options.truth,
      "true segments: BED file with labels in column 4, to evaluate against; with --rate also a "
      "TextGrid, a folder of them, or a table, as train reads them");
  command
      .add_option("--tolerance", options.tolerance,
                  "with --truth: bases by which a boundary may be off, as for eval")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  add_repeatable(command, "--annotation", options.annotations, "[name=]PATH of a BED file, such as of TSS");
  add_repeatable(command, "-r,--region", options.regions,
                 "region to show in place of chosen ones (of a long region, loci that are chosen in it), and "
                 "to evaluate with --truth: chr:begin-end counted from 1 with both ends included")
      ->type_name("REGION");
  command.add_option("-L,--regions-file", options.regions_file,
                     "BED file of regions to show and to evaluate");
  add_track_options(command, input, false);
  add_missing_track_option(command, input);
  command.add_option("-g,--chrom-sizes", input.chrom_sizes_file,
                     "chromosomes, their lengths and their order: two columns, or a .fai index");
  add_chromosomes_option(command, input);
  command.add_option("-b,--bin-size", input.bin_size,
                     "bases per bin; must equal bin_size of the parameter file where that has one");
}

void report(ReportArguments& arguments) {
  ReportOptions& options = arguments.options;
  start_logging(arguments.log);
  apply_units(arguments.unit);
  options.truth_times = label_times(arguments.unit, options.truth);
  options.version = SEMICRF_VERSION;
  run_report(options);
}

}  // namespace

void add_report_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "report", "Show a segmentation on one page: labels, model, signal, certainty, loci.",
      "A section whose inputs are not given says which option it needs.\n\n"
      "Outputs:\n"
      "  -o FILE        an HTML page that needs no script, no other file and no network\n"
      "  --figures DIR  every picture of it as SVG and the numbers of every picture and table as TSV, in "
      "this\n"
      "                 folder, which is made where it is not there\n");
  const auto arguments = std::make_shared<ReportArguments>();
  add_inputs(*command, *arguments);
  command->add_option("-o,--output", arguments->options.output,
                      "page to write; - for standard output (default)");
  command->add_option("--figures", arguments->options.figures, "folder for pictures and tables")
      ->type_name("DIR");
  command->add_option("--title", arguments->options.title, "title of the page")
      ->type_name("TITLE")
      ->capture_default_str();
  add_number(*command, "-t,-@,--threads", arguments->options.threads, "number of threads",
             CLI::Range(1, 1024));
  command->add_flag("-q,--quiet", arguments->log.quiet, "write only errors to standard error");
  add_unit_options(*command, arguments->unit);
  add_tier_option(*command, arguments->unit);
  command->callback([arguments] { report(*arguments); });
}

}  // namespace semicrf
