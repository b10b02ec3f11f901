// semicrf decode: the best segmentation, by one of two rules.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "analyses/best_paths/best_paths.h"
#include "apps/commands.h"
#include "apps/options/common_options.h"
#include "apps/options/run_or_plan.h"
#include "core/error.h"
#include "runs/run.h"

namespace semicrf {
namespace {

struct DecodeArguments {
  CommonArguments common;
  DecodeOptions options;
  MultiqcTarget multiqc;
  std::string score, rule;
  std::optional<std::int64_t> review_top;
  std::optional<std::string> cell;
  bool no_entropy = false;
};

// One line, without white space where it is a word.
void check_hub_text(const char* option, const std::string& text, bool is_word) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || (is_word && c == ' '))
      throw UsageError(std::string(option) + " must be " + (is_word ? "a word" : "one line"));
}

void check_hub(const HubOptions& hub) {
  if (hub.folder.empty()) {
    if (!hub.genome.empty() || !hub.email.empty())
      throw UsageError("--hub-genome and --hub-email belong to --hub", "add --hub DIR");
    return;
  }
  if (hub.genome.empty())
    throw UsageError("--hub needs the genome's name in the browser", "add --hub-genome, for example hg38");
  if (hub.name.empty()) throw UsageError("--hub-name is empty");
  check_hub_text("--hub-genome", hub.genome, true);
  check_hub_text("--hub-email", hub.email, true);
  check_hub_text("--hub-name", hub.name, false);
}

void decode(const DecodeArguments& arguments) {
  DecodeOptions options = arguments.options;
  require_inputs(arguments.common.input, "INPUT");
  options.run = run_options(arguments.common);
  check_hub(options.hub);
  options.output = output_path(arguments.common, "segments.bed");
  if (arguments.cell && options.chromhmm.folder.empty())
    throw UsageError("--cell belongs to --chromhmm-out", "add --chromhmm-out FOLDER");
  options.chromhmm.cell = arguments.cell.value_or(
      options.run.input.samples.size() == 1
          ? options.run.input.samples.front().substr(0, options.run.input.samples.front().find('='))
          : options.chromhmm.cell);
  const bool has_folder = !options.hub.folder.empty() || !options.chromhmm.folder.empty();
  if (has_folder && arguments.common.output.empty() && arguments.common.prefix.empty())
    options.output.clear();
  options.run.multiqc = multiqc_target(arguments.multiqc, options.output);
  if (!arguments.score.empty())
    options.score = arguments.score == "posterior" ? ScoreColumn::kPosterior : ScoreColumn::kNone;
  if (!arguments.rule.empty())
    options.rule = arguments.rule == "posterior" ? PathRule::kPosterior : PathRule::kViterbi;
  options.review_top = arguments.review_top.value_or(kDefaultReviewTop);
  options.review_top_given = arguments.review_top.has_value();
  options.entropy = !arguments.no_entropy;
  run_or_plan(arguments.common, options, run_decode, plan_decode);
}

constexpr const char kOutputsHelp[] =
    "Outputs:\n"
    "  -o FILE           segments, BED9: chrom start end label score . start end r,g,b; the score is\n"
    "                    1000 x the mean of P(label|bin) where posteriors are computed, else 0;\n"
    "                    bigBed when FILE ends in .bb, with p_label, p_start and p_end behind them where\n"
    "                    posteriors are computed, and with p_segment by --extra-columns;\n"
    "                    ENCODE narrowPeak when FILE ends in .narrowPeak: signalValue is the highest\n"
    "                    bin of the track that carries the label's signal, peak its middle, qValue\n"
    "                    -log10(1 - the mean of P(label|bin)), pValue -1;\n"
    "                    SEG (IGV) when FILE ends in .seg, CNS (CNVkit) when it ends in .cns: bins with\n"
    "                    a value and mean of the track log2 (or the first one); CNS with the copies of\n"
    "                    labels such as 3 or 2+1, and p_label; VCF when it ends in .vcf or .vcf.gz: the\n"
    "                    segments whose copies are not two, one of each parent;\n"
    "                    Praat TextGrid when FILE ends in .TextGrid, with --rate: of several sequences\n"
    "                    out.TextGrid becomes out.NAME.TextGrid, one of each;\n"
    "                    with --best N and -o out.bed: out.1.bed ... out.N.bed, the best first, with the\n"
    "                    score 0 and only as many files as there are segmentations. Of several regions or\n"
    "                    chromosomes, out.R.bed has the R-th best of each that has so many. --stats has\n"
    "                    the score and log_probability = ln P(segmentation) of each\n"
    "  --table FILE      a line per segment, columns separated by tabs: chrom start end label;\n"
    "                    p_label, the mean of P(label|bin); p_segment, P(exactly this segment), or . for "
    "one\n"
    "                    that --merge-adjacent joined; p_start and p_end, P(a segment of this label "
    "starts\n"
    "                    at its start; ends at its end)\n"
    "  --boundaries FILE a line per boundary of the path: chrom position, the labels from and to, p = P(a\n"
    "                    segment of the second label starts there), lower and upper: such a segment\n"
    "                    starts between these positions with at least the probability --intervals\n"
    "  --review FILE     the uncertain boundaries, of which the interval is wider than one bin or "
    "missing,\n"
    "                    for a look at each, BED9: chrom, start and end of the interval, FROM>TO, 1000 x "
    "p,\n"
    "                    ., the bin of the boundary, colour of TO; the least p first. Where there is no "
    "interval,\n"
    "                    start and end are those of the two segments beside the boundary. At most\n"
    "                    --review-top lines; they are not sorted by position, so that --write-index leaves\n"
    "                    this file out\n"
    "  --posterior FILE  boundary posterior of the same run, bedGraph, or bigWig when FILE ends in .bw\n"
    "  --hub DIR         a track hub of the UCSC genome browser (hub.txt, genomes.txt, trackDb.txt), with\n"
    "                    segments.bb, boundaries.bw, labels.NAME.bw for each label, signal.NAME.bw, a copy\n"
    "                    of each bigWig input, and igv_session.xml.\n"
    "                    DIR is made where it is missing; without -o and --prefix there is no other file\n"
    "  --chromhmm-out DIR  what ChromHMM writes, with N states in the order of the labels:\n"
    "                    CELL_N_segments.bed, CELL_N_dense.bed, CELL_N_expanded.bed, labels_N.txt,\n"
    "                    POSTERIOR/CELL_N_CHROMOSOME_posterior.txt; emissions_N.txt of 0/1 tracks, and\n"
    "                    model_N.txt and transitions_N.txt of hidden Markov models. DIR as of --hub\n"
    "  --prefix PREFIX   PREFIX.segments.bed and PREFIX.stats.json\n";

// A check of a number: whether it is a T that meets `condition`; `what` follows "must be".
template <class T, class Condition>
CLI::Validator number_check(const std::string& what, Condition condition) {
  return CLI::Validator(
      [what, condition](std::string& text) {
        T value{};
        return CLI::detail::lexical_cast(text, value) && condition(value)
                   ? std::string()
                   : "must be " + what + ", not '" + text + "'";
      },
      "");
}

void add_path_options(CLI::App& command, DecodeArguments& arguments) {
  add_choice(command, "--rule", arguments.rule,
             "which segmentation: viterbi, the most probable one; or posterior, the labels that are expected "
             "to be right at most bins, among those whose changes of label the model allows (default: as the "
             "parameters say, else viterbi)",
             {"viterbi", "posterior"});
  add_repeatable(command, "--threshold", arguments.options.thresholds,
                 "LABEL=P: call this label where P(label|bin) is at least P, and nowhere else, as far as the "
                 "model allows its changes of label; the other labels are those of --rule posterior")
      ->type_name("LABEL=P");
  command
      .add_option(
          "--gamma", arguments.options.gamma,
          "with --rule posterior: how much a right boundary counts, where a right bin counts 1 (default: 0)")
      ->check(number_check<double>("a number of at least 0",
                                   [](double weight) { return std::isfinite(weight) && weight >= 0; }));
  add_number(command, "--best", arguments.options.best,
             "write the N best segmentations, all different, each to a file of its own",
             CLI::Range(1, kMostBestPaths));
}

void add_table_options(CLI::App& command, DecodeArguments& arguments) {
  command.add_option("--posterior", arguments.options.posterior_path,
                     "also write the boundary posterior (bedGraph) to this file");
  command.add_option("--table", arguments.options.table_path,
                     "also write a table of the segments (TSV) to this file");
  command.add_option("--boundaries", arguments.options.boundaries_path,
                     "also write a table of the boundaries (TSV) to this file");
  command.add_option("--review", arguments.options.review_path,
                     "also write the uncertain boundaries (BED), the least certain first, to this file");
  command
      .add_option("--review-top", arguments.review_top,
                  "most lines of --review, those of the least certain boundaries (default: 200)")
      ->check(number_check<std::int64_t>("a whole number of at least 1",
                                         [](std::int64_t lines) { return lines >= 1; }))
      ->type_name("INT");
  command
      .add_option(
          "--intervals", arguments.options.interval_level,
          "probability of the interval around each boundary in --boundaries and --review (default: 0.95); "
          "adds the columns start_lower and start_upper to --table")
      ->check(number_check<double>("a probability above 0 and below 1",
                                   [](double level) { return level > 0 && level < 1; }));
}

void add_segment_options(CLI::App& command, DecodeArguments& arguments) {
  add_choice(command, "--score", arguments.score,
             "score column: posterior (computes posteriors; default) or none (0, unless another output needs "
             "posteriors), which saves the time that they take",
             {"posterior", "none"});
  add_list(command, "--only", arguments.options.only,
           "write the segments of these labels alone to -o; a list separated by commas (default: of all; "
           "in .narrowPeak of all but the label of train --background)",
           "LABEL,...");
  command.add_flag("--merge-adjacent", arguments.options.merge_adjacent,
                   "join touching segments of one label");
  command.add_flag("--extra-columns", arguments.options.extra_columns,
                   "add p_segment to bigBed; deprecated for BED, use --table: add p_segment, p_start and "
                   "p_end as columns 10 to 12, which makes a file that is not BED");
}

void add_hub_options(CLI::App& command, HubOptions& hub) {
  command
      .add_option("--hub", hub.folder, "also write a folder that the UCSC genome browser and IGV can open")
      ->type_name("DIR");
  command
      .add_option("--hub-genome", hub.genome, "with --hub: the browser's name of the genome, such as hg38")
      ->type_name("NAME");
  command.add_option("--hub-name", hub.name, "with --hub: the name of the hub")
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option("--hub-email", hub.email,
                  "with --hub: address for questions; the UCSC browser requires one of public hubs")
      ->type_name("ADDRESS");
  command.add_flag("--no-hub-tracks", hub.no_tracks, "with --hub: leave out the copies of bigWig inputs");
}

void add_chromhmm_options(CLI::App& command, DecodeArguments& arguments) {
  command
      .add_option("--chromhmm-out", arguments.options.chromhmm.folder,
                  "also write a folder that programs for ChromHMM's read")
      ->type_name("DIR");
  command
      .add_option("--cell", arguments.cell,
                  "--chromhmm-out: name of the cell type (default: the sample's, else cell)")
      ->type_name("NAME");
}

}  // namespace

void add_decode_command(CLI::App& program) {
  CLI::App* command = add_command(program, "decode", "Find the best segmentation and write it as BED.",
                                  kOutputsHelp + multiqc_help() + shared_outputs_help());
  const auto arguments = std::make_shared<DecodeArguments>();
  add_common_options(*command, arguments->common);
  add_sites_option(*command, arguments->common.input);
  add_path_options(*command, *arguments);
  add_entropy_option(*command, arguments->no_entropy);
  add_multiqc_options(*command, arguments->multiqc);
  add_table_options(*command, *arguments);
  add_segment_options(*command, *arguments);
  add_hub_options(*command, arguments->options.hub);
  add_chromhmm_options(*command, *arguments);
  command->callback([arguments] { decode(*arguments); });
}

}  // namespace semicrf
