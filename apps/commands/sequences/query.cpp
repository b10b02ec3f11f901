// semicrf query: the probabilities of claims.
#include <memory>

#include "apps/commands.h"
#include "apps/options/common_options.h"
#include "apps/options/run_or_plan.h"
#include "query/query_run.h"

namespace semicrf {
namespace {

struct QueryArguments {
  CommonArguments common;
  std::string claims;
};

void query(const QueryArguments& arguments) {
  QueryOptions options;
  options.run = run_options(arguments.common);
  options.claims = arguments.claims;
  options.output = output_path(arguments.common, "claims.tsv");
  run_or_plan(arguments.common, options, run_query, plan_query);
}

}  // namespace

void add_query_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "query", "Give the exact probabilities of claims about the segmentation.",
      "A claim is a BED line whose name (column 4) says what is claimed of its interval:\n"
      "  segment:LABEL  it is exactly one segment of LABEL\n"
      "  boundary       at least one segment starts in it\n"
      "  no-boundary    none does\n"
      "  label:LABEL    all of it is LABEL, in one segment or several\n"
      "  within:LABEL   it lies inside one segment of LABEL\n"
      "  starts:LABEL   at least one segment of LABEL starts in it\n"
      "  ends:LABEL     at least one segment of LABEL has its last bin in it\n"
      "Intervals are widened to whole bins. The first bin of a stretch that is decoded starts a segment.\n\n"
      "Outputs:\n"
      "  -o FILE  a line per claim, in the order of the claims, tab-separated: chrom, start, end, claim,\n"
      "           probability and log_odds = ln(p / (1 - p)); . where the interval is not decoded\n"
      "  --prefix PREFIX   PREFIX.claims.tsv and PREFIX.stats.json\n" +
          shared_outputs_help());
  const auto arguments = std::make_shared<QueryArguments>();
  add_common_options(*command, arguments->common);
  command->remove_option(command->get_option("--digits"));
  add_number(*command, "--digits", arguments->common.digits,
             "significant digits of probabilities and log odds", CLI::Range(1, 17));
  command->add_option("--claims", arguments->claims, "BED file of claims; - for standard input")->required();
  command->callback([arguments] { query(*arguments); });
}

}  // namespace semicrf
