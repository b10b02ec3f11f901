#include "learn/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "core/counts.h"
#include "core/process_memory.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/arguments/lacking_tracks.h"
#include "io/files/output_file.h"
#include "io/json/json_document.h"
#include "io/json/stats_json.h"
#include "io/params/params_json.h"
#include "io/text/provenance_header.h"
#include "learn/em_fit.h"
#include "learn/learn_checkpoint.h"
#include "learn/learn_data.h"
#include "learn/learn_fits.h"
#include "learn/learn_record.h"
#include "learn/learn_shapes.h"
#include "learn/learn_warnings.h"
#include "log/log.h"
#include "model/missing_tracks.h"
#include "model/scores/feature_transform.h"
#include "runs/device_choice.h"
#include "sites/site_engine.h"
#include "train/data/training_inputs.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

void tell(const LearnLog& log, const std::string& line) {
  if (log.info) log.info(line);
}

class Learner {
 public:
  Learner(const LearnOptions& options, const LearnLog& log) : options_(options), log_(log) {
    share_one_heap();
    data_ = read_learn_data(options);
    begin_record();
    check_files();
    check_memory_limit(options.max_memory, shapes_.needed_memory(1), "learning", "",
                       "give --max-memory " + memory_option(shapes_.needed_memory(1)) +
                           ", or learn from fewer regions (-r)");
  }

  std::string plan() const {
    std::string text = "engine\t" + engine_text() + "\n";
    for (const std::string& line : data_.inputs.binding) text += "input\t" + escape_control(line) + "\n";
    text += "output\t" + escape_control(options_.output) + "\n";
    text += "emission\t" + emissions() + "\n";
    text += "training\t" + data_text(data_.inputs.training) + "\n";
    text += "validation\t" + data_text(data_.inputs.validation) + "\n";
    for (const int labels : data_.labels) text += "model\t" + model_text(labels) + "\n";
    text += "least --max-memory\t" + memory_option(shapes_.needed_memory(1)) + "\n";
    return text;
  }

  void run() {
    for (const std::string& line : first_lines(data_.inputs.binding)) tell(log_, "input: " + line);
    for (const std::string& line : first_lines(data_.inputs.missing.lines())) tell(log_, "missing: " + line);
    if (log_.warn)
      for (const Warning& warning : data_.inputs.warnings) log_.warn(warning);
    tell(log_, "engine: " + engine_text());
    tell(log_, "emissions: " + emissions());
    for (const Track& track : data_.tracks)
      if (track.transform == Transform::kBinarize)
        tell(log_, "track " + escape_control(track.name) + ": " + transform_text(track));
    tell(log_, "training: " + data_text(data_.inputs.training));
    if (!data_.inputs.validation.pieces.empty())
      tell(log_, "validation: " + data_text(data_.inputs.validation));
    for (const int labels : data_.labels) tell(log_, "model: " + model_text(labels));
    fit_all();
    warn_of_model();
    if (record_.fits.size() > 1)
      for (const std::string& line : comparison_lines(record_)) tell(log_, line);
    write();
  }

 private:
  void begin_record() {
    record_.version = options_.version;
    record_.emission = emissions();
    record_.positions = data_.inputs.training.positions();
    record_.validation_positions = data_.inputs.validation.positions();
    for (const std::string& path : data_.inputs.paths)
      if (!path.empty())
        record_.files.emplace_back(std::filesystem::path(path).filename().string(), file_sha256(path));
    describe_options();
  }

  void describe_options() {
    const auto add = [&](const std::string& name, const std::string& value) {
      record_.options.emplace_back(name, value);
    };
    if (options_.most_copies) add("preset", fmt::format("copy-number:{}", *options_.most_copies));
    add("bin-size", fmt::to_string(data_.bin_size));
    if (options_.purity) add("purity", fmt::format("{:.15g}", *options_.purity));
    if (options_.ploidy) add("ploidy", fmt::format("{:.15g}", *options_.ploidy));
    if (options_.input.sites) add("sites", "yes");
    if (options_.from_file()) add("init", std::filesystem::path(options_.init_path()).filename().string());
    if (!options_.known_labels.empty())
      add("labels-known", std::filesystem::path(options_.known_labels).filename().string());
    add("precision", options_.engine.precision == Precision::kFloat ? "float" : "double");
    if (!options_.input.regions.empty()) add("region", joined(options_.input.regions, " "));
    if (!options_.val_regions.empty()) add("val-region", joined(options_.val_regions, " "));
    if (has_samples(options_.input)) add("sample", joined(chosen_samples(options_.input), " "));
    add("seed", fmt::to_string(options_.seed));
    add("restarts", fmt::to_string(options_.restarts));
    const EmissionWishes& wishes = options_.emissions;
    if (wishes.outliers > 0) add("outliers", fmt::format("{:.15g}", wishes.outliers));
    if (!options_.tie.empty()) add("tie", joined(options_.tie, ","));
    if (!options_.freeze.empty()) add("freeze", joined(options_.freeze, ","));
    add("max-iterations", fmt::to_string(options_.max_iterations));
    add("tolerance", fmt::format("{:.15g}", options_.tolerance));
  }

  void check_files() const {
    std::vector<OutputSpec> outputs{{options_.output, IndexKind::kNone}};
    for (const std::string& path : {options_.checkpoint.file, options_.stats_path, options_.solutions_path})
      if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
    std::vector<std::string> paths = data_.inputs.paths;
    if (!options_.chromhmm_model.empty()) paths.push_back(options_.chromhmm_model);
    check_outputs(outputs, paths);
  }

  std::string engine_text() const {
    const ChainModel chain = shapes_.shaped(data_.labels.front()).chain;
    const int threads = options_.engine.threads;
    return engine_line(
        options_.input.sites ? *make_site_engine(chain, {}, threads) : *make_engine(options_.engine, chain),
        threads);
  }

  std::string emissions() const { return escape_control(emission_text(data_.emissions, data_.tracks)); }

  std::string data_text(const TrainingData& data) const {
    const std::string bins =
        options_.input.sites ? " sites" : fmt::format(" bins of {} bases", data_.bin_size);
    std::string text = fmt::format("{}{} in {}", data.positions(), bins, plural(data.pieces.size(), "piece"));
    if (data_.known.empty()) return text;
    return fmt::format("{}; {} bins are labelled", text, labelled_bins(data));
  }

  static std::int64_t labelled_bins(const TrainingData& data) {
    std::int64_t bins = 0;
    for (const TrainingPiece& piece : data.pieces)
      for (const LabelEvidence& one : piece.evidence)
        if (!one.is_free()) bins += one.end - one.begin;
    return bins;
  }

  // What is likely: ln P of this.
  std::string likely_text() const { return data_.known.empty() ? "ln P(tracks) " : "ln P(tracks, labels) "; }

  std::string model_text(int labels) const {
    const ChainModel chain = shapes_.shaped(labels).chain;
    return fmt::format("{} labels, durations up to {}{}", labels, chain.max_duration,
                       chain.has_tail() ? " bins and a tail" : " bins");
  }

  // Where the fits begin, or go on from a checkpoint.
  std::vector<EmState> first_states(const std::string& print) const {
    std::vector<Parameters> shapes;
    for (const LearnJob& job : shapes_.jobs()) shapes.push_back(shapes_.shaped(job.labels));
    const auto say = [this](const std::string& line) { tell(log_, line); };
    if (is_resumed(options_.checkpoint, "learning", say)) {
      std::vector<EmState> states = read_learn_checkpoint(options_.checkpoint.resume, print, shapes);
      std::size_t iterations = 0;
      for (const EmState& state : states) iterations += state.log_likelihood.size();
      say(fmt::format("resumed after {} passes over the data in all fits", iterations));
      return states;
    }
    std::vector<EmState> states(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) states[i].parameters = std::move(shapes[i]);
    return states;
  }

  // A digest of what the fits depend on: files, options and models, but for when they stop.
  std::string fingerprint() const {
    std::string text;
    for (const auto& [name, digest] : record_.files)
      text.append(name).append(" ").append(digest).append("\n");
    for (const auto& [name, value] : record_.options)
      if (name != "max-iterations" && name != "tolerance")
        text.append(name).append(" ").append(value).append("\n");
    text += data_text(data_.inputs.training) + "\n" + emissions() + "\n";
    text += fmt::format("{} {}\n", static_cast<int>(options_.start),
                        static_cast<int>(options_.law.durations.value_or(LawKind::kTable)));
    for (const LearnJob& job : shapes_.jobs()) {
      Parameters shape = shapes_.shaped(job.labels);
      remove_absences(shape);
      set_duration_spec(shape);
      text += fmt::format("{}{}\n", write_params_json(shape), job.restart);
    }
    return sha256_hex(text);
  }

  void fit_all() {
    const std::vector<LearnJob> all = shapes_.jobs();
    const int at_once = shapes_.fits_at_once();
    const bool on_disk = !options_.checkpoint.file.empty() || !options_.checkpoint.resume.empty();
    const std::string print = on_disk ? fingerprint() : "";
    std::vector<EmState> states = first_states(print);
    LearnCheckpoint checkpoint(options_.checkpoint.file, print, *options_.checkpoint.every, states,
                               [this](const std::string& line) { tell(log_, line); });
    std::vector<int> free_parameters(all.size());
    std::vector<std::vector<CopyNumberSolution>> solutions(all.size());
    parallel_for(at_once, all.size(), [&](std::size_t i, int) {
      free_parameters[i] = fit(all[i], at_once, states[i], solutions[i],
                               [&](const EmState& state) { checkpoint.reached(i, state); });
    });
    solutions_ = std::move(solutions.front());
    no_checkpoint_ = checkpoint.failure();
    for (std::size_t i = 0; i < all.size(); ++i) keep(std::move(states[i]), all[i], free_parameters[i]);
  }

  // Returns the number of free parameters.
  int fit(const LearnJob& job, int at_once, EmState& state, std::vector<CopyNumberSolution>& solutions,
          const std::function<void(const EmState&)>& save) const {
    EngineOptions engine = options_.engine;
    engine.threads = std::max(1, engine.threads / at_once);
    const auto show_part = [&](const EmIteration& done) { show(job, done, options_.part, " of a part"); };
    FitWatcher watcher{
        {[&](const EmIteration& done) { show(job, done, record_.positions, ""); }, save},
        show_part,
        [&](int window) {
          if (window > 1)
            tell(log_, fmt::format("{}: starts from clusters of means over {} bins", fit_name(job), window));
        }};
    FitResult fitted = fit_job(options_, data_, job, engine, std::move(state), watcher);
    if (fitted.part_iterations > 0)
      tell(log_, fmt::format("{}: the first {} saw {} of {}{}", fit_name(job),
                             plural(fitted.part_iterations, "iteration"), options_.part, record_.positions,
                             options_.input.sites ? " sites" : " bins"));
    state = std::move(fitted.state);
    solutions = std::move(fitted.solutions);
    return fitted.free_parameters;
  }

  std::string fit_name(const LearnJob& job) const {
    const bool several = options_.restarts > 1 && !data_.init;
    return fmt::format("labels {}{}", job.labels, several ? fmt::format(" (start {})", job.restart + 1) : "");
  }

  void show(const LearnJob& job, const EmIteration& done, std::int64_t bins, const char* of_what) const {
    if (!log_.iteration) return;
    log_.iteration(fmt::format("{}, iteration {}{}: {}{:.4f}, per bin {:.7f}, {:.2f} s", fit_name(job),
                               done.iteration, of_what, likely_text(), done.log_likelihood,
                               ratio(done.log_likelihood, bins), done.seconds));
  }

  void keep(EmState state, const LearnJob& job, int free_parameters) {
    record_.fits.push_back(learned_fit(job, state, free_parameters, record_.positions));
    const std::size_t latest = record_.fits.size() - 1;
    if (latest > 0 && !is_better(record_.fits[latest], record_.fits[record_.chosen])) return;
    record_.chosen = latest;
    best_bins_ = state.bins;
    if (options_.most_copies) {
      const CopyNumbers numbers = copy_numbers_of(state.sizes);
      record_.copy_number = {{"purity", numbers.purity},
                             {"ploidy", numbers.ploidy},
                             {"saturation", numbers.saturation},
                             {"mean_copies", mean_copies(state.parameters, state.bins)}};
    } else {
      record_.sizes = state.sizes;
    }
    const bool sorts = !data_.init && options_.emissions.ordered.empty();
    best_ = sorts ? sorted_by_bins(state.parameters, state.bins, std::ssize(data_.known)) : state.parameters;
    if (sorts)
      std::stable_sort(best_bins_.begin() + std::ssize(data_.known), best_bins_.end(), std::greater<>());
  }

  void warn_of_model() {
    if (options_.most_copies) return;  // few samples have all numbers of copies
    for (const Warning& warning :
         warnings_of_model(best_, best_bins_, options_.preset ? &*options_.preset : nullptr)) {
      data_.inputs.warnings.push_back(warning);
      if (log_.warn) log_.warn(warning);
    }
  }

  void write() {
    set_duration_spec(best_);
    remove_absences(best_);
    for (Track& track : best_.tracks) track.missing = data_.policy_of(track);
    best_.training = learn_record_text(record_);
    const LearnedFit& chosen = record_.fits[record_.chosen];
    if (options_.most_copies) tell_copy_number();
    tell(log_, fmt::format("{} labels after {} iterations: {}{:.4f}, AIC {:.1f}, BIC {:.1f}{}", chosen.labels,
                           chosen.iterations, likely_text(), chosen.log_likelihood.back(), chosen.aic,
                           chosen.bic, chosen.converged ? "" : "; not converged, see --max-iterations"));
    write_whole_output(options_.output, write_params_json(best_));
    if (!options_.solutions_path.empty())
      write_whole_output(options_.solutions_path, solutions_table(solutions_));
    if (!options_.stats_path.empty()) write_statistics(chosen);
    if (no_checkpoint_) throw *no_checkpoint_;
  }

  // What was found, and the likeliest points of the grid that say another number of copies of the median.
  void tell_copy_number() const {
    std::string text = "copy number:";
    for (const auto& [name, value] : record_.copy_number)
      text.append(" ").append(name).append(fmt::format(" {:.3g},", value));
    text.pop_back();
    tell(log_, text);
    std::set<int> told;
    for (const CopyNumberSolution& one : solutions_)
      if (told.insert(one.copies).second)
        tell(
            log_,
            fmt::format(
                "grid: purity {:.2g}, ploidy {:.3g}, median of {}{}: ln P(tracks) {:.2f}, probability {:.2g}",
                one.numbers.purity, one.numbers.ploidy, one.copies, one.copies == 1 ? " copy" : " copies",
                one.log_likelihood, one.probability));
  }

  void write_statistics(const LearnedFit& chosen) const {
    Stats stats;
    stats.version = options_.version;
    stats.device = engine_text();
    stats.peak_memory = peak_resident_bytes();
    stats.warnings = data_.inputs.warnings;
    stats.missing_tracks = lacking_stats(data_.lacking_tracks);
    stats.learning = {chosen.log_likelihood, {}};
    for (const auto& one : fit_statistics())
      if (const auto value = one.value(chosen).number(); value && one.part == JsonPart::kFirst)
        stats.learning->numbers.emplace_back(one.name, *value);
    write_stats(options_.stats_path, stats, data_.inputs.sequences);
  }

  const LearnOptions& options_;
  const LearnLog& log_;
  LearnData data_;
  LearnShapes shapes_{options_, data_};
  LearnRecord record_;
  Parameters best_;
  std::vector<double> best_bins_;
  std::vector<CopyNumberSolution> solutions_;
  std::optional<WriteError> no_checkpoint_;  // why the last one is not there
};

}  // namespace

void run_learn(const LearnOptions& options, const LearnLog& log) { Learner(options, log).run(); }

std::string plan_learn(const LearnOptions& options) { return Learner(options, {}).plan(); }

}  // namespace semicrf
