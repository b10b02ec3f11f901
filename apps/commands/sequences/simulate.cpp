// semicrf simulate: segmentations drawn from the model.
#include <fmt/format.h>

#include <memory>

#include "apps/commands.h"
#include "apps/options/common_options.h"
#include "apps/options/run_or_plan.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "runs/run.h"

namespace semicrf {
namespace {

struct SimulateArguments {
  CommonArguments common;
  std::vector<std::int64_t> lengths;
  std::vector<std::string> names;
  SimulateOptions options;
  std::string seed = "1";
};

// Without names: "simulated", or simulated1, simulated2, ...
std::vector<GeneratedSequence> generated_sequences(const SimulateArguments& arguments) {
  const std::size_t count = arguments.lengths.size();
  if (!arguments.names.empty() && arguments.names.size() != count)
    throw UsageError(
        fmt::format("--name is given {} times, --length {} times", arguments.names.size(), count),
        "give one --name per --length, or none");
  std::vector<GeneratedSequence> sequences;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = count == 1 ? "simulated" : fmt::format("simulated{}", i + 1);
    if (!arguments.names.empty()) name = arguments.names[i];
    if (const std::string problem = sequence_name_problem(name); !problem.empty())
      throw UsageError("--name: " + problem, "");
    sequences.push_back({name, arguments.lengths[i]});
  }
  return sequences;
}

std::uint64_t parse_seed(const std::string& text) {
  const auto seed = number_in<std::uint64_t>(text);
  if (!seed) throw UsageError("--seed must be a whole number from 0 to 2^64-1, not '" + text + "'");
  return *seed;
}

void simulate(const SimulateArguments& arguments) {
  SimulateOptions options = arguments.options;
  options.run = run_options(arguments.common);
  options.run.input.generated = generated_sequences(arguments);
  options.run.input.seed = options.seed = parse_seed(arguments.seed);
  options.output = output_path(arguments.common, "segments.bed");
  run_or_plan(arguments.common, options, run_simulate, plan_simulate);
}

}  // namespace

void add_simulate_command(CLI::App& program) {
  constexpr int kMostDraws = 500;  // each has a file open
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;
  CLI::App* command = add_command(
      program, "simulate", "Draw segmentations from their exact distribution.",
      "The distribution is P(segmentation | scores). The scores are those of INPUT, or, with --length,\n"
      "random: N(0,1) label scores, or tracks whose features are N(0,1) when the parameters have an\n"
      "emission section. A seed gives the same bytes for any number of threads and any memory.\n\n"
      "Outputs:\n"
      "  -o FILE           drawn segments, BED9 as decode writes them, score 0; bigBed when FILE ends in\n"
      "                    .bb;\n"
      "                    with --draws N and -o out.bed: out.1.bed ... out.N.bed\n"
      "  --emissions NAME  the random scores or raw tracks of --length, float32: when NAME ends in .npy\n"
      "                    one file (bins, columns), else one per sequence, NAME.SEQUENCE.npy\n"
      "  --prefix PREFIX   PREFIX.segments.bed and PREFIX.stats.json, which has log_partition and the\n"
      "                    log_likelihood of each draw\n" +
          shared_outputs_help());
  const auto arguments = std::make_shared<SimulateArguments>();
  add_common_options(*command, arguments->common);
  command->remove_option(command->get_option("--digits"));
  command
      ->add_option("--length", arguments->lengths,
                   "bins of a random sequence, in place of inputs; may be repeated")
      ->check(CLI::Range(std::int64_t{1}, kLongest))
      ->type_name("INT")
      ->allow_extra_args(false);
  command
      ->add_option("--name", arguments->names,
                   "name of a random sequence, one per --length (default: simulated); may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "seed of the random numbers, 0 or more")
      ->type_name("INT")
      ->capture_default_str();
  add_number(*command, "--draws", arguments->options.draws,
             "number of segmentations to draw for the same scores", CLI::Range(1, kMostDraws));
  command
      ->add_option("--emissions", arguments->options.emissions,
                   "write the random scores or tracks of --length")
      ->type_name("PREFIX|FILE");
  command->callback([arguments] { simulate(*arguments); });
}

}  // namespace semicrf
