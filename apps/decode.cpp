// semicrf decode: the best segmentation.
#include <cstdio>
#include <memory>

#include "apps/commands.h"
#include "apps/common_options.h"
#include "apps/run_or_plan.h"
#include "pipeline/run/run.h"

namespace semicrf {
namespace {

struct DecodeArguments {
  CommonArguments common;
  std::string posterior;
  bool merge_adjacent = false;
  bool extra_columns = false;
};

void decode(const DecodeArguments& arguments) {
  DecodeOptions options;
  options.run = run_options(arguments.common);
  options.output = output_path(arguments.common, "segments.bed");
  options.posterior_path = arguments.posterior;
  options.merge_adjacent = arguments.merge_adjacent;
  options.extra_columns = arguments.extra_columns;
  run_or_plan(arguments.common, options, run_decode, plan_decode);
}

}  // namespace

void add_decode_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "decode", "Find the best segmentation (Viterbi) and write it as BED.",
      "Outputs:\n"
      "  -o FILE           segments, BED9: chrom start end label score . start end r,g,b; with --posterior\n"
      "                    or --extra-columns the score is 1000 x the mean of P(label|bin), else 0\n"
      "                    --extra-columns adds three columns: P(exactly this segment), or . for one that\n"
      "                    --merge-adjacent joined; P(a segment of this label starts at its start);\n"
      "                    P(a segment of this label ends at its end)\n"
      "  --posterior FILE  boundary posterior of the same run, bedGraph\n"
      "  --prefix PREFIX   PREFIX.segments.bed and PREFIX.stats.json\n" +
          shared_outputs_help());
  const auto arguments = std::make_shared<DecodeArguments>();
  add_common_options(*command, arguments->common);
  command->add_option("--posterior", arguments->posterior,
                      "also write the boundary posterior (bedGraph) to this file");
  command->add_flag("--merge-adjacent", arguments->merge_adjacent, "join touching segments of one label");
  command->add_flag(
      "--extra-columns", arguments->extra_columns,
      "add three BED columns: the posteriors of exactly this segment, of its start and of its end");
  command->callback([arguments] { decode(*arguments); });
}

}  // namespace semicrf
