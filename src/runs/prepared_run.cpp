#include "runs/prepared_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/process_memory.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/statements/constraint_file.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/text/provenance_header.h"
#include "log/log.h"
#include "model/label_values.h"
#include "model/scores/feature_transform.h"
#include "outputs/formats.h"
#include "runs/device_choice.h"
#include "runs/piece_setup.h"
#include "runs/piece_stream.h"
#include "runs/report_outputs.h"
#include "sites/site_engine.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

// Bytes of the program that only the run itself touches, of its output buffers and spools.
constexpr std::size_t kRunMemory = std::size_t{3} << 20;
// Further bytes where posteriors are the result, as measured.
constexpr std::size_t kPosteriorMemory = std::size_t{1} << 20;
constexpr std::size_t kSlabMemory = std::size_t{512} << 10;   // bytes of a thread that reads a bigWig file
constexpr std::size_t kPrintMemory = std::size_t{192} << 10;  // bytes of a thread that prints posteriors
constexpr std::size_t kIndexBytesPerChromosome = 360;         // HTSlib's index, as measured
constexpr std::size_t kMargin = 20;  // a forecast is raised by a 20th for what is not counted

// Bytes of the stack and heap of a thread; what it gives back to the heap grows with its part of the work.
// Measured with eight threads on two processors.
std::size_t thread_memory(std::int64_t positions, std::size_t threads) {
  constexpr std::size_t kLeast = std::size_t{64} << 10, kMost = std::size_t{768} << 10;
  return std::min(kMost, kLeast + 8 * wide(positions) / threads);
}

void log_binding(const std::vector<std::string>& binding) {
  for (const std::string& line : first_lines(binding)) log_note("input: " + line);
}

// A device that was asked for is started on a thread of its own. A device of `auto` waits until the inputs
// have told whether one pays.
std::future<void> started(const EngineOptions& options) {
  if (!options.is_cuda()) return {};
  return do_beside([options] { warm_up(options); });
}

// The size of the work on the inputs, but for the number of sweeps, and the lengths of the pieces.
WorkSize work_size(const InputSet& inputs, const Parameters& parameters, std::vector<std::int64_t>& lengths) {
  WorkSize work;
  for (std::size_t i = 0; i < inputs.sequences().size(); ++i)
    for (const BinRange& piece : make_pieces(inputs.piece_request(i))) lengths.push_back(piece.size());
  for (const std::int64_t length : lengths) {
    work.positions += length;
    work.longest = std::max(work.longest, length);
  }
  work.max_duration = parameters.chain.max_duration;
  work.num_labels = parameters.num_labels();
  work.period = period_of(parameters.chain);
  work.inputs = parameters.emission ? parameters.num_tracks() : parameters.num_labels();
  return work;
}

ParameterFile run_parameters(const RunOptions& options) {
  ParameterFile file = options.parameters ? *options.parameters : read_params_json(options.input.parameters);
  add_biases(options.biases, file.parameters);
  return file;
}

std::int64_t longest(const std::vector<BinRange>& pieces) {
  std::int64_t size = 0;
  for (const BinRange& piece : pieces) size = std::max(size, piece.size());
  return size;
}

}  // namespace

PreparedRun::PreparedRun(const RunOptions& options, AnalysisList analyses)
    : options_(options),
      analyses_(std::move(analyses)),
      device_start_(started(options.engine)),
      parameters_(run_parameters(options)),
      inputs_(InputSet::open(options.input, parameters_.parameters)),
      engines_(settled_engine(), parameters_.parameters.chain) {
  for (const Warning& warning : inputs_.warnings()) warn(warning);
  times_.end("inputs opened and engines made");
  log_note("engine: " + engine_text());
  log_binding(inputs_.binding());
  tell_steps();
}

// The engine that `--device auto` stands for, and the devices that share windows, where that pays.
EngineOptions PreparedRun::settled_engine() {
  EngineOptions options = options_.engine;
  read_constraints();
  if (device_start_.valid()) device_start_.get();
  std::vector<std::int64_t> lengths;
  WorkSize work = work_size(inputs_, parameters_.parameters, lengths);
  options.spread_windows = windows_pay(lengths, options.devices.size());
  work.sweeps = analyses_.sweeps();
  if (options_.input.sites) return for_sites(options);
  const DeviceChoice choice = choose_device(options, work, gpu_obstacle);
  if (!choice.reason.empty()) log_detail(choice.reason);
  options.backend = choice.backend;
  analyses_.engine = options;
  return options;
}

// Pieces have engines of their own. The one made here is asked for its model alone.
EngineOptions PreparedRun::for_sites(EngineOptions options) {
  if (options.is_cuda() || options.backend == EngineOptions::Backend::kReference)
    throw UsageError("--sites has an engine of its own, on the processor", "leave --device out");
  if (parameters_.parameters.chain.max_duration != 1)
    throw InputError(
        {options_.input.parameters, "/max_duration",
         "--sites needs geometric durations: a max_duration of 1 with a tail, or with labels that "
         "follow themselves",
         "learn with --sites, which gives such models"});
  if (!analyses_.knows_sites()) throw UsageError("--sites goes with the best path and posteriors alone");
  options.backend = EngineOptions::Backend::kCpu;
  analyses_.engine = options;
  analyses_.engine->precision = Precision::kDouble;  // that of the engine of sites
  return options;
}

void PreparedRun::read_constraints() {
  if (options_.constraints.empty()) return;
  analyses_.constraints =
      std::make_shared<ConstraintFile>(options_.constraints, parameters_.parameters.labels, inputs_);
  analyses_.constraint_probability = !options_.stats_path.empty();
}

// Logs how the bins fit to the tracks.
void PreparedRun::tell_steps() {
  const TrackSteps& steps = inputs_.steps();
  if (const std::string text = semicrf::describe(steps); !text.empty())
    log_note("step of the tracks: " + text);
  if (const auto note = bin_size_note(steps, inputs_.bin_size())) log_note(*note);
  if (const auto warning = single_base_warning(steps, inputs_.bin_size())) report_.warn(*warning);
}

std::string PreparedRun::engine_text() const {
  if (!options_.input.sites) return engine_line(engines_.first(), engines_.threads());
  return engine_line(*make_site_engine(parameters_.parameters.chain, {}, engines_.threads()),
                     engines_.threads());
}

ReadOptions PreparedRun::read_options() const {
  ReadOptions read;
  read.precision = options_.engine.precision;
  read.threads = options_.engine.threads;
  read.cache_bytes = window_budget_ / 4;
  return read;
}

// Calls visit(LongestPiece) for every sequence that is decoded; `shorter`: also for the longest of its pieces
// that is too short for windows of their own at its cut edges, where the longest one has them.
template <class Visit>
void PreparedRun::for_each_sequence(Visit visit, bool shorter) const {
  for (std::size_t i = 0; i < inputs_.sequences().size(); ++i) {
    const std::vector<BinRange> pieces = make_pieces(inputs_.piece_request(i));
    if (pieces.empty()) continue;
    const std::shared_ptr<SequenceScores> scores = inputs_.open_scores(i, read_options());
    CutEdges cut;
    for (std::size_t number = 0; number < pieces.size(); ++number) {
      const CutEdges own = inputs_.cut_edges(i, pieces, number);
      cut = {cut.left || own.left, cut.right || own.right};
    }
    const BinLocation location = locate(inputs_.sequences()[i], inputs_.bin_size(), 0);
    const auto visit_length = [&](std::int64_t length) {
      const PieceSetup setup = set_up_piece(engines_, {}, location, cut, length, [&] {
        return make_piece_source(scores, {0, length});
      });
      visit(LongestPiece{inputs_.sequences()[i], pieces, *setup.source, *setup.engine, setup.chain,
                         scores->cached_bytes});
    };
    visit_length(longest(pieces));
    const auto has_edge_windows = [&](std::int64_t length) {
      return edge_lengths(engines_.first(), cut, length).any();
    };
    if (!shorter || !has_edge_windows(longest(pieces))) continue;
    std::int64_t rest = 0;
    for (const BinRange& piece : pieces)
      if (!has_edge_windows(piece.size())) rest = std::max(rest, piece.size());
    if (rest > 0) visit_length(rest);
  }
}

void PreparedRun::settle_memory() {
  WindowWish wish;
  if (engines_.first().own_memory()) wish.modest = kDefaultDeviceWindowMemory;
  window_budget_ = wish.modest;
  if (!options_.max_memory)
    for_each_sequence(
        [&](const LongestPiece& piece) {
          const WindowWish here = window_wish(piece.engine, piece.source, piece.chain, analyses_);
          wish.comfortable = std::max(wish.comfortable, piece.kept + here.comfortable);
          wish.ample = std::max(wish.ample, piece.kept + here.ample);
        },
        true);
  std::size_t fixed = fixed_memory(inputs_.kept_bytes() + kept_by_outputs_) + analyses_.kept_bytes();
  try {
    window_budget_ = window_memory(options_.max_memory, fixed, wish);
    plan_pieces(1);
  } catch (const MemoryError&) {
    if (!options_.max_memory) {
      // The machine has little memory, and the model needs more than a part of it.
      window_budget_ = wish.modest;
      plan_pieces(1);
      return count_positions();
    }
    const auto fits = [&](std::size_t total) { return fits_windows(total - fixed); };
    const std::optional<std::size_t> sufficient = sufficient_memory(fixed, fits);
    if (!sufficient) throw;  // the GPU's memory is what is missing
    refuse_memory_limit(*options_.max_memory, fixed, *sufficient);
  }
  count_positions();
}

void PreparedRun::count_positions() {
  for_each_sequence([&](const LongestPiece& piece) { positions_ += total_bins(piece.pieces); });
}

// Plans every sequence with an equal part of the window budget for each of `devices`, as the run does.
// MemoryError when a window does not fit.
void PreparedRun::plan_pieces(std::size_t devices) const {
  const std::size_t share = window_budget_ / devices;
  for_each_sequence(
      [&](const LongestPiece& piece) {
        plan_piece(piece.engine, piece.source, piece.chain, analyses_, share - std::min(piece.kept, share));
      },
      true);
}

bool PreparedRun::fits_windows(std::size_t budget) {
  window_budget_ = budget;
  try {
    plan_pieces(engines_.devices());
    return true;
  } catch (const MemoryError&) {
    return false;
  }
}

// Forecast of the program's peak memory, mapped inputs included: what is in memory now, and what the run adds
// to it as a rule.
std::size_t PreparedRun::forecast_peak() const {
  const std::size_t threads = engines_.threads();
  std::size_t most = 0;
  for_each_sequence(
      [&](const LongestPiece& piece) {
        const Engine& engine = piece.engine;
        const std::int64_t length = piece.source.length();
        const PiecePlan plan = plan_piece(engine, piece.source, piece.chain, analyses_,
                                          window_budget_ - std::min(piece.kept, window_budget_));
        std::size_t window = 0;
        // The threads keep the workspaces of the passes before posteriors.
        const std::int64_t at_once = std::min(length, engines_.threads() * engine.grid(length).chunk);
        std::size_t workspaces = 0;
        for (std::size_t i = 0; i < plan.windows.size(); ++i) {
          std::size_t bytes = plan.windows[i].usual_bytes;
          if (i < analyses_.size()) {
            if (analyses_[i].gives_posteriors()) bytes += workspaces;
            workspaces += analyses_[i].workspace_bytes(engine, at_once);
          }
          window = std::max(window, bytes);
        }
        // Short pieces are computed side by side, one on each thread (job_queue.cpp).
        const bool is_short = length / 4 < engine.grid(length).chunk;
        if (is_short) window *= std::min(threads, piece.pieces.size());
        most = std::max(most, piece.kept + window);
      },
      true);
  const std::size_t readers = std::min(threads, inputs_.steps().tracks.size());
  const bool prints = analyses_.gives_posteriors();
  const std::size_t printers = prints && threads > 1 ? threads : 0;
  const std::size_t posteriors = prints && !analyses_.finds_path() ? kPosteriorMemory : 0;
  const std::size_t bytes = (resident_bytes().own + program_bytes_) + posteriors + kept_by_outputs_ +
                            inputs_.mapped_bytes(read_options().cache_bytes) + most + kRunMemory +
                            (threads - 1) * thread_memory(positions_, threads) + readers * kSlabMemory +
                            printers * kPrintMemory;
  return bytes + bytes / kMargin;
}

OutputSpec PreparedRun::output(const std::string& path) const {
  OutputSpec spec;
  spec.path = path;
  if (!options_.write_index || path.empty() || is_indexed_name(path)) return spec;
  const std::int64_t longest = inputs_.longest_chromosome();
  spec.index = index_kind_for(longest);
  spec.longest_chromosome = longest;
  return spec;
}

std::string PreparedRun::header(const std::string& command, HeaderOptions options) const {
  if (!options_.header_comments) return {};
  const InputOptions& input = options_.input;
  Provenance provenance;
  provenance.version = options_.version;
  provenance.command = command;
  provenance.params_path = input.parameters;
  provenance.params_sha256 = parameters_.sha256;
  provenance.inputs = inputs_.provenance();
  provenance.options = {{"precision", options_.engine.precision == Precision::kFloat ? "float" : "double"},
                        {"bin-size", fmt::to_string(inputs_.bin_size())}};
  if (!input.regions.empty()) provenance.options.push_back({"region", joined(input.regions, " ")});
  if (input.sites) provenance.options.push_back({"sites", "yes"});
  if (input.all_chromosomes) provenance.options.push_back({"all-chromosomes", "yes"});
  if (!input.samples_file.empty())
    provenance.options.push_back({"sample", joined(chosen_samples(input), ",")});
  if (input.chromosomes == ChromosomePolicy::kCommon) provenance.options.push_back({"chromosomes", "common"});
  if (input.chromosomes == ChromosomePolicy::kUnion) provenance.options.push_back({"chromosomes", "union"});
  if (!input.missing_tracks.empty())
    provenance.options.push_back({"missing-track", joined(input.missing_tracks, ",")});
  if (input.missing != MissingPolicy::kDefault)
    provenance.options.push_back({"missing", std::string(missing_policy_name(input.missing))});
  if (input.edges) provenance.options.push_back({"edges", std::string(edge_rule_name(*input.edges))});
  if (!options_.constraints.empty())
    provenance.options.push_back(
        {"constraints", std::filesystem::path(options_.constraints).filename().string()});
  for (const std::string& bias : options_.biases) provenance.options.push_back({"bias", bias});
  if (options_.infeasible == InfeasiblePolicy::kSkip) provenance.options.push_back({"infeasible", "skip"});
  provenance.options.insert(provenance.options.end(), options.begin(), options.end());
  return provenance_header(provenance);
}

OutputPlan PreparedRun::complete(OutputPlan plan) {
  if (!options_.stats_path.empty())
    plan.push_back(stats_output(options_.stats_path, report_, options_.version, engine_text()));
  if (options_.multiqc.wanted()) {
    const auto tracks = std::ranges::count_if(parameters().tracks, &Track::is_input);
    std::ranges::move(multiqc_outputs(options_.multiqc, parameters().labels, tracks, report_),
                      std::back_inserter(plan));
  }
  for (const std::string& plain : leave_out_indexes(plan))
    log_note("--write-index: " + plain + " gets no index, because its name does not end in .gz");
  std::vector<OutputSpec> files;
  files.reserve(plan.size());
  for (const PlannedOutput& output : plan) files.push_back(output.file);
  std::vector<std::string> read = inputs_.paths();
  if (!options_.constraints.empty()) read.push_back(options_.constraints);
  check_outputs(files, read);
  // Each output is open until the end of the run; bigWig and bigBed files have a spool as well.
  constexpr std::int64_t kOthers = 64;
  const std::int64_t most = allow_open_files(2 * std::ssize(files) + kOthers);
  if (most < std::ssize(files) + kOthers)
    throw UsageError(
        fmt::format(
            "the run has {} outputs that are open at once, and the system allows this process {} open files",
            files.size(), most),
        "raise the limit (ulimit -n), or write fewer of them");
  for (const PlannedOutput& output : plan) {
    kept_by_outputs_ += output.kept;
    if (output.file.index != IndexKind::kNone)
      kept_by_outputs_ += inputs_.chromosomes().size() * kIndexBytesPerChromosome;
  }
  settle_memory();
  times_.end("memory settled");
  return plan;
}

std::string PreparedRun::describe(const OutputPlan& plan) const {
  std::string text = "engine\t" + engine_text() + "\n";
  text += "memory\t" + print_mebibytes(forecast_peak()) + "\n";
  text += "limit for windows\t" + print_memory_size(static_cast<std::int64_t>(window_budget_)) + "\n";
  for (const std::string& line : inputs_.binding()) text += "input\t" + escape_control(line) + "\n";
  if (const std::string step = semicrf::describe(inputs_.steps()); !step.empty())
    text += "step\t" + step + "\n";
  for (const PlannedOutput& output : plan) text += "output\t" + escape_control(output.file.path) + "\n";
  for_each_sequence([&](const LongestPiece& piece) {
    const Sequence& sequence = piece.sequence;
    text +=
        fmt::format("sequence\t{}\t{}\t{} bins\t{}", escape_control(sequence.title), amount(sequence.length),
                    total_bins(piece.pieces), plural(piece.pieces.size(), "piece"));
    const PiecePlan windows = plan_piece(piece.engine, piece.source, piece.chain, analyses_,
                                         window_budget_ - std::min(piece.kept, window_budget_));
    for (std::size_t i = 0; i < windows.windows.size(); ++i) {
      const std::string title = i < analyses_.size() ? analyses_[i].title() : "constraints";
      text.append("\t").append(title).append(": ").append(semicrf::describe(windows.windows[i]));
    }
    text += "\n";
  });
  for (std::size_t i = 0; i < inputs_.sequences().size(); ++i)
    if (inputs_.left_out(i))
      text += "left out\t" + escape_control(inputs_.sequences()[i].title) + "\tno values\n";
  return text + missing_text();
}

// Reads the tracks once, which nothing else does in a dry run.
std::string PreparedRun::missing_text() const {
  MissingSummary summary;
  for (std::size_t i = 0; i < inputs_.sequences().size(); ++i) {
    const std::vector<BinRange> pieces = make_pieces(inputs_.piece_request(i));
    if (pieces.empty()) continue;
    ReadOptions read = read_options();
    read.cache_bytes = 0;
    const std::shared_ptr<SequenceScores> scores = inputs_.open_scores(i, read);
    if (!scores->missing_values) continue;
    scores->missing_values->want(pieces);
    count_missing(*scores->rows, pieces);
    summary.add(inputs_.sequences()[i].title, *scores->missing_values);
  }
  return planned_text(summary);
}

void PreparedRun::execute(const OutputPlan& plan, const std::function<std::vector<Warning>()>& after,
                          Progress* progress) {
  report_.total.start();
  report_.name_labels(parameters_.parameters.labels);
  if (analyses_.finds_path() && (!options_.stats_path.empty() || options_.multiqc.wanted()))
    report_.count_labels(parameters_.parameters.chain);
  report_.treat_sequences(options_.stats_path.empty() ? SequenceStatistics::kSummed
                                                      : SequenceStatistics::kSpooled);
  report_.name_missing_tracks(lacking_stats(inputs_.lacking_tracks()));
  RunOutputs outputs(plan);
  PieceStream pieces(inputs_, read_options(), report_);
  if (progress != nullptr) progress->begin(positions_ * analyses_.passes());
  times_.end("outputs opened");
  PieceRunner({analyses_, window_budget_, options_.infeasible}, engines_, pieces, outputs, report_, progress)
      .run();
  times_.end("pieces");
  report_.warn_of_results();
  // A required boundary always takes the exact path, so that a warning would help nobody.
  if (!analyses_.constraints) report_.warn_of_exact_blocks();
  report_.tell_missing_values();
  if (analyses_.constraints)
    for (const Warning& warning : analyses_.constraints->warnings()) report_.warn(warning);
  if (after)
    for (const Warning& warning : after()) report_.warn(warning);
  report_.tell_repeated_warnings();
  if (progress != nullptr) progress->end();
  outputs.finish(report_.write);
  times_.end("outputs synchronised");
  outputs.commit();
  times_.end("outputs renamed");
}

void execute(const RunCommand& command, Progress* progress) {
  PreparedRun run(command.options, command.analyses);
  for (const Warning& warning : command.warnings) run.warn(warning);
  run.execute(run.complete(command.outputs(run)), command.after, progress);
}

std::string describe(const RunCommand& command) {
  PreparedRun run(command.options, command.analyses);
  return run.describe(run.complete(command.outputs(run)));
}

}  // namespace semicrf
