// semicrf posterior: the probability of a boundary at every bin.
#include <memory>

#include "apps/commands.h"
#include "apps/options/common_options.h"
#include "apps/options/run_or_plan.h"
#include "runs/run.h"

namespace semicrf {
namespace {

struct PosteriorArguments {
  CommonArguments common;
  PosteriorOptions options;
  bool no_entropy = false;
};

void posterior(const PosteriorArguments& arguments) {
  PosteriorOptions options = arguments.options;
  require_inputs(arguments.common.input, "INPUT");
  options.run = run_options(arguments.common);
  options.output = output_path(arguments.common, "boundary.bedgraph");
  options.entropy = !arguments.no_entropy;
  run_or_plan(arguments.common, options, run_posterior, plan_posterior);
}

}  // namespace

void add_posterior_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "posterior", "Compute the probability of a boundary at every bin, as bedGraph.",
      "Outputs:\n"
      "  -o FILE            bedGraph: the value of a bin is the probability that a segment starts there; or\n"
      "                     bigWig, when FILE ends in .bw\n"
      "  --labels-out NAME  label posteriors: bedGraph files NAME.LABEL.bedgraph (.gz when -o is); of "
      "NAME.bw\n"
      "                     bigWig files NAME.LABEL.bw; or, when NAME ends in .npy, one array (bins, labels) "
      "of\n"
      "                     the only sequence, NaN where nothing was computed\n"
      "  --starts-out NAME  files like these of P(a segment of the label starts at the bin)\n"
      "  --ends-out NAME    files like these of P(a segment of the label has its last bin there)\n"
      "  --counts-out FILE  .npz: log_partition (1), and the expected numbers of transitions: transition (C, "
      "C)\n"
      "                     [from][to]; of segments: duration (K, C), where row k-1 is duration k; and of "
      "bins\n"
      "                     beyond K: tail (C); summed over all pieces\n"
      "  --prefix PREFIX    PREFIX.boundary.bedgraph and PREFIX.stats.json\n" +
          shared_outputs_help());
  const auto arguments = std::make_shared<PosteriorArguments>();
  add_common_options(*command, arguments->common);
  add_sites_option(*command, arguments->common.input);
  command
      ->add_option(
          "--labels-out", arguments->options.labels_out,
          "also write the label posteriors: a prefix for bedGraph files, an .npy file of one sequence, or "
          "an .npz file of all")
      ->type_name("PREFIX|FILE");
  command
      ->add_option("--starts-out", arguments->options.starts_out,
                   "also write, per label, the probability that a segment of it starts at the bin: a prefix "
                   "for bedGraph files, or an .npy file")
      ->type_name("PREFIX|FILE");
  command
      ->add_option("--ends-out", arguments->options.ends_out,
                   "also write, per label, the probability that a segment of it has its last bin there: a "
                   "prefix for bedGraph files, or an .npy file")
      ->type_name("PREFIX|FILE");
  command->add_option("--counts-out", arguments->options.counts_out,
                      "also write log Z and the expected counts of transitions, durations and tails to this "
                      ".npz file");
  add_entropy_option(*command, arguments->no_entropy);
  command
      ->add_option("--min-posterior", arguments->options.min_posterior,
                   "leave out bins with a smaller probability")
      ->check(CLI::Range(0.0, 1.0));
  command->callback([arguments] { posterior(*arguments); });
}

}  // namespace semicrf
