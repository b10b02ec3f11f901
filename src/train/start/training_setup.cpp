#include "train/start/training_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "core/error.h"
#include "core/process_memory.h"
#include "core/sizes.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "inputs/arguments/input_arguments.h"
#include "io/files/output_file.h"
#include "io/json/json_document.h"
#include "io/params/params_json.h"
#include "io/text/provenance_header.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"
#include "train/data/true_path.h"
#include "train/objective/objective.h"
#include "train/start/fit_transforms.h"
#include "train/start/training_emissions.h"

namespace semicrf {
namespace {

std::string number(double value) { return fmt::format("{:.15g}", value); }

// What changes the result, as it was asked for; what is absent was chosen.
std::vector<std::pair<std::string, std::string>> option_list(const TrainOptions& options, double margin,
                                                             std::int64_t bin_size) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add = [&](const std::string& name, const std::string& value) { list.emplace_back(name, value); };
  const auto add_texts = [&](const std::string& name, const std::vector<std::string>& texts) {
    if (!texts.empty()) add(name, joined(texts, " "));
  };
  add("bin-size", fmt::to_string(bin_size));
  add("precision", options.engine.precision == Precision::kFloat ? "float" : "double");
  add_texts("region", options.input.regions);
  add_texts("val-region", options.val_regions);
  if (options.labels.times.rate > 0) add("rate", number(options.labels.times.rate));
  if (!options.labels.times.tier.empty()) add("tier", options.labels.times.tier);
  if (!options.input.samples.empty()) add_texts("sample", chosen_samples(options.input));
  if (!options.input.track_pattern.empty()) add("track-pattern", options.input.track_pattern);
  add_texts("track-names", options.input.track_names);
  if (options.input.chromosomes == ChromosomePolicy::kCommon) add("chromosomes", "common");
  if (options.input.chromosomes == ChromosomePolicy::kUnion) add("chromosomes", "union");
  if (!options.labels.background.empty()) add("background", options.labels.background);
  if (options.labels.unlabeled != Unlabeled::kShort)
    add("unlabeled", options.labels.unlabeled == Unlabeled::kCut ? "cut" : "free");
  add_texts("emission", options.emission);
  if (options.emissions.outliers > 0) add("outliers", number(options.emissions.outliers));
  add_texts("tie", options.tie);
  add_texts("freeze", options.freeze);
  const ShapeOptions& shape = options.shape;
  if (shape.max_duration) add("max-duration", fmt::to_string(*shape.max_duration));
  if (shape.tail) add("tail", "yes");
  add_texts("min-duration", shape.min_durations);
  if (shape.no_boundary) add("boundary-window", "none");
  if (shape.boundary_window)
    add("boundary-window", fmt::format("{},{}", shape.boundary_window->first, shape.boundary_window->second));
  if (shape.centering) add("centering", std::string(centering_name(*shape.centering)));
  if (shape.duration) add("duration", std::string(shape.duration->name()));
  if (options.input.edges) add("edges", std::string(edge_rule_name(*options.input.edges)));
  if (shape.transform) add("transform", std::string(transform_name(*shape.transform)));
  add("missing", std::string(missing_policy_name(shape.missing)));
  add("l2", number(options.penalty.l2));
  add("l2-boundary", number(options.penalty.l2_boundary));
  add("l2-transition", number(options.penalty.l2_transition));
  if (margin > 0) add("margin", number(margin));
  add("smoothness", number(options.penalty.smoothness));
  if (options.optimizer == Optimizer::kAdamW) {
    add("optimizer", "adamw");
    add("learning-rate", number(options.adamw.learning_rate));
    if (options.adamw.schedule != RateSchedule::kLinear)
      add("schedule", options.adamw.schedule == RateSchedule::kCosine ? "cosine" : "constant");
    if (options.adamw.warm_up > 0) add("warm-up", fmt::to_string(options.adamw.warm_up));
    if (options.adamw.clip_norm > 0) add("clip-norm", number(options.adamw.clip_norm));
    add("weight-decay", number(options.adamw.weight_decay));
    add("window", fmt::to_string(options.adamw.window));
    add("batch", fmt::to_string(options.adamw.batch));
    add("seed", fmt::to_string(options.adamw.seed));
  } else {
    add("optimizer", "lbfgs");
  }
  return list;
}

std::vector<std::pair<std::string, std::string>> stop_list(const StopRule& stop) {
  return {{"max-iterations", fmt::to_string(stop.max_iterations)},
          {"tolerance", number(stop.tolerance)},
          {"patience", fmt::to_string(stop.patience)}};
}

std::string fingerprint_of(const TrainOptions& options, const TrainingRecord& record) {
  std::string text = "coordinates 2\n";  // version of the coordinates of parameter_space.cpp
  for (const TrainingRecord::File& file : record.files)
    text.append(file.role).append(" ").append(file.sha256).append("\n");
  for (const auto& [name, value] : record.options) text.append(name).append(" ").append(value).append("\n");
  if (record.free_positions > 0) text += fmt::format("free {}\n", record.free_positions);
  // The learning rate of AdamW falls over the iterations asked for.
  if (options.optimizer == Optimizer::kAdamW) text += fmt::format("{}\n", options.stop.max_iterations);
  return sha256_hex(text);
}

NameIndex paths_of(const std::vector<std::string>& arguments) {
  NameIndex paths;
  for (const std::string& text : arguments) paths.add(parse_input_argument(text).path);
  return paths;
}

std::vector<TrainingRecord::File> files_of(const TrainOptions& options, const TrainingInputs& inputs) {
  std::vector<TrainingRecord::File> files;
  const NameIndex labels = NameIndex::of(inputs.labels);
  const NameIndex starts = paths_of(options.input.start_scores), ends = paths_of(options.input.end_scores);
  for (const std::string& path : inputs.paths) {
    if (path.empty()) continue;
    std::string role = "track";
    if (labels.contains(path)) role = "labels";
    if (starts.contains(path)) role = "start-scores";
    if (ends.contains(path)) role = "end-scores";
    if (path == options.input.parameters) role = "init";
    if (path == options.input.regions_file) role = "regions";
    if (path == options.input.exclude_file) role = "exclude";
    if (path == options.input.chrom_sizes_file) role = "chrom-sizes";
    if (path == options.input.samples_file) role = "samples";
    files.push_back({role, std::filesystem::path(path).filename().string(), file_sha256(path)});
  }
  return files;
}

void check_every_label_is_seen(const TrainingSetup& setup, const LabelFile& labels) {
  for (std::size_t c = 0; c < labels.labels.size(); ++c) {
    if (setup.counts.segments[c] > 0) continue;
    throw InputError(
        {labels.path, "",
         "the label " + in_quotes(labels.labels[c].name) + " has no segment in the training data",
         "train on regions that have one, or remove the label; a line with several labels does "
         "not count"});
  }
}

void check_paths(const TrainingData& data, const Parameters& parameters, const std::vector<LabelFile>& files,
                 bool has_shortest) {
  for (const TrainingPiece& piece : data.pieces) {
    const LabelFile& labels = files[files.size() > 1 ? piece.sample : 0];
    const PathProblem problem = find_problem(parameters, piece);
    if (problem.what.empty()) continue;
    const auto source = labels.sources.find(piece.location.chromosome);
    const std::string& file = source == labels.sources.end() ? labels.path : source->second;
    throw InputError({file, problem.line > 0 ? fmt::format("line {}", problem.line) : "",
                      problem.what + " (" + problem.where + ")",
                      has_shortest
                          ? "give a smaller --min-duration, LABEL=N for a label alone, or change the labels"
                          : "change the labels, or what --init forbids"});
  }
}

void add_boundary_head(std::pair<int, int> window, Parameters& parameters) {
  const auto [first, last] = window;
  if (first > last || first < -kMaxBoundaryOffset || last > kMaxBoundaryOffset)
    throw UsageError(fmt::format("--boundary-window: {},{} is not a window", first, last),
                     "give two offsets in bins, the smaller one first: -10,10");
  if (parameters.boundary) {
    if (parameters.boundary->first == first && parameters.boundary->last == last) return;
    throw UsageError("--boundary-window differs from the window of the --init parameters",
                     "leave it out, or start without --init");
  }
  BoundaryHead head;
  head.first = first;
  head.last = last;
  const std::size_t inputs = parameters.tracks.size() * (last - first + 1);
  head.start_weights.assign(parameters.labels.size() * inputs, 0.0);
  head.end_weights = head.start_weights;
  parameters.boundary = head;
}

// The boundary head and the margin of a model whose shape is chosen (docs/users/training.md).
constexpr std::pair<int, int> kChosenWindow{-2, 2};
constexpr double kChosenMargin = 16;  // log units, for all bins of a segment of mean duration

bool is_linear_chain(const ChainModel& chain) { return chain.max_duration == 1 && !chain.has_tail(); }

// The first parameters from those of --init; durations anew where an option asks for another shape.
Parameters adapt_init(const ShapeOptions& options, Parameters parameters, TrainingInputs& inputs) {
  parameters.rule.reset();  // the model before had it
  if (options.centering) parameters.centering = *options.centering;
  const bool reshape = options.max_duration || options.tail || options.duration;
  DurationShape shape;
  shape.kind = options.duration != nullptr ? options.duration : parameters.duration.kind;
  shape.max_duration = options.max_duration.value_or(parameters.chain.max_duration);
  shape.tail = options.tail || (parameters.chain.has_tail() && !options.max_duration);
  const bool chain = reshape ? shape.max_duration == 1 && !shape.tail : is_linear_chain(parameters.chain);
  if (chain) {
    split_into_single_bins(inputs.training);
    split_into_single_bins(inputs.validation);
  }
  if (reshape) {
    parameters.duration = DurationSpec{};
    set_initial_durations(shape, count_paths(inputs.training), parameters);
  }
  return parameters;
}

class SetUp {
 public:
  explicit SetUp(const TrainOptions& options) : options_(options) {}

  TrainingSetup run() {
    check_boundary_inputs();
    if (!options_.input.parameters.empty()) {
      init_ = read_params_json(options_.input.parameters).parameters;
      if (!init_->emission)
        throw InputError(
            {options_.input.parameters, "", "the --init parameters have no emission section to train",
             "semicrf info --template -L LABELS -T TRACKS prints a file with an emission section"});
      if (options_.shape.transform)
        throw UsageError("--transform cannot be given with --init",
                         "the weights of --init belong to the transforms in that file");
    }
    check_emission_options(options_, init_ ? &*init_ : nullptr);
    if (init_ && has_families(*init_)) plan_ = plan_of_init(options_, *init_);
    const bool families = !options_.emission.empty();
    const std::optional<std::int64_t> given_bin_size = settle_bin_size();
    const std::int64_t bin_size = given_bin_size ? *given_bin_size : default_bin_size(options_.input);
    if (init_) init_->bin_size = bin_size;
    const std::vector<Label> known = init_ ? init_->labels : std::vector<Label>();
    LabelTimes times = options_.labels.times;
    times.bin_size = bin_size;
    std::vector<LabelFile> files = read_label_files(label_paths(), known, times);
    const std::int64_t longest_gap = longest_free_gap(files, bin_size);
    for (LabelFile& file : files) {
      if (!options_.labels.background.empty()) set_background(options_.labels.background, known, file);
      if (!init_) require_two_labels(file);
      file.longest_free_gap = longest_gap;
    }
    const LabelFile& labels = files.front();
    std::vector<Track> tracks =
        init_ ? init_->tracks
              : tracks_of_inputs(options_.input,
                                 families ? missing_of_families(options_) : options_.shape.missing);
    setup_.inputs = read_training_inputs(options_, files, tracks, bin_size);
    if (!given_bin_size) tell_default_bin_size(files, bin_size);
    if (families) {
      plan_ = plan_emissions(options_, tracks, setup_.inputs);
    } else if (!init_) {
      fit_transforms(setup_.inputs.training, options_.shape.transform, tracks, setup_.inputs.warnings);
      apply_transforms(tracks, setup_.inputs.training);
      apply_transforms(tracks, setup_.inputs.validation);
      if (labels.background) add_squares(setup_.inputs.training, tracks);
    }
    const auto inputs = static_cast<int>(std::ranges::count_if(tracks, &Track::is_input));
    for (TrainingData* data : {&setup_.inputs.training, &setup_.inputs.validation}) {
      if (!plan_) {
        add_derived_features(tracks, *data);
      } else if (init_) {
        data->num_tracks = inputs;  // densities are made where they are scored
      }
    }
    setup_.counts = count_paths(setup_.inputs.training);
    check_every_label_is_seen(setup_, labels);
    make_first(labels, tracks, bin_size);
    if (setup_.first.centering == Centering::kMean)
      read_feature_means(options_, setup_.first.tracks, bin_size, setup_.inputs);
    const bool has_shortest = !options_.shape.min_durations.empty();
    check_paths(setup_.inputs.training, setup_.first, files, has_shortest);
    check_paths(setup_.inputs.validation, setup_.first, files, has_shortest);
    describe(bin_size);
    return std::move(setup_);
  }

 private:
  // The files of the labels, or those of each sample in their order.
  std::vector<std::vector<std::string>> label_paths() const {
    const LabelOptions& given = options_.labels;
    if (!given.files.empty()) return {given.files};
    if (!has_samples(options_.input)) throw_no_labels();
    std::map<std::string, std::string> paths;
    for (const SampleRow& row : sample_rows(options_.input))
      if (given.of_samples.empty() && !row.labels.empty()) paths[row.sample] = row.labels;
    const std::vector<std::string> samples = chosen_samples(options_.input);
    for (const std::string& text : given.of_samples) {
      const std::string sample = text.substr(0, text.find('='));
      if (std::ranges::find(samples, sample) == samples.end())
        throw UsageError("--labels " + text + ": there is no sample " + in_quotes(sample),
                         "the samples are " + joined(samples, ", "));
      if (!paths.emplace(sample, text.substr(sample.size() + 1)).second)
        throw UsageError("--labels names the sample " + in_quotes(sample) + " twice",
                         "give one file of each");
    }
    if (paths.empty()) throw_no_labels();
    std::vector<std::vector<std::string>> list;
    for (const std::string& sample : samples) {
      if (!paths.contains(sample))
        throw UsageError("the sample " + in_quotes(sample) + " has no labels",
                         "add --labels " + sample + "=FILE, or leave the sample out");
      list.push_back({paths.at(sample)});
    }
    return list;
  }

  [[noreturn]] static void throw_no_labels() {
    throw UsageError("--labels is required",
                     "give a BED file with the true segments, or a column \"labels\" in the sample sheet");
  }

  // Scores that are given take the place of learned ones, and no factor after a fit could reach them.
  void check_boundary_inputs() const {
    if (!gives_boundary_scores(options_.input)) return;
    if (options_.shape.boundary_window)
      throw UsageError("--boundary-window cannot be given with --start-scores or --end-scores",
                       "it learns scores of starts and ends, which these give: use one or the other");
    if (options_.margin.value_or(0) > 0)
      throw UsageError(
          "--margin cannot be given with --start-scores or --end-scores",
          "all scores are multiplied by a factor after a fit with a margin, and these are inputs");
    if (inputs_of_samples(options_.input).size() > 1)
      throw UsageError("--start-scores and --end-scores need training data of one sample, found several",
                       "choose one with --sample");
  }

  // Heads and a margin are chosen unless the kind of the model is given. The calibration that a margin needs
  // is that of a table of durations.
  bool chooses_shape() const {
    return !init_ && !plan_ && options_.shape.duration == nullptr && !is_linear_chain(setup_.first.chain);
  }

  // Bases per bin; nothing where neither the command line nor --init says it.
  std::optional<std::int64_t> settle_bin_size() const {
    const auto& given = options_.input.bin_size;
    if (given && *given < 1) throw UsageError("--bin-size must be at least 1");
    if (given && *given > kMaxBinSize)
      throw UsageError(fmt::format("--bin-size must be at most {}", kMaxBinSize));
    if (!init_) return given;
    if (given && init_->bin_size != 1 && init_->bin_size != *given)
      throw UsageError(fmt::format("--bin-size is {}, the bin_size of --init is {}", *given, init_->bin_size),
                       "leave --bin-size out");
    if (given || init_->bin_size_given) return given.value_or(init_->bin_size);
    return std::nullopt;
  }

  // A warning where edges of labels lie within the bins that nobody asked for.
  void tell_default_bin_size(const std::vector<LabelFile>& files, std::int64_t bin_size) {
    LabelEdges edges;
    for (const LabelFile& file : files) edges += edges_within_bins(file, bin_size);
    if (edges.within == 0) return;
    setup_.inputs.warnings.push_back(
        {"bin-size-of-labels", fmt::format("without --bin-size a bin has {} bases, and {} of {} lie within "
                                           "bins and move to the nearest edge of one; -b N gives another",
                                           bin_size, edges.within, plural(edges.all, "label edge"))});
  }

  // The longest of the gaps that may have any label, in bins; 0: there are none.
  std::int64_t longest_free_gap(const std::vector<LabelFile>& files, std::int64_t bin_size) const {
    switch (options_.labels.unlabeled) {
      case Unlabeled::kCut:
        return 0;
      case Unlabeled::kFree:
        return std::numeric_limits<std::int64_t>::max();
      case Unlabeled::kShort:
        break;
    }
    if (options_.shape.max_duration) return *options_.shape.max_duration - 1;
    if (init_) return init_->chain.max_duration - 1;
    std::vector<std::int64_t> bins;
    for (const LabelFile& labels : files)
      for (const auto& [chromosome, records] : labels.chromosomes)
        for (const LabelRecord& record : records) bins.push_back((record.end - record.begin) / bin_size);
    return long_duration(std::move(bins)) - 1;
  }

  void make_first(const LabelFile& labels, const std::vector<Track>& tracks, std::int64_t bin_size) {
    setup_.frozen = parse_parts(options_.freeze);
    TrainingInputs& inputs = setup_.inputs;
    const double mean_duration = mean_signal_duration(labels.background);
    const std::vector<int> shortest = shortest_durations(options_.shape.min_durations, labels.labels);
    if (init_) {
      setup_.first = adapt_init(options_.shape, *init_, inputs);
    } else {
      const DurationShape shape = settle_durations(options_.shape, inputs.training, inputs.validation,
                                                   labels.background, std::ranges::max(shortest));
      if (shape.max_duration == 1 && !shape.tail) {
        split_into_single_bins(inputs.training);
        split_into_single_bins(inputs.validation);
      }
      setup_.first = initial_parameters(options_.shape.centering, shape, labels, tracks, bin_size,
                                        inputs.training, inputs.validation, !plan_);
    }
    set_shortest_durations(shortest, setup_.first);
    // In a linear chain the score of the only duration is a second bias.
    if (is_linear_chain(setup_.first.chain)) setup_.frozen.insert(ParameterPart::kDuration);
    setup_.first.training.clear();
    const bool given = gives_boundary_scores(options_.input);
    if (given && setup_.first.boundary)
      throw UsageError("the --init parameters have a boundary section, which makes start or end scores",
                       "leave --start-scores and --end-scores out");
    settle_edges();
    setup_.counts = count_paths(inputs.training);
    if (plan_) {
      setup_.emission_text = emission_text(*plan_, tracks);
      setup_.emissions =
          set_up_emissions(options_, *plan_, inputs.training, setup_.counts, !init_, setup_.first);
    }
    if (options_.shape.boundary_window) {
      add_boundary_head(*options_.shape.boundary_window, setup_.first);
    } else if (chooses_shape() && !options_.shape.no_boundary && !given) {
      add_boundary_head(kChosenWindow, setup_.first);
    }
    setup_.margin = options_.margin.value_or(chooses_shape() && !given ? kChosenMargin / mean_duration : 0);
  }

  // Mean duration, in bins, of the training segments of all labels but the background.
  double mean_signal_duration(std::optional<int> background) const {
    double bins = 0, segments = 0;
    for (std::size_t c = 0; c < setup_.counts.segments.size(); ++c) {
      if (background && c == wide(*background)) continue;
      bins += setup_.counts.positions[c];
      segments += setup_.counts.segments[c];
    }
    return bins / segments;
  }

  // How the first and last segments of pieces are learned. Of a linear chain they are all whole.
  void settle_edges() {
    TrainingInputs& inputs = setup_.inputs;
    const bool chain = is_linear_chain(setup_.first.chain);
    const bool censored = inputs.cut || setup_.first.edges == EdgeRule::kCensored;
    const EdgeRule chosen = censored && !chain ? EdgeRule::kCensored : EdgeRule::kComplete;
    setup_.first.edges = options_.input.edges.value_or(chosen);
    if (setup_.first.edges == EdgeRule::kCensored) return;
    for (TrainingData* data : {&inputs.training, &inputs.validation})
      for (TrainingPiece& piece : data->pieces) piece.cut = {};
  }

  void describe(std::int64_t bin_size) {
    TrainingRecord& record = setup_.record;
    record.version = options_.version;
    record.files = files_of(options_, setup_.inputs);
    record.options = option_list(options_, setup_.margin, bin_size);
    record.free_positions = setup_.inputs.training.free_positions();
    setup_.fingerprint = fingerprint_of(options_, record);
    for (auto& entry : stop_list(options_.stop)) record.options.push_back(std::move(entry));
    record.positions = setup_.inputs.training.positions();
    record.pieces = std::ssize(setup_.inputs.training.pieces);
    record.segments = setup_.inputs.training.segments();
    record.validation_positions = setup_.inputs.validation.positions();
  }

  const TrainOptions& options_;
  mutable std::optional<Parameters> init_;
  std::optional<EmissionPlan> plan_;  // distributions in the place of heads
  TrainingSetup setup_;
};

}  // namespace

TrainingSetup set_up_training(const TrainOptions& options) { return SetUp(options).run(); }

}  // namespace semicrf
