// semicrf bench: speed and accuracy on this machine.
#include "bench/bench.h"

#include <memory>

#include "apps/commands.h"
#include "apps/console/console.h"
#include "apps/options/common_options.h"
#include "core/error.h"

namespace semicrf {
namespace {

struct BenchArguments {
  EngineArguments engine;
  std::string workload;  // --workload; empty: not given
  BenchWorkload shape;
  std::string operation = "all";
  int repeats = 3;
  std::uint64_t seed = 1;
  bool check = false;
  bool io_only = false;
  bool verbose = false;
  InputOptions input;
  std::string output;
};

void bench_io(const BenchArguments& arguments) {
  IoBenchOptions options;
  options.repeats = arguments.repeats;
  options.decode.run.input = arguments.input;
  options.decode.run.engine = engine_options(arguments.engine);
  options.decode.run.version = SEMICRF_VERSION;
  options.decode.output = arguments.output;
  options.decode.score = ScoreColumn::kNone;  // posteriors would hide what the input takes
  run_io_bench(options, [](const std::string& line) { print(line + "\n"); });
}

std::vector<BenchWorkload> workloads_of(const BenchArguments& arguments) {
  const BenchWorkload& shape = arguments.shape;
  const bool sized = shape.max_duration > 0 || shape.num_labels > 0;
  if (!arguments.workload.empty() && arguments.workload != "normal") {
    if (sized || shape.log_tail < 0 || shape.score_scale != 1)
      throw UsageError("--workload " + arguments.workload +
                       " has its own K, C, tails and scores; of the shape only -T can be given");
    BenchWorkload real = real_workload(arguments.workload);
    if (shape.length > 0) real.length = shape.length;
    return {real};
  }
  const int given =
      (shape.length > 0 ? 1 : 0) + (shape.max_duration > 0 ? 1 : 0) + (shape.num_labels > 0 ? 1 : 0);
  if (given != 0 && given != 3) throw UsageError("-T, -K and -C must be given together");
  if (given == 3) return {shape};
  std::vector<BenchWorkload> workloads = standard_workloads();
  for (BenchWorkload& workload : workloads) workload.score_scale = shape.score_scale;
  return workloads;
}

void bench(const BenchArguments& arguments) {
  set_up_logging(arguments.verbose ? Verbosity::kVerbose : Verbosity::kNormal, "");
  const int files = (arguments.input.parameters.empty() ? 0 : 1) + (arguments.input.inputs.empty() ? 0 : 1) +
                    (arguments.output.empty() ? 0 : 1);
  if (files != (arguments.io_only ? 3 : 0))
    throw UsageError("--io-only, -p, -o and INPUT must be given together");
  if (arguments.io_only) return bench_io(arguments);
  BenchOptions options;
  options.engine = engine_options(arguments.engine);
  options.repeats = arguments.repeats;
  options.seed = arguments.seed;
  const auto wanted = [&](const char* operation) {
    return arguments.operation == "all" || arguments.operation == operation;
  };
  options.forward = wanted("forward");
  options.viterbi = wanted("viterbi");
  options.posterior = wanted("posterior");
  options.gradient = wanted("gradient");
  options.check = arguments.check;
  options.workloads = workloads_of(arguments);
  for (BenchWorkload& workload : options.workloads) {
    workload.min_duration = arguments.shape.min_duration;
    workload.forbidden = arguments.shape.forbidden;
    workload.masked = arguments.shape.masked;
  }
  run_bench(options, [](const std::string& line) { print(line + "\n"); });
}

}  // namespace

void add_bench_command(CLI::App& program) {
  CLI::App* command = add_command(
      program, "bench", "Measure speed and accuracy of the engines on random data.",
      "Output: JSON lines on standard output, one per workload, operation\n"
      "(viterbi_sweep leaves the traceback out) and number of threads (1 and -t).\n"
      "fallbacks_per_block: which share of the blocks of 16 positions of each pass was computed by\n"
      "a slower, exact method. Speed on N(0,1) scores says little of data on which it is large.\n");
  const auto arguments = std::make_shared<BenchArguments>();
  add_engine_options(*command, arguments->engine);
  command
      ->add_option(
          "-T,--positions", arguments->shape.length,
          "number of positions; give -T, -K and -C for one workload of your own; -T alone sets the length\n"
          "of a --workload (of each of its sequences)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  command->add_option("-K,--max-duration", arguments->shape.max_duration, "longest segment in positions")
      ->check(CLI::PositiveNumber);
  command->add_option("-C,--labels", arguments->shape.num_labels, "number of labels")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--log-tail", arguments->shape.log_tail,
                   "with -T: gives every label a tail, the log of the probability to go on by a position")
      ->check(CLI::Range(-100.0, -1e-9));
  add_number(*command, "--score-scale", arguments->shape.score_scale,
             "standard deviation of normal scores; log-likelihoods are as large as 10 to 100",
             CLI::PositiveNumber);
  add_number(*command, "--min-duration", arguments->shape.min_duration,
             "forbids shorter segments, as a minimum duration in a parameter file does", CLI::PositiveNumber);
  add_number(*command, "--forbidden", arguments->shape.forbidden, "makes scores -inf with this probability",
             CLI::Range(0.0, 0.9));
  add_number(*command, "--masked", arguments->shape.masked,
             "makes scores -1e9 with this probability, as masks do", CLI::Range(0.0, 0.9));
  add_choice(*command, "--workload", arguments->workload,
             "normal: N(0,1) scores of several shapes, or of -T, -K and -C (the default). Drawn with the\n"
             "statistics of real data: chr11 (chromatin states), yeast (genes), speech (32 x 300 frames)",
             {"normal", "chr11", "yeast", "speech"});
  add_choice(*command, "--operation", arguments->operation,
             "forward (log Z alone), viterbi, posterior, gradient or all",
             {"forward", "viterbi", "posterior", "gradient", "all"});
  add_number(*command, "--repeats", arguments->repeats, "runs of each operation; the median is reported",
             CLI::PositiveNumber);
  command->add_option("--seed", arguments->seed, "seed of the random numbers")->capture_default_str();
  command->add_flag("--check", arguments->check,
                    "also compare the results with those of the reference engine (slow)");
  command->add_flag(
      "--io-only", arguments->io_only,
      "measure reading the inputs and copying them to the device, and a whole decode --score none "
      "beside it");
  command->add_flag("-v,--verbose", arguments->verbose,
                    "with --io-only: write the seconds of every stage to standard error");
  command->add_option("-p,--params", arguments->input.parameters, "with --io-only: parameter file");
  command->add_option("-o,--output", arguments->output, "with --io-only: the BED file to write");
  command->add_option("INPUT", arguments->input.inputs, "with --io-only: one or more NPY arrays of scores");
  command->callback([arguments] { bench(*arguments); });
}

}  // namespace semicrf
