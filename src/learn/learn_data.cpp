#include "learn/learn_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "inputs/arguments/input_arguments.h"
#include "io/models/chromhmm_model.h"
#include "io/params/params_json.h"
#include "io/params/training_record.h"
#include "learn/copy_number.h"
#include "learn/learn_shapes.h"
#include "learn/segment_law.h"
#include "model/exchange/chromhmm.h"
#include "model/missing_tracks.h"
#include "model/scores/densities.h"
#include "model/scores/feature_transform.h"
#include "train/data/label_file.h"

namespace semicrf {
namespace {

// What reading takes of the options of `train`.
TrainOptions reading_options(const LearnOptions& options) {
  TrainOptions reading;
  reading.max_memory = options.max_memory;
  reading.input = options.input;
  reading.val_regions = options.val_regions;
  reading.engine = options.engine;
  reading.input.missing_tracks.clear();  // the model has them no more when the tracks are read
  reading.samples_may_lack_tracks = true;
  return reading;
}

class LearnDataReader {
 public:
  explicit LearnDataReader(const LearnOptions& options) : options_(options) {}

  LearnData read() {
    check_options();
    if (options_.preset) {
      take_init(*options_.preset);
    } else if (options_.from_file()) {
      read_init();
    }
    read_data();
    return std::move(data_);
  }

  // Data that lie in memory: raw values of `tracks`, which are those of the model to go on from, if there is
  // one.
  LearnData take(std::optional<Parameters> init, TrainingData raw, std::vector<Track> tracks) {
    if (init) take_init(std::move(*init));
    data_.tracks = std::move(tracks);
    data_.inputs.training = std::move(raw);
    settle_features();
    return std::move(data_);
  }

 private:
  void check_options() const {
    if (options_.most_copies && !(options_.checkpoint.file.empty() && options_.checkpoint.resume.empty()))
      throw UsageError("--preset copy-number keeps no checkpoint", "leave --checkpoint and --resume out");
    if (!options_.most_copies && (options_.purity || options_.ploidy))
      throw UsageError("--purity and --ploidy belong to --preset copy-number", "leave them out");
    if (options_.labels.empty() && !options_.from_model() && options_.known_labels.empty())
      throw UsageError("the number of labels is not given", "add --labels N, or start from --init FILE");
    if (options_.input.bin_size && (*options_.input.bin_size < 1 || *options_.input.bin_size > kMaxBinSize))
      throw UsageError(fmt::format("--bin-size must be 1 to {}", kMaxBinSize));
    if (!options_.from_file() && !options_.input.missing_tracks.empty())
      throw UsageError("--missing-track names a track of --init FILE, which is not given",
                       "leave out what the inputs do not have");
    if (options_.input.sites) check_sites();
    if (!options_.min_durations.empty() && !options_.from_model() && options_.known_labels.empty())
      throw UsageError("--min-duration " + options_.min_durations.front() +
                           ": labels have no names before they are learned",
                       "give --min-duration N for all, or names by --labels-known, --init or --preset");
    check_resume(options_.checkpoint);
    const EmissionWishes& wishes = options_.emissions;
    const FrozenParts& frozen = wishes.frozen;
    if (!options_.from_model() &&
        (frozen.start || frozen.transition || frozen.duration || wishes.frozen_parts.any()))
      throw UsageError("--freeze keeps what --init FILE gives, which is not given");
    for (const DensityPart part : kDensityParts)
      if (wishes.tied[part] && wishes.frozen_parts[part])
        throw UsageError("a part that --freeze names cannot be tied, too", "leave one of them out");
    if (options_.from_file() && !options_.labels.empty())
      throw UsageError("--labels cannot be given together with --init FILE, which has its labels");
  }

  // Only geometric durations have gaps in closed form.
  void check_sites() const {
    const LawOptions& law = options_.law;
    if (law.durations.value_or(LawKind::kGeometric) != LawKind::kGeometric || law.min_duration > 1 ||
        !options_.min_durations.empty() || law.max_duration.value_or(1) > 1)
      throw UsageError("--sites has geometric durations alone", "leave --duration and the others out");
    if (options_.input.bin_size.value_or(1) != 1)
      throw UsageError("--sites counts in bases, not in bins", "leave --bin-size out");
    if (!options_.known_labels.empty()) throw UsageError("--labels-known does not go with --sites");
  }

  void read_init() {
    if (options_.chromhmm_model.empty()) {
      take_init(read_params_json(options_.input.parameters).parameters);
    } else {
      take_init(parameters_of(read_chromhmm_model(options_.chromhmm_model),
                              options_.input.bin_size.value_or(kDefaultBinSize), data_.inputs.warnings));
    }
  }

  void take_init(Parameters init) {
    data_.init = std::move(init);
    check_init();
    RecordedEmissions recorded = recorded_emissions(data_.init->training);
    if (recorded.scale != 1)
      throw InputError({options_.init_path(), "/training/emission_scale",
                        "the emissions of these --init parameters are not log densities but a multiple",
                        "learn starts from models of single bins; start without --init FILE"});
    InputOptions input = options_.input;
    if (input.missing != MissingPolicy::kDefault)
      for (Track& track : data_.init->tracks)
        if (track.is_input()) track.missing = input.missing;
    input.missing = MissingPolicy::kDefault;
    open_lacking(data_.init->tracks);
    data_.lacking_tracks = settle_lacking(input, *data_.init, recorded);
    init_family_ = emission_from_name(recorded.family);
    data_.emissions.sizes = std::move(recorded.sizes);
    const bool reshape = options_.law.max_duration || options_.law.tail || options_.law.durations ||
                         options_.law.min_duration > 1 || !options_.min_durations.empty();
    if (!reshape && options_.chromhmm_model.empty()) return;
    try {
      const LawOptions law = law_of(options_, data_.init->labels);
      data_.init->chain = SegmentLaw(law, data_.init->num_labels()).reshaped(data_.init->chain);
    } catch (const InputError& error) {
      throw InputError({options_.init_path(), "", error.what(), ""});
    }
  }

  void check_init() const {
    if (!data_.init->emission || data_.init->boundary)
      throw InputError({options_.init_path(), "",
                        "the --init parameters must have an emission section and no boundary section",
                        "learn starts from models of tracks; start without --init FILE"});
    if (options_.input.sites && data_.init->chain.max_duration > 1)
      throw InputError({options_.init_path(), "/max_duration",
                        "--sites goes on from models with a max_duration of 1", "start without --init FILE"});
    if (data_.init->centering != Centering::kNone || data_.init->chain.initial != InitialTerm::kNone)
      throw InputError(
          {options_.init_path(), "",
           "a model that learn goes on from has \"centering\": \"none\" and \"initial\": \"none\"",
           "start without --init FILE"});
  }

  // The tracks of all samples, in the order in which they come first.
  std::vector<Track> tracks_of_samples() const {
    std::vector<Track> tracks;
    NameIndex names;
    for (const InputOptions& sample : inputs_of_samples(options_.input))
      for (const Track& track : tracks_of_inputs(sample, options_.input.missing))
        if (names.add(track.name).second) tracks.push_back(track);
    return tracks;
  }

  // A track that some sample lacks says nothing there, whatever it does where there are files.
  void open_lacking(std::vector<Track>& tracks) {
    if (!has_samples(options_.input)) return;
    const NameIndex missing = NameIndex::of(options_.input.missing_tracks);
    for (const InputOptions& sample : inputs_of_samples(options_.input)) {
      const NameIndex given = NameIndex::of(input_arguments(sample));
      for (Track& track : tracks) {
        if (!track.is_input() || missing.contains(track.name) || given.contains(track.name)) continue;
        data_.policies.emplace(track.name, track.missing);
        track.missing = MissingPolicy::kMarginal;
      }
    }
  }

  bool inputs_are_arrays() const {
    if (options_.input.sites) return true;
    const std::vector<InputArgument> arguments = input_arguments(inputs_of_samples(options_.input).front());
    return arguments.front().kind != InputKind::kBigWig;
  }

  // ChromHMM's text says where it has no data.
  bool inputs_are_binarised() const {
    for (const InputOptions& sample : inputs_of_samples(options_.input))
      for (const InputArgument& argument : input_arguments(sample))
        if (argument.text == nullptr || argument.text->format != TrackTextFormat::kBinarised) return false;
    return true;
  }

  std::int64_t bin_size() const {
    if (options_.input.sites) return 1;
    if (options_.input.bin_size) return *options_.input.bin_size;
    if (data_.init && data_.init->bin_size_given) return data_.init->bin_size;
    return default_bin_size(options_.input);
  }

  void read_data() {
    const TrainOptions reading = reading_options(options_);
    LabelFile known;
    if (!options_.known_labels.empty())
      known =
          read_label_file({options_.known_labels}, data_.init ? data_.init->labels : std::vector<Label>());
    data_.known = known.labels;
    known.whole_sequences = true;
    data_.bin_size = bin_size();
    if (data_.init) {
      for (const Track& track : data_.init->tracks)
        if (track.is_input()) data_.tracks.push_back(track);
    } else {
      data_.tracks = tracks_of_samples();
      open_lacking(data_.tracks);
    }
    if (options_.most_copies && options_.input.missing == MissingPolicy::kDefault)
      for (Track& track : data_.tracks) track.missing = MissingPolicy::kMarginal;
    const bool arrays = inputs_are_arrays();
    const bool may_have_holes = !data_.init && options_.input.missing == MissingPolicy::kDefault &&
                                (arrays || inputs_are_binarised());
    if (may_have_holes)
      for (Track& track : data_.tracks) track.missing = MissingPolicy::kMarginal;
    std::vector<Track> raw = data_.tracks;
    for (Track& track : raw) {
      track.transform = Transform::kNone;
      track.center = 0;
      track.scale = 1;
      track.missing = data_.policy_of(track);
    }
    std::vector<Warning> warnings = std::move(data_.inputs.warnings);
    data_.inputs = read_training_inputs(reading, {known}, raw, data_.bin_size);
    data_.inputs.warnings.insert(data_.inputs.warnings.begin(), warnings.begin(), warnings.end());
    for (const LackingTrack& track : data_.lacking_tracks) data_.inputs.binding.push_back(describe(track));
    for (TrainingData* data : {&data_.inputs.training, &data_.inputs.validation})
      for (TrainingPiece& piece : data->pieces) piece.cut = {};
    if (may_have_holes && !options_.most_copies && !has_holes(data_.inputs))
      for (Track& track : data_.tracks) track.missing = arrays ? MissingPolicy::kSkip : MissingPolicy::kZero;
    settle_features();
  }

  // From raw values to the features of the family.
  void settle_features() {
    if (options_.most_copies) {
      settle_copy_number();
    } else if (data_.init) {
      settle_init();
    } else if (options_.emissions.needs_densities()) {
      settle_densities();
    } else {
      const std::optional<EmissionFamily> family = options_.emissions.linear();
      data_.emissions.family = family ? *family : choose_emission(data_.inputs.training);
      fit_features(data_.emissions.family,
                   {options_.transform, options_.binarize_tail, options_.threshold, &data_.inputs.validation},
                   data_.inputs.training, data_.tracks, data_.inputs.warnings);
    }
    const bool densities = data_.emissions.family == EmissionFamily::kDensities;
    if (!data_.init && !densities) add_absence_tracks();
    for (TrainingData* data : {&data_.inputs.training, &data_.inputs.validation}) {
      if (densities) {
        apply_input_features(data_.tracks, *data);
        continue;
      }
      apply_features(data_.tracks, *data);
      find_patterns(*data);
    }
    settle_labels();
  }

  void settle_densities() {
    data_.emissions.family = EmissionFamily::kDensities;
    data_.emissions.densities =
        density_rules(options_.emissions, emission_name(choose_emission(data_.inputs.training)),
                      options_.transform, data_.tracks, data_.inputs.training);
  }

  void settle_copy_number() {
    CopyNumberModel model = copy_number_model(options_, data_.bin_size, data_.tracks, data_.inputs.training);
    data_.emissions.family = EmissionFamily::kDensities;
    data_.emissions.densities = std::move(model.rules);
    data_.tracks = model.parameters.tracks;
    data_.init = std::move(model.parameters);
  }

  void settle_init() {
    remove_absences_of_densities();
    data_.tracks = data_.init->tracks;
    if (std::optional<DensityRules> rules = density_rules_of(options_.emissions, *data_.init)) {
      if (!options_.emissions.choices.empty() || options_.emissions.outliers > 0)
        throw UsageError(
            "--emission and --outliers cannot be given with --init FILE of densities, which has them",
            "leave them out, or start without --init FILE");
      data_.tracks = data_.init->tracks;  // tied
      data_.emissions.family = EmissionFamily::kDensities;
      data_.emissions.densities = std::move(*rules);
      return;
    }
    if (options_.emissions.needs_densities() || std::ranges::any_of(data_.tracks, &Track::is_density))
      throw InputError(
          {options_.init_path(), "",
           "the emissions of these --init parameters are not densities with weights 0 and 1, one or "
           "none of each track",
           "student-t, pairs, --outliers, --tie and parts of emissions to freeze need such a model; "
           "start without --init FILE"});
    settle_family_of_init();
    const bool squares = std::ranges::any_of(data_.tracks, &Track::is_square);
    const bool indicators = std::ranges::any_of(data_.tracks, &Track::is_indicator);
    if (squares != (data_.emissions.family == EmissionFamily::kGaussian) ||
        indicators != (data_.emissions.family == EmissionFamily::kCategorical))
      throw InputError({options_.init_path(), "",
                        "the tracks of --init do not fit " +
                            std::string(emission_name(data_.emissions.family)) + " emissions",
                        "say which with --emission, or start without --init FILE"});
  }

  // Densities leave out what has no value by themselves.
  void remove_absences_of_densities() {
    if (has_only_densities(*data_.init)) remove_absences(*data_.init);
  }

  // Every piece is a sequence of whole segments.
  void check_lengths() const {
    const std::vector<Label>& labels = data_.init ? data_.init->labels : data_.known;
    const int shortest =
        labels.empty() ? options_.law.min_duration : law_of(options_, labels).least_duration();
    for (const TrainingData* data : {&data_.inputs.training, &data_.inputs.validation})
      for (const TrainingPiece& piece : data->pieces)
        if (piece.length < shortest)
          throw InputError(
              {"", piece.place(0, piece.length),
               fmt::format("this piece has {} bins, fewer than the shortest segment, --min-duration {}",
                           piece.length, shortest),
               "leave it out with --exclude, or give a smaller --min-duration; pieces are also "
               "what --missing skip leaves between bins without a value"});
  }

  void settle_labels() {
    check_lengths();
    data_.labels = options_.labels;
    const int known = count_of(data_.known);
    if (data_.init) {
      data_.labels = {data_.init->num_labels()};
    } else if (data_.labels.empty()) {
      data_.labels = {known};
    }
    for (const int labels : data_.labels)
      if (labels < known)
        throw UsageError(
            fmt::format("--labels {} is less than the {} labels of --labels-known", labels, known),
            fmt::format("give --labels {} or more; the others are new labels", known));
  }

  // Adds a track of absences for each track whose bins without a value say nothing.
  void add_absence_tracks() {
    const std::vector<Track> tracks = data_.tracks;
    for (const Track& track : tracks)
      if (track.is_input() && track.missing == MissingPolicy::kMarginal)
        data_.tracks.push_back(absence(track));
  }

  // That of the command line, else what the file says of itself, else what its tracks and the values look
  // like.
  void settle_family_of_init() {
    if (const auto family = options_.emissions.linear()) {
      data_.emissions.family = *family;
    } else if (init_family_) {
      data_.emissions.family = *init_family_;
    } else if (std::ranges::any_of(data_.tracks, &Track::is_square)) {
      data_.emissions.family = EmissionFamily::kGaussian;
    } else if (std::ranges::any_of(data_.tracks, &Track::is_indicator)) {
      data_.emissions.family = EmissionFamily::kCategorical;
    } else if (std::ranges::all_of(data_.tracks, [](const Track& track) {
                 return track.transform == Transform::kBinarize;
               })) {
      data_.emissions.family = EmissionFamily::kBernoulli;
    } else {
      data_.emissions.family = choose_emission(data_.inputs.training);
    }
    const bool has_sizes =
        data_.emissions.family == EmissionFamily::kNegativeBinomial &&
        std::ssize(data_.emissions.sizes) == std::ranges::count_if(data_.tracks, &Track::is_input);
    if (!has_sizes) data_.emissions.sizes.clear();
  }

  const LearnOptions& options_;
  LearnData data_;
  std::optional<EmissionFamily> init_family_;  // that --init says of itself
};

}  // namespace

LearnData read_learn_data(const LearnOptions& options) { return LearnDataReader(options).read(); }

LearnData learn_data_of(const LearnOptions& options, std::optional<Parameters> init, TrainingData raw,
                        std::vector<Track> tracks) {
  return LearnDataReader(options).take(std::move(init), std::move(raw), std::move(tracks));
}

}  // namespace semicrf
