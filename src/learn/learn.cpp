#include "learn/learn.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/process_memory.h"
#include "core/sizes.h"
#include "core/text.h"
#include "io/files/output_file.h"
#include "io/json/json_document.h"
#include "io/json/stats_json.h"
#include "io/memory_size.h"
#include "io/models/chromhmm_model.h"
#include "io/params/params_json.h"
#include "io/params/params_write.h"
#include "io/params/training_record.h"
#include "io/text/palette.h"
#include "io/text/sha256.h"
#include "learn/em_fit.h"
#include "learn/em_start.h"
#include "learn/learn_checkpoint.h"
#include "learn/learn_record.h"
#include "learn/learn_warnings.h"
#include "model/exchange/chromhmm.h"
#include "model/missing_tracks.h"
#include "model/scores/feature_transform.h"
#include "pipeline/inputs/arguments/input_arguments.h"
#include "pipeline/inputs/arguments/lacking_tracks.h"
#include "pipeline/run/log.h"
#include "pipeline/windows/memory_budget.h"
#include "train/data/label_file.h"
#include "train/data/training_inputs.h"
#include "train/objective/objective.h"

namespace semicrf {
namespace {

constexpr std::int64_t kDefaultBinSize = 200;                // bases, of bigWig files
constexpr std::size_t kModestMemory = std::size_t{2} << 30;  // that fits side by side may take unasked

void tell(const LearnLog& log, const std::string& line) {
  if (log.info) log.info(line);
}

std::string printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// What reading takes of the options of `train`.
TrainOptions reading_options(const LearnOptions& options) {
  TrainOptions reading;
  reading.input = options.input;
  reading.val_regions = options.val_regions;
  reading.engine = options.engine;
  reading.input.missing_tracks.clear();  // the model has them no more when the tracks are read
  return reading;
}

// Labels in the order of their share of the bins, largest first; the first `known` keep their places.
Parameters sorted_by_bins(const Parameters& parameters, const std::vector<double>& bins, std::size_t known) {
  const std::size_t labels = parameters.labels.size(), tracks = parameters.tracks.size();
  std::vector<std::size_t> order(labels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(known), order.end(),
                   [&](std::size_t a, std::size_t b) { return bins[a] > bins[b]; });
  Parameters sorted = parameters;
  const ChainModel& from = parameters.chain;
  ChainModel& to = sorted.chain;
  for (std::size_t i = 0; i < labels; ++i) {
    const std::size_t c = order[i];
    to.start_scores[i] = from.start_scores[c];
    if (!to.end_scores.empty()) to.end_scores[i] = from.end_scores[c];
    for (std::size_t j = 0; j < labels; ++j)
      to.transition[i * labels + j] = from.transition[c * labels + order[j]];
    for (std::size_t k = 0; k < wide(from.max_duration); ++k)
      to.duration_bias[k * labels + i] = from.duration_bias[k * labels + c];
    if (from.has_tail()) to.log_tail[i] = from.log_tail[c];
    sorted.emission->bias[i] = parameters.emission->bias[c];
    std::copy_n(parameters.emission->weights.begin() + static_cast<std::ptrdiff_t>(c * tracks), tracks,
                sorted.emission->weights.begin() + static_cast<std::ptrdiff_t>(i * tracks));
  }
  return sorted;
}

// Durations as a table, and tails as numbers, for the file.
void set_duration_spec(Parameters& parameters) {
  parameters.duration = DurationSpec{};
  for (const double log_q : parameters.chain.log_tail)
    parameters.duration.tail.push_back(log_q == kNegativeInfinity ? 0 : std::exp(log_q));
}

class Learner {
 public:
  Learner(const LearnOptions& options, const LearnLog& log) : options_(options), log_(log) {
    share_one_heap();
    check_options();
    if (from_file()) read_init();
    read_data();
    check_files();
    check_memory_limit(
        options.max_memory, needed_memory(1), "learning", "",
        "give --max-memory " + memory_option(needed_memory(1)) + ", or learn from fewer regions (-r)");
  }

  std::string plan() const {
    std::string text = "engine\t" + engine_text() + "\n";
    for (const std::string& line : inputs_.binding) text += "input\t" + escape_control(line) + "\n";
    text += "output\t" + escape_control(options_.output) + "\n";
    text += "emission\t" + std::string(emission_name(family_)) + "\n";
    text += "training\t" + data_text(inputs_.training) + "\n";
    text += "validation\t" + data_text(inputs_.validation) + "\n";
    for (const int labels : labels_) text += "model\t" + model_text(labels) + "\n";
    text += "least --max-memory\t" + memory_option(needed_memory(1)) + "\n";
    return text;
  }

  void run() {
    for (const std::string& line : inputs_.binding) tell(log_, "input: " + escape_control(line));
    for (const std::string& line : inputs_.missing.lines()) tell(log_, "missing: " + escape_control(line));
    if (log_.warn)
      for (const Warning& warning : inputs_.warnings) log_.warn(warning);
    tell(log_, "engine: " + engine_text());
    tell(log_, "emissions: " + std::string(emission_name(family_)));
    for (const Track& track : tracks_)
      if (track.transform == Transform::kBinarize)
        tell(log_, "track " + escape_control(track.name) + ": " + transform_text(track));
    tell(log_, "training: " + data_text(inputs_.training));
    if (!inputs_.validation.pieces.empty()) tell(log_, "validation: " + data_text(inputs_.validation));
    for (const int labels : labels_) tell(log_, "model: " + model_text(labels));
    fit_all();
    warn_of_model();
    if (record_.fits.size() > 1)
      for (const std::string& line : comparison_lines(record_)) tell(log_, line);
    write();
  }

 private:
  bool from_file() const { return !options_.input.parameters.empty() || !options_.chromhmm_model.empty(); }
  const std::string& init_path() const {
    return options_.chromhmm_model.empty() ? options_.input.parameters : options_.chromhmm_model;
  }

  void check_options() const {
    if (options_.labels.empty() && !from_file() && options_.known_labels.empty())
      throw UsageError("the number of labels is not given", "add --labels N, or start from --init FILE");
    if (options_.input.bin_size && (*options_.input.bin_size < 1 || *options_.input.bin_size > kMaxBinSize))
      throw UsageError("--bin-size must be 1 to " + std::to_string(kMaxBinSize));
    if (!from_file() && !options_.input.missing_tracks.empty())
      throw UsageError("--missing-track names a track of --init FILE, which is not given",
                       "leave out what the inputs do not have");
    if (options_.resume_must_exist && options_.resume.empty())
      throw UsageError("--resume-must-exist needs --resume", "add --resume FILE");
    if (from_file() && !options_.labels.empty())
      throw UsageError("--labels cannot be given together with --init FILE, which has its labels");
  }

  void read_init() {
    if (options_.chromhmm_model.empty()) {
      init_ = read_params_json(options_.input.parameters).parameters;
    } else {
      init_ = parameters_of(read_chromhmm_model(options_.chromhmm_model),
                            options_.input.bin_size.value_or(kDefaultBinSize), inputs_.warnings);
    }
    check_init();
    RecordedEmissions recorded = recorded_emissions(init_->training);
    if (recorded.scale != 1)
      throw InputError({init_path(), "/training/emission_scale",
                        "the emissions of these --init parameters are not log densities but a multiple",
                        "learn starts from models of single bins; start without --init FILE"});
    lacking_tracks_ = settle_lacking(options_.input, *init_, recorded);
    init_family_ = emission_from_name(recorded.family);
    sizes_ = std::move(recorded.sizes);
    const bool reshape = options_.law.max_duration || options_.law.tail || options_.law.durations;
    if (!reshape && options_.chromhmm_model.empty()) return;
    try {
      init_->chain = SegmentLaw(options_.law, init_->num_labels()).reshaped(init_->chain);
    } catch (const InputError& error) {
      throw InputError({init_path(), "", error.what(), ""});
    }
  }

  void check_init() const {
    if (!init_->emission || init_->boundary)
      throw InputError({init_path(), "",
                        "the --init parameters must have an emission section and no boundary section",
                        "learn starts from models of tracks; start without --init FILE"});
    if (init_->centering != Centering::kNone || init_->chain.initial != InitialTerm::kNone)
      throw InputError(
          {init_path(), "",
           "a model that learn goes on from has \"centering\": \"none\" and \"initial\": \"none\"",
           "start without --init FILE"});
  }

  bool inputs_are_arrays() const {
    const std::vector<InputArgument> arguments = input_arguments(inputs_of_samples(options_.input).front());
    return arguments.front().kind != InputKind::kBigWig;
  }

  bool has_holes() const {
    for (const TrainingData* data : {&inputs_.training, &inputs_.validation})
      for (const TrainingPiece& piece : data->pieces)
        if (std::ranges::any_of(piece.features, [](float value) { return std::isnan(value); })) return true;
    return false;
  }

  std::int64_t bin_size() const {
    if (options_.input.bin_size) return *options_.input.bin_size;
    if (init_ && init_->bin_size_given) return init_->bin_size;
    return inputs_are_arrays() ? 1 : kDefaultBinSize;
  }

  void read_data() {
    const TrainOptions reading = reading_options(options_);
    LabelFile known;
    if (!options_.known_labels.empty())
      known = read_label_file(options_.known_labels, init_ ? init_->labels : std::vector<Label>());
    known_ = known.labels;
    known.whole_sequences = true;
    bin_size_ = bin_size();
    if (init_) {
      for (const Track& track : init_->tracks)
        if (track.is_input()) tracks_.push_back(track);
    } else {
      tracks_ = tracks_of_inputs(options_.input, options_.input.missing);
    }
    const bool array_holes =
        !init_ && options_.input.missing == MissingPolicy::kDefault && inputs_are_arrays();
    if (array_holes)
      for (Track& track : tracks_) track.missing = MissingPolicy::kMarginal;
    std::vector<Track> raw = tracks_;
    for (Track& track : raw) {
      track.transform = Transform::kNone;
      track.center = 0;
      track.scale = 1;
    }
    std::vector<Warning> warnings = std::move(inputs_.warnings);
    inputs_ = read_training_inputs(reading, known, raw, bin_size_);
    inputs_.warnings.insert(inputs_.warnings.begin(), warnings.begin(), warnings.end());
    for (const LackingTrack& track : lacking_tracks_) inputs_.binding.push_back(describe(track));
    for (TrainingData* data : {&inputs_.training, &inputs_.validation})
      for (TrainingPiece& piece : data->pieces) piece.cut = {};
    if (array_holes && !has_holes())
      for (Track& track : tracks_) track.missing = MissingPolicy::kSkip;
    if (init_) {
      tracks_ = init_->tracks;
      settle_family_of_init();
      const bool squares = std::ranges::any_of(tracks_, &Track::is_square);
      if (squares != (family_ == EmissionFamily::kGaussian))
        throw InputError(
            {init_path(), "",
             "the tracks of --init do not fit " + std::string(emission_name(family_)) + " emissions",
             "say which with --emission, or start without --init FILE"});
    } else {
      family_ = options_.emission ? *options_.emission : choose_emission(inputs_.training);
      fit_features(family_, {options_.transform, options_.binarize_tail, options_.threshold},
                   inputs_.training, tracks_, inputs_.warnings);
    }
    if (!init_) add_absence_tracks();
    apply_features(tracks_, inputs_.training);
    apply_features(tracks_, inputs_.validation);
    settle_labels();
    record_.version = options_.version;
    record_.emission = emission_name(family_);
    record_.positions = inputs_.training.positions();
    record_.validation_positions = inputs_.validation.positions();
    for (const std::string& path : inputs_.paths)
      if (!path.empty())
        record_.files.emplace_back(std::filesystem::path(path).filename().string(), file_sha256(path));
    describe_options();
  }

  void settle_labels() {
    labels_ = options_.labels;
    const int known = static_cast<int>(known_.size());
    if (init_) {
      labels_ = {init_->num_labels()};
    } else if (labels_.empty()) {
      labels_ = {known};
    }
    for (const int labels : labels_)
      if (labels < known)
        throw UsageError("--labels " + std::to_string(labels) + " is less than the " + std::to_string(known) +
                             " labels of --labels-known",
                         "give --labels " + std::to_string(known) + " or more; the others are new labels");
  }

  // Of tracks whose bins without a value say nothing.
  void add_absence_tracks() {
    const std::vector<Track> tracks = tracks_;
    for (const Track& track : tracks)
      if (track.is_input() && track.missing == MissingPolicy::kMarginal) tracks_.push_back(absence(track));
  }

  // That of the command line, else what the file says of itself, else what its tracks and the values look
  // like.
  void settle_family_of_init() {
    if (options_.emission) {
      family_ = *options_.emission;
    } else if (init_family_) {
      family_ = *init_family_;
    } else if (std::ranges::any_of(tracks_, &Track::is_square)) {
      family_ = EmissionFamily::kGaussian;
    } else if (std::ranges::all_of(
                   tracks_, [](const Track& track) { return track.transform == Transform::kBinarize; })) {
      family_ = EmissionFamily::kBernoulli;
    } else {
      family_ = choose_emission(inputs_.training);
    }
    const bool has_sizes = family_ == EmissionFamily::kNegativeBinomial &&
                           std::ssize(sizes_) == std::ranges::count_if(tracks_, &Track::is_input);
    if (!has_sizes) sizes_.clear();
  }

  void describe_options() {
    const auto add = [&](const std::string& name, const std::string& value) {
      record_.options.emplace_back(name, value);
    };
    add("bin-size", std::to_string(bin_size_));
    if (from_file()) add("init", std::filesystem::path(init_path()).filename().string());
    if (!options_.known_labels.empty())
      add("labels-known", std::filesystem::path(options_.known_labels).filename().string());
    add("precision", options_.engine.precision == Precision::kFloat ? "float" : "double");
    if (!options_.input.regions.empty()) add("region", joined(options_.input.regions, " "));
    if (!options_.val_regions.empty()) add("val-region", joined(options_.val_regions, " "));
    if (!options_.input.samples.empty()) add("sample", joined(options_.input.samples, " "));
    add("seed", std::to_string(options_.seed));
    add("restarts", std::to_string(options_.restarts));
    add("max-iterations", std::to_string(options_.max_iterations));
    add("tolerance", printed("%.15g", options_.tolerance));
  }

  void check_files() const {
    std::vector<OutputSpec> outputs{{options_.output, IndexKind::kNone}};
    for (const std::string& path : {options_.checkpoint, options_.stats_path})
      if (!path.empty()) outputs.push_back({path, IndexKind::kNone});
    std::vector<std::string> paths = inputs_.paths;
    if (!options_.chromhmm_model.empty()) paths.push_back(options_.chromhmm_model);
    check_outputs(outputs, paths);
  }

  // A model of the shape that is fitted, before anything is learned.
  Parameters shaped(int labels) const {
    if (init_) return *init_;
    Parameters parameters;
    parameters.labels = named_labels(labels);
    parameters.bin_size = bin_size_;
    parameters.bin_size_given = true;
    parameters.centering = Centering::kNone;
    parameters.tracks = tracks_;
    parameters.chain = SegmentLaw(options_.law, labels).first(2);
    const std::size_t weights = wide(labels) * tracks_.size();
    parameters.emission = EmissionHead{std::vector<double>(weights), std::vector<double>(wide(labels))};
    return parameters;
  }

  // The known ones, then 1, 2, ... as far as these names are not taken.
  std::vector<Label> named_labels(int count) const {
    std::vector<Label> labels = known_;
    for (int number = 1; labels.size() < wide(count); ++number) {
      const std::string name = std::to_string(number);
      if (std::ranges::none_of(known_, [&](const Label& label) { return label.name == name; }))
        labels.push_back({name, std::nullopt});
    }
    for (std::size_t c = 0; c < labels.size(); ++c)
      if (!labels[c].color) labels[c].color = palette_color(c);
    return labels;
  }

  LawOptions law_options() const {
    LawOptions law = options_.law;
    if (!init_) return law;
    // The shape is that of the file.
    law.max_duration = init_->chain.max_duration;
    law.tail = init_->chain.has_tail();
    for (int c = 0; c < init_->num_labels(); ++c)
      law.self_transitions = law.self_transitions || init_->chain.transition_at(c, c) > kNegativeInfinity;
    return law;
  }

  // With so many fits side by side.
  std::size_t needed_memory(int fits) const {
    std::size_t bytes = kFixedMemory;
    for (const TrainingData* data : {&inputs_.training, &inputs_.validation})
      bytes += static_cast<std::size_t>(data->positions()) * wide(data->num_tracks) * sizeof(float);
    EngineOptions engine = options_.engine;
    engine.threads = std::max(1, engine.threads / fits);
    std::size_t most = 0;
    for (const int labels : labels_)
      most = std::max(most, objective_bytes(inputs_.training, shaped(labels), engine));
    const std::size_t clusters = static_cast<std::size_t>(inputs_.training.positions()) * sizeof(int);
    return bytes + wide(fits) * (most + clusters);
  }

  std::string engine_text() const {
    return make_engine(options_.engine, shaped(labels_.front()).chain)->description();
  }

  std::string data_text(const TrainingData& data) const {
    const std::string text = std::to_string(data.positions()) + " bins of " + std::to_string(bin_size_) +
                             " bases in " + std::to_string(data.pieces.size()) +
                             (data.pieces.size() == 1 ? " piece" : " pieces");
    if (known_.empty()) return text;
    return text + "; " + std::to_string(labelled_bins(data)) + " bins are labelled";
  }

  static std::int64_t labelled_bins(const TrainingData& data) {
    std::int64_t bins = 0;
    for (const TrainingPiece& piece : data.pieces)
      for (const LabelEvidence& one : piece.evidence)
        if (!one.is_free()) bins += one.end - one.begin;
    return bins;
  }

  // What is likely: ln P of this.
  std::string likely_text() const { return known_.empty() ? "ln P(tracks) " : "ln P(tracks, labels) "; }

  std::string model_text(int labels) const {
    const ChainModel chain = shaped(labels).chain;
    return std::to_string(labels) + " labels, durations up to " + std::to_string(chain.max_duration) +
           (chain.has_tail() ? " bins and a tail" : " bins");
  }

  // A number of labels, and which of its starts.
  struct Job {
    int labels = 0, restart = 0;
  };
  std::vector<Job> jobs() const {
    std::vector<Job> jobs;
    for (const int labels : labels_)
      for (int restart = 0; restart < (init_ ? 1 : options_.restarts); ++restart)
        jobs.push_back({labels, restart});
    return jobs;
  }

  // Fits that run side by side, each with its part of the threads: as many as the memory holds, one on a GPU.
  int fits_at_once() const {
    const bool on_host = options_.engine.backend != EngineOptions::Backend::kCuda;
    const std::size_t most = std::min(jobs().size(), wide(on_host ? options_.engine.threads : 1));
    const std::size_t limit = options_.max_memory ? static_cast<std::size_t>(*options_.max_memory)
                                                  : std::max(needed_memory(1), kModestMemory);
    std::size_t fits = 1;
    while (fits < most && needed_memory(static_cast<int>(fits) + 1) <= limit) ++fits;
    return static_cast<int>(fits);
  }

  // Where the fits begin, or go on from a checkpoint.
  std::vector<EmState> first_states(const std::string& print) const {
    std::vector<Parameters> shapes;
    for (const Job& job : jobs()) shapes.push_back(shaped(job.labels));
    const auto say = [this](const std::string& line) { tell(log_, line); };
    if (is_resumed(options_.resume, options_.resume_must_exist, "learning", say)) {
      std::vector<EmState> states = read_learn_checkpoint(options_.resume, print, shapes);
      std::size_t iterations = 0;
      for (const EmState& state : states) iterations += state.log_likelihood.size();
      say("resumed after " + std::to_string(iterations) + " passes over the data in all fits");
      return states;
    }
    std::vector<EmState> states(shapes.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) states[i].parameters = std::move(shapes[i]);
    return states;
  }

  // Of what the fits depend on: files, options and models, but for when they stop.
  std::string fingerprint() const {
    std::string text;
    for (const auto& [name, digest] : record_.files) text += name + " " + digest + "\n";
    for (const auto& [name, value] : record_.options)
      if (name != "max-iterations" && name != "tolerance") text += name + " " + value + "\n";
    text += data_text(inputs_.training) + "\n" + std::string(emission_name(family_)) + "\n";
    text += std::to_string(static_cast<int>(options_.start)) + " " +
            std::to_string(static_cast<int>(options_.law.durations.value_or(LawKind::kTable))) + "\n";
    for (const Job& job : jobs()) {
      Parameters shape = shaped(job.labels);
      remove_absences(shape);
      set_duration_spec(shape);
      text += write_params_json(shape) + std::to_string(job.restart) + "\n";
    }
    return sha256_hex(text);
  }

  void fit_all() {
    const std::vector<Job> all = jobs();
    const int at_once = fits_at_once();
    const bool on_disk = !options_.checkpoint.empty() || !options_.resume.empty();
    const std::string print = on_disk ? fingerprint() : "";
    std::vector<EmState> states = first_states(print);
    LearnCheckpoint checkpoint(options_.checkpoint, print, options_.checkpoint_every, states,
                               [this](const std::string& line) { tell(log_, line); });
    std::vector<int> free_parameters(all.size());
    parallel_for(at_once, all.size(), [&](std::size_t i, int) {
      free_parameters[i] =
          fit(all[i], at_once, states[i], [&](const EmState& state) { checkpoint.reached(i, state); });
    });
    for (std::size_t i = 0; i < all.size(); ++i) keep(std::move(states[i]), all[i], free_parameters[i]);
  }

  // Returns the number of free parameters.
  int fit(const Job& job, int at_once, EmState& state,
          const std::function<void(const EmState&)>& save) const {
    const SegmentLaw law(law_options(), job.labels);
    Emissions emissions(family_, inputs_.training, sizes_);
    EngineOptions engine = options_.engine;
    engine.threads = std::max(1, engine.threads / at_once);
    if (!init_ && state.log_likelihood.empty()) {
      EmStart start = choose_start(inputs_.training, state.parameters, law_options(), family_, sizes_,
                                   {job.labels, static_cast<int>(known_.size()), options_.start,
                                    options_.seed + static_cast<std::uint64_t>(job.restart)},
                                   engine);
      state.parameters = std::move(start.parameters);
      state.sizes = std::move(start.sizes);
      if (start.window > 1)
        tell(log_, fit_name(job) + ": starts from clusters of means over " + std::to_string(start.window) +
                       " bins");
    }
    state =
        fit_em(inputs_.training, inputs_.validation, engine, {options_.max_iterations, options_.tolerance},
               law, emissions, std::move(state), {[&](const EmIteration& done) { show(job, done); }, save});
    return law.free_parameters() + emissions.free_parameters(job.labels);
  }

  std::string fit_name(const Job& job) const {
    const bool several = options_.restarts > 1 && !init_;
    return "labels " + std::to_string(job.labels) +
           (several ? " (start " + std::to_string(job.restart + 1) + ")" : "");
  }

  void show(const Job& job, const EmIteration& done) const {
    if (!log_.iteration) return;
    log_.iteration(fit_name(job) + ", iteration " + std::to_string(done.iteration) + ": " + likely_text() +
                   printed("%.4f", done.log_likelihood) + ", per bin " +
                   printed("%.7f", done.log_likelihood / static_cast<double>(record_.positions)) + ", " +
                   printed("%.2f s", done.seconds));
  }

  void keep(EmState state, const Job& job, int free_parameters) {
    LearnedFit fit;
    fit.labels = job.labels;
    fit.restart = job.restart;
    fit.iterations = state.iterations();
    fit.converged = state.converged;
    fit.parameters = free_parameters;
    fit.log_likelihood = std::move(state.log_likelihood);
    fit.validation = state.validation;
    fit.aic = 2 * fit.parameters - 2 * fit.log_likelihood.back();
    fit.bic =
        fit.parameters * std::log(static_cast<double>(record_.positions)) - 2 * fit.log_likelihood.back();
    record_.fits.push_back(std::move(fit));
    const std::size_t latest = record_.fits.size() - 1;
    if (latest > 0 && !is_better(record_.fits[latest], record_.fits[record_.chosen])) return;
    record_.chosen = latest;
    best_bins_ = state.bins;
    record_.sizes = state.sizes;
    best_ = init_ ? state.parameters : sorted_by_bins(state.parameters, state.bins, known_.size());
  }

  static bool is_better(const LearnedFit& a, const LearnedFit& b) {
    if (a.labels == b.labels) return a.log_likelihood.back() > b.log_likelihood.back();
    return a.validation && b.validation ? *a.validation > *b.validation : a.bic < b.bic;
  }

  void warn_of_model() {
    for (const Warning& warning : warnings_of_model(best_, best_bins_)) {
      inputs_.warnings.push_back(warning);
      if (log_.warn) log_.warn(warning);
    }
  }

  void write() {
    set_duration_spec(best_);
    remove_absences(best_);
    best_.training = learn_record_text(record_);
    const LearnedFit& chosen = record_.fits[record_.chosen];
    tell(log_, std::to_string(chosen.labels) + " labels after " + std::to_string(chosen.iterations) +
                   " iterations: " + likely_text() + printed("%.4f", chosen.log_likelihood.back()) +
                   ", AIC " + printed("%.1f", chosen.aic) + ", BIC " + printed("%.1f", chosen.bic) +
                   (chosen.converged ? "" : "; not converged, see --max-iterations"));
    write_whole_output(options_.output, write_params_json(best_));
    if (options_.stats_path.empty()) return;
    Stats stats;
    stats.version = options_.version;
    stats.device = engine_text();
    stats.peak_memory = peak_resident_bytes();
    stats.warnings = inputs_.warnings;
    stats.missing_tracks = lacking_stats(lacking_tracks_);
    stats.learning = {chosen.log_likelihood, chosen.aic, chosen.bic, chosen.validation};
    stats.sequences = inputs_.sequences;
    write_stats(options_.stats_path, stats);
  }

  const LearnOptions& options_;
  const LearnLog& log_;
  std::optional<Parameters> init_;
  std::int64_t bin_size_ = 1;
  std::vector<Track> tracks_;  // of the features
  TrainingInputs inputs_;      // features
  EmissionFamily family_ = EmissionFamily::kBernoulli;
  std::optional<EmissionFamily> init_family_;  // that --init says of itself
  std::vector<double> sizes_;                  // of negative binomials, where --init says them
  std::vector<LackingTrack> lacking_tracks_;
  std::vector<Label> known_;  // labels of --labels-known, the first of the model
  std::vector<int> labels_;
  LearnRecord record_;
  Parameters best_;
  std::vector<double> best_bins_;
};

}  // namespace

void run_learn(const LearnOptions& options, const LearnLog& log) { Learner(options, log).run(); }

std::string plan_learn(const LearnOptions& options) { return Learner(options, {}).plan(); }

}  // namespace semicrf
