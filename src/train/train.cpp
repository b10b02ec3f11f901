#include "train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/process_memory.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "engine/options.h"
#include "io/checkpoint/checkpoint.h"
#include "io/files/output_file.h"
#include "io/json/stats_json.h"
#include "io/params/params_json.h"
#include "log/log.h"
#include "model/missing_tracks.h"
#include "runs/device_choice.h"
#include "train/fit/adamw_fit.h"
#include "train/fit/calibration.h"
#include "train/fit/fit_state.h"
#include "train/fit/lbfgs_fit.h"
#include "train/fit/training_problem.h"
#include "train/objective/objective.h"
#include "train/objective/piece_sums.h"
#include "train/ranks/ranks.h"
#include "train/start/training_setup.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void check_files(const TrainOptions& options, const std::vector<std::string>& inputs) {
  std::vector<OutputSpec> outputs{{options.output, IndexKind::kNone}};
  for (const std::string& path : {options.checkpoint.file, options.stats_path})
    if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
  if (options.multiqc.wanted())
    for (const std::string& kind : kTrainingDocuments)
      outputs.push_back({multiqc_path(options.multiqc, kind), IndexKind::kNone});
  check_outputs(outputs, inputs);
}

std::size_t needed_memory(const TrainingSetup& setup, const EngineOptions& engine) {
  std::size_t bytes = fixed_memory(setup.inputs.kept_bytes);
  for (const TrainingData* data : {&setup.inputs.training, &setup.inputs.validation})
    bytes += data->positions() * sizeof(float) *
             (data->num_tracks + data->boundary_arrays() * setup.first.num_labels());
  return bytes + objective_bytes(setup.inputs.training, setup.first, engine);
}

// Bytes of the whole program: what is in memory after reading, and what the fit adds to it as a rule.
std::size_t forecast_peak(const TrainingSetup& setup, const TrainOptions& options, std::size_t coordinates) {
  // Vectors of coordinates: the history of L-BFGS, and a few.
  const std::size_t vectors = options.optimizer == Optimizer::kAdamW ? 12 : 2 * 40 + 12;
  constexpr std::size_t kRunMemory = std::size_t{2} << 20;       // what else a fit touches of the program
  constexpr std::size_t kThreadMemory = std::size_t{128} << 10;  // stack and heap of a thread
  const std::size_t fit =
      objective_bytes(setup.inputs.training, setup.first, options.engine, NeedOf::kUsual) +
      vectors * coordinates * sizeof(double) + kRunMemory + options.engine.threads * kThreadMemory;
  return std::max(wide(resident_bytes().all()) + fit, wide(peak_resident_bytes()));
}

void check_memory(const TrainOptions& options, std::size_t needed) {
  check_memory_limit(options.max_memory, needed, "training", "",
                     "give --max-memory " + memory_option(needed) +
                         ", train on fewer regions, or use --optimizer adamw with a smaller --window");
}

// AdamW sees windows in the place of pieces.
void cut_for(const TrainOptions& options, TrainingSetup& setup) {
  if (options.optimizer != Optimizer::kAdamW) return;
  setup.inputs.training = cut_into_windows(setup.inputs.training, options.adamw.window);
}

std::string short_number(double value) { return fmt::format("{:.3g}", value); }

std::string shape_text(const TrainingSetup& setup, std::size_t coordinates) {
  const Parameters& first = setup.first;
  const std::ptrdiff_t inputs = std::ranges::count_if(first.tracks, &Track::is_input);
  const std::ptrdiff_t squares = std::ranges::count_if(first.tracks, &Track::is_square);
  std::string text = fmt::format(
      "{}, {}{}, durations {} up to {}{}", plural(first.num_labels(), "label"), plural(inputs, "track"),
      squares > 0 ? " with " + plural(squares, "square") : "", std::string(first.duration.kind->name()),
      first.chain.max_duration, first.chain.has_tail() ? " bins and a tail" : " bins");
  if (!setup.emission_text.empty()) text += ", emissions " + escape_control(setup.emission_text);
  if (first.boundary)
    text += fmt::format(", boundary window {}..{}", first.boundary->first, first.boundary->last);
  if (setup.margin > 0) text += ", margin " + short_number(setup.margin);
  return text + "; " + plural(coordinates, "free parameter");
}

std::string data_text(const TrainingData& data) {
  const std::string text = plural(data.positions(), "bin") + ", " + plural(data.segments(), "segment") +
                           ", " + plural(data.pieces.size(), "piece");
  const std::int64_t free = data.free_positions();
  return free == 0 ? text : text + "; " + plural(free, "bin") + " may have any label";
}

void say(const TrainLog& log, const std::string& line) {
  if (log.info) log.info(line);
}

FitState start_state(const TrainOptions& options, const TrainingSetup& setup, const ParameterSpace& space,
                     const TrainLog& log) {
  if (!is_resumed(options.checkpoint, "the training", [&](const std::string& line) { say(log, line); })) {
    FitState state;
    state.x = space.pack(setup.first);
    return state;
  }
  FitState state = read_checkpoint(options.checkpoint.resume, setup.fingerprint, space.size());
  // A fit that only ran out of iterations goes on when it is given more.
  if (state.finished && !state.converged && state.iteration < options.stop.max_iterations)
    state.finished = false;
  const bool within_round =
      options.optimizer == Optimizer::kLbfgs && !state.finished && state.iteration % kRound != 0;
  say(log,
      fmt::format("resumed after iteration {}{}", state.iteration,
                  within_round
                      ? fmt::format(", within a round of {}: from here on the steps differ from those of a "
                                    "fit without a stop, and the model is the same only where both converge",
                                    kRound)
                      : ""));
  return state;
}

void write_statistics(const TrainOptions& options, const TrainingSetup& setup, const std::string& device,
                      std::vector<std::pair<std::string, double>> timings) {
  if (options.stats_path.empty()) return;
  Stats stats;
  stats.version = options.version;
  stats.device = device;
  stats.timings = std::move(timings);
  stats.peak_memory = peak_resident_bytes();
  stats.warnings = setup.inputs.warnings;
  write_stats(options.stats_path, stats, setup.inputs.sequences);
}

// What info shows beside the duration scores: the durations of the training labels, and those of `decoded`.
std::vector<TrainingRecord::Durations> durations_of(const PathCounts& counts, const Parameters& parameters,
                                                    const std::vector<std::vector<Segment>>& decoded) {
  std::vector<std::vector<std::int64_t>> found(parameters.labels.size());
  for (const std::vector<Segment>& path : decoded)
    for (const Segment& segment : path) found[segment.label].push_back(segment.end - segment.begin);
  std::vector<TrainingRecord::Durations> durations;
  durations.reserve(found.size());
  for (std::size_t c = 0; c < found.size(); ++c)
    durations.push_back({parameters.labels[c].name, seen_durations(counts.durations[c]),
                         seen_durations(std::move(found[c]))});
  return durations;
}

// The parameters that the fit ended with, their scores scaled where it had a margin, and the record of it.
Parameters finish(const TrainOptions& options, const ParameterSpace& space, const FitState& state,
                  const PieceSums& sums, const TrainLog& log, TrainingSetup& setup) {
  using Of = PieceSums::Of;
  const bool use_best = state.best_validation.has_value();
  Parameters trained = space.unpack(use_best ? state.best_x : state.x);
  const bool validates = !setup.inputs.validation.pieces.empty();
  TrainingRecord& record = setup.record;
  if (setup.margin > 0 && options.freeze.empty() && is_scalable(trained)) {
    record.scale = likeliest_factor(trained, [&](const Parameters& parameters) {
      return sums.mean_nll(validates ? Of::kValidation : Of::kTraining, parameters);
    });
    trained = scaled(std::move(trained), *record.scale);
    say(log, "calibration: all scores are multiplied by " + short_number(*record.scale) +
                 ", so that the probabilities fit the " + (validates ? "validation" : "training") +
                 " data; the best segmentation stays the same");
  }
  record.iterations = state.iteration;
  record.best_iteration = use_best ? state.best_iteration : state.iteration;
  record.durations = durations_of(setup.counts, trained, sums.paths(trained));
  record.nll = sums.mean_nll(Of::kTraining, trained);
  if (use_best) record.validation_nll = sums.mean_nll(Of::kValidation, trained);
  record.converged = state.converged;
  record.stopped_because = state.reason;
  trained.training = training_record_text(record);
  remove_absences(trained);
  return trained;
}

// What a run says before it trains.
void say_setup(const TrainOptions& options, const TrainingSetup& setup, const std::string& device,
               const TrainLog& log) {
  for (const std::string& line : first_lines(setup.inputs.binding)) say(log, "input: " + line);
  if (!setup.inputs.proposal.empty()) say(log, "input: " + setup.inputs.proposal);
  if (const std::string step = describe(setup.inputs.steps); !step.empty())
    say(log, "step of the tracks: " + step);
  if (const auto note = bin_size_note(setup.inputs.steps, setup.first.bin_size)) say(log, *note);
  say(log, "engine: " + device);
  if (setup.first.edges == EdgeRule::kCensored && setup.inputs.cut && !options.input.edges)
    say(log,
        "edges: censored, as pieces end within their sequences: a segment at a cut may go on beyond it; "
        "--edges complete takes it for a whole one");
  for (const std::string& line : first_lines(setup.inputs.missing.lines())) say(log, "missing: " + line);
  if (const std::string total = setup.inputs.missing.summary(); !total.empty()) say(log, "missing: " + total);
  if (log.warn)
    for (const Warning& warning : setup.inputs.warnings) log.warn(warning);
}

void say_problem(const TrainingSetup& setup, std::size_t coordinates, const Ranks& ranks,
                 const TrainLog& log) {
  if (ranks.size() > 1)
    say(log, fmt::format("ranks: the pieces are shared out to {} processes", ranks.size()));
  say(log, "training: " + data_text(setup.inputs.training));
  if (!setup.inputs.validation.pieces.empty()) say(log, "validation: " + data_text(setup.inputs.validation));
  say(log, "model: " + shape_text(setup, coordinates));
}

// All ranks have read the same, and compute the same way.
void check_alike(const std::vector<std::string>& found) {
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i] != found.front())
      throw InputError({"", "",
                        fmt::format("rank {} has other files than rank 0, or another engine ({} against {})",
                                    i, found[i], found.front()),
                        "give every machine the same files, and --device and --instruction-set where their "
                        "processors differ"});
}

// Reads and checks on every rank. Outputs are rank 0's.
TrainingSetup set_up_ranks(const TrainOptions& options, Ranks& ranks, std::string& device) {
  std::optional<TrainingSetup> setup;
  const std::vector<std::string> found = ranks.gather([&] {
    setup = set_up_training(options);
    if (ranks.is_first()) check_files(options, setup->inputs.paths);
    device = engine_line(*make_engine(options.engine, setup->first.chain), options.engine.threads);
    return setup->fingerprint.substr(0, 12) + ", " + device;
  });
  ranks.gather([&] {
    check_alike(found);
    cut_for(options, *setup);
    check_memory(options, needed_memory(*setup, options.engine));
    return std::string();
  });
  ranks.others_serve();
  return std::move(*setup);
}

// Goes on from `state` until it is finished. Returns why the last checkpoint is not there, if it is not.
std::optional<WriteError> fit(const TrainOptions& options, const TrainingSetup& setup,
                              const ParameterSpace& space, const TrainingProblem& problem,
                              const TrainLog& log, FitState& state) {
  const int every = options.checkpoint.every.value_or(options.optimizer == Optimizer::kAdamW ? 1 : kRound);
  const auto kept = [&](const FitState& reached) {
    return CheckpointState{[&setup, reached] { return checkpoint_text(setup.fingerprint, reached); },
                           fmt::format("the state after iteration {}", reached.iteration)};
  };
  CheckpointFile checkpoint(options.checkpoint.file, kept(state),
                            [&](const std::string& line) { say(log, line); });
  const CheckpointSink save = [&](const FitState& reached) {
    if (options.checkpoint.file.empty()) return;
    checkpoint.reached(kept(reached), reached.finished || reached.iteration % every == 0);
  };
  if (options.optimizer == Optimizer::kAdamW) {
    fit_adamw(problem, options.stop, options.adamw, space.pack(setup.first), log.iteration, save, state);
  } else {
    fit_lbfgs(problem, options.stop, log.iteration, save, state);
  }
  return checkpoint.failure();
}

}  // namespace

void run_train(const TrainOptions& options, const TrainLog& log, Ranks& ranks) {
  const auto begin = Clock::now();
  share_one_heap();
  std::string device;
  TrainingSetup setup = set_up_ranks(options, ranks, device);
  say_setup(options, setup, device, log);
  const PieceSums sums(setup.inputs.training, setup.inputs.validation, options.engine, &ranks);
  if (!ranks.is_first()) return sums.serve(setup.first);
  const ParameterSpace space(setup.first, setup.frozen, setup.counts, options.penalty, setup.emissions);
  const Penalties penalties(options.penalty, setup.first, setup.emissions != nullptr);
  const TrainingProblem problem(setup.inputs.training, setup.inputs.validation, space, penalties,
                                options.engine, setup.margin, &ranks);
  say_problem(setup, space.size(), ranks, log);
  const double read_seconds = seconds_since(begin);

  FitState state = start_state(options, setup, space, log);
  const auto fit_begin = Clock::now();
  const std::optional<WriteError> no_checkpoint = fit(options, setup, space, problem, log, state);
  const double fit_seconds = seconds_since(fit_begin);

  Parameters trained = finish(options, space, state, sums, log, setup);
  if (const auto warning = only_label_warning(setup.record.durations)) {
    if (log.warn) log.warn(*warning);
    setup.inputs.warnings.push_back(*warning);
  }
  say(log, "stopped after " + plural(state.iteration, "iteration") + ": " + state.reason);
  write_whole_output(options.output, write_params_json(trained));
  write_statistics(options, setup, device, {{"read", read_seconds}, {"fit", fit_seconds}});
  if (options.multiqc.wanted())
    for (const MultiqcDocument& document : multiqc_training(options.multiqc.sample, setup.record))
      write_whole_output(multiqc_path(options.multiqc, document.kind), document.text);
  if (no_checkpoint) throw *no_checkpoint;
}

std::string plan_train(const TrainOptions& options) {
  share_one_heap();
  TrainingSetup setup = set_up_training(options);
  check_files(options, setup.inputs.paths);
  cut_for(options, setup);
  const std::size_t needed = needed_memory(setup, options.engine);
  check_memory(options, needed);
  const ParameterSpace space(setup.first, setup.frozen, setup.counts, options.penalty, setup.emissions);
  std::string text = "engine\t" +
                     engine_line(*make_engine(options.engine, setup.first.chain), options.engine.threads) +
                     "\n";
  for (const std::string& line : setup.inputs.binding) text += "input\t" + escape_control(line) + "\n";
  if (!setup.inputs.proposal.empty()) text += "note\t" + escape_control(setup.inputs.proposal) + "\n";
  text += planned_text(setup.inputs.missing);
  if (const std::string step = describe(setup.inputs.steps); !step.empty()) text += "step\t" + step + "\n";
  if (const auto note = bin_size_note(setup.inputs.steps, setup.first.bin_size))
    text += "note\t" + *note + "\n";
  text += "output\t" + escape_control(options.output) + "\n";
  text += "training\t" + data_text(setup.inputs.training) + "\n";
  text += "validation\t" + data_text(setup.inputs.validation) + "\n";
  text += "model\t" + shape_text(setup, space.size()) + "\n";
  text += "memory\t" + print_mebibytes(forecast_peak(setup, options, space.size())) + "\n";
  text += "least --max-memory\t" + memory_option(needed) + "\n";
  return text;
}

}  // namespace semicrf
