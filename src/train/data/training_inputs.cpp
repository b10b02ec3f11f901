#include "train/data/training_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/arguments/lacking_tracks.h"
#include "inputs/input_set.h"
#include "inputs/track_inputs.h"
#include "io/arrays/npz_reader.h"
#include "io/json/json_document.h"
#include "io/json/stats_json.h"
#include "io/text/chromosomes.h"
#include "model/bins.h"
#include "runs/piece_stream.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSlab = 1 << 16;  // rows read at a time

// Parameters that make an InputSet deliver the features of `tracks`: one "label" per track, weights 1.
Parameters reading_parameters(const std::vector<Track>& tracks, std::int64_t bin_size, Centering centering) {
  Parameters parameters;
  const std::size_t count = tracks.size();
  for (const Track& track : tracks) parameters.labels.push_back({track.name, std::nullopt});
  parameters.bin_size = bin_size;
  parameters.centering = centering;
  parameters.tracks = tracks;
  EmissionHead head{std::vector<double>(count * count, 0.0), std::vector<double>(count, 0.0)};
  for (std::size_t f = 0; f < count; ++f) head.weights[f * count + f] = 1;
  parameters.emission = head;
  return parameters;
}

InputOptions validation_input(const TrainOptions& options, InputOptions input) {
  input.regions = options.val_regions;
  input.regions_file.clear();
  return input;
}

// Parameters to read tracks with the labels of the model, a column of the scores of starts and ends each.
Parameters labelled_parameters(const std::vector<Track>& tracks, std::int64_t bin_size,
                               const std::vector<Label>& labels) {
  Parameters parameters = reading_parameters(tracks, bin_size, Centering::kNone);
  parameters.labels = labels;
  parameters.emission->weights.assign(labels.size() * tracks.size(), 0.0);
  parameters.emission->bias.assign(labels.size(), 0.0);
  return parameters;
}

ReadOptions read_options(const TrainOptions& options) {
  ReadOptions read;
  read.threads = options.engine.threads;
  return read;
}

void check_chromosomes(const LabelFile& labels, const InputSet& inputs, TrainingInputs& found) {
  if (labels.chromosomes.empty()) return;
  std::map<std::string, std::int64_t> ends;  // ends of the tracks' chromosomes, bases
  std::vector<std::string> names;
  for (const Sequence& sequence : inputs.sequences()) {
    std::int64_t& end = ends[sequence.chromosome];
    if (end == 0) names.push_back(sequence.chromosome);
    end = std::max(end, sequence.origin + sequence.length);
  }
  std::vector<std::string> unknown;
  for (const std::string& name : labels.order) {
    const auto known = ends.find(name);
    if (known == ends.end()) {
      unknown.push_back(name);
      continue;
    }
    const LabelRecord& last = labels.chromosomes.at(name).back();
    if (last.end > known->second)
      throw InputError(labels.sources.at(name), last.line,
                       fmt::format("the segment ends at {} {}, but {} has {} in the tracks", units().one,
                                   last.end, name, amount(known->second)),
                       units().one == "base" ? "check that labels and tracks are of the same genome version"
                                             : "check the rate, and that labels and tracks belong together");
  }
  if (unknown.size() == labels.order.size())
    throw InputError({labels.path, "",
                      "no chromosome of the labels (" + few_names(unknown) +
                          ") is in the tracks, which have " + few_names(names),
                      inputs.steps().tracks.empty()
                          ? "the sequence of an array is the NAME of NAME=PATH, or its file's name; "
                            "--track-names names its columns"
                          : "chromosome names must match exactly, including any \"chr\" prefix"});
  if (!unknown.empty())
    found.warnings.push_back({"labels-not-used", "labels on " + few_names(unknown) +
                                                     " are not used: no track has these chromosomes"});
}

// Runs of `runs` within the bins [begin, end), as pieces of touching bins. `trim`: bins without a label are
// in a piece only where they lie between labelled ones.
std::vector<std::vector<LabelledRun>> pieces_within(const std::vector<LabelledRun>& runs, BinRange bins,
                                                    bool trim) {
  std::vector<std::vector<LabelledRun>> pieces;
  auto run = std::ranges::upper_bound(runs, bins.begin, {}, &LabelledRun::end);
  for (; run != runs.end() && run->begin < bins.end; ++run) {
    LabelledRun cut = *run;
    cut.begin = std::max(cut.begin, bins.begin);
    cut.end = std::min(cut.end, bins.end);
    if (trim && cut.label == kNoLabel && (pieces.empty() || cut.end == bins.end)) continue;
    if (pieces.empty() || pieces.back().back().end != cut.begin) pieces.emplace_back();
    pieces.back().push_back(cut);
  }
  return pieces;
}

// Features of these bins are read, and no others.
std::vector<BinRange> labelled_bins(const std::vector<LabelledRun>& runs, const std::vector<BinRange>& pieces,
                                    bool trim) {
  std::vector<BinRange> bins;
  for (const BinRange& range : pieces)
    for (const std::vector<LabelledRun>& piece : pieces_within(runs, range, trim))
      bins.push_back({piece.front().begin, piece.back().end});
  return bins;
}

// Rows [first, first + length).
std::vector<float> read_rows(RowReader& rows, std::int64_t first, std::int64_t length) {
  const std::size_t columns = rows.columns();
  std::vector<float> values(length * columns);
  RowBuffer buffer;
  for (std::int64_t begin = 0; begin < length; begin += kSlab) {
    const std::int64_t end = std::min(length, begin + kSlab);
    const ScoreArray slab = rows.read(first + begin, first + end, buffer);
    const std::size_t skip = begin * columns;
    for (std::size_t i = 0; i < (end - begin) * columns; ++i)
      values[skip + i] = slab.f32 != nullptr ? slab.f32[i] : static_cast<float>(slab.f64[i]);
  }
  return values;
}

class Reader {
 public:
  Reader(const TrainOptions& options, const LabelFile& labels, const InputSet& inputs, std::size_t num_tracks,
         std::size_t sample)
      : options_(options), labels_(labels), inputs_(inputs), num_tracks_(num_tracks), sample_(sample) {}

  // `taken` are regions by chromosome (bases) that must not be read.
  TrainingData read(const std::map<std::string, std::vector<BaseRange>>& taken, SpooledText* stats,
                    TrainingInputs& found) {
    data_.num_labels = count_of(labels_.labels);
    data_.num_tracks = static_cast<int>(num_tracks_);
    for (std::size_t i = 0; i < inputs_.sequences().size(); ++i) read_sequence(i, taken, stats, found);
    return std::move(data_);
  }

 private:
  void read_sequence(std::size_t index, const std::map<std::string, std::vector<BaseRange>>& taken,
                     SpooledText* stats, TrainingInputs& found) {
    const Sequence& sequence = inputs_.sequences()[index];
    PieceRequest request = inputs_.piece_request(index);
    if (const auto regions = taken.find(sequence.title); regions != taken.end())
      request.exclude.insert(request.exclude.end(), regions->second.begin(), regions->second.end());
    if (make_pieces(request).empty()) return;
    const std::vector<LabelledRun> runs = runs_of(sequence, request.include.has_value());
    if (runs.empty()) return;
    const std::shared_ptr<SequenceScores> scores = inputs_.open_scores(index, read_options(options_));
    if (scores->missing_values)
      scores->missing_values->want(labelled_bins(runs, make_pieces(request), !labels_.whole_sequences));
    request.missing = inputs_.scan(index, *scores).missing;
    SequenceStats entry;
    entry.name = sequence.title;
    entry.length = sequence.length;
    entry.missing = total_bins(request.missing);
    entry.segments = 0;
    const std::size_t first = data_.pieces.size();
    check_room(sequence, labelled_bins(runs, make_pieces(request), !labels_.whole_sequences), *scores, found);
    for (const BinRange& bins : make_pieces(request)) {
      for (const std::vector<LabelledRun>& piece : pieces_within(runs, bins, !labels_.whole_sequences)) {
        add_piece(sequence, piece, *scores);
        entry.pieces += 1;
        entry.covered += data_.pieces.back().length;
        *entry.segments +=
            std::ranges::count_if(piece, [](const LabelledRun& run) { return run.label != kNoLabel; });
      }
    }
    if (labels_.whole_sequences) entry.segments.reset();
    mark_cuts(sequence, first, found);
    if (scores->missing_values) {
      entry.missing_values = missing_stats(*scores->missing_values);
      found.missing.add(sequence.title, *scores->missing_values);
    }
    if (stats != nullptr && entry.pieces > 0) stats->append(stats_entry(entry, stats->empty()));
  }

  // The rows of these bins will be kept, as those of the sequences and samples before them are. What else a
  // fit needs is known when all are read; here the rows alone are too many.
  void check_room(const Sequence& sequence, const std::vector<BinRange>& bins, const SequenceScores& scores,
                  TrainingInputs& found) const {
    const std::size_t columns =
        num_tracks_ + (scores.start ? scores.start->columns() : 0) + (scores.end ? scores.end->columns() : 0);
    found.row_bytes += total_bins(bins) * columns * sizeof(float);
    check_memory_limit(options_.max_memory, found.row_bytes, "keeping the tracks in memory",
                       " up to the end of " + message_text(sequence.title),
                       "give more, twice as much or so, or use fewer regions (-r)");
  }

  // Marks the cuts of the pieces from `first` on, which are those of this sequence.
  void mark_cuts(const Sequence& sequence, std::size_t first, TrainingInputs& found) {
    std::vector<BinRange> ranges;
    for (std::size_t i = first; i < data_.pieces.size(); ++i) {
      const std::int64_t begin = data_.pieces[i].location.first_bin;
      ranges.push_back({begin, begin + data_.pieces[i].length});
    }
    // a part of a chromosome, as the array's name says
    const bool is_part = sequence.title != sequence.chromosome;
    const ChromosomeEnds ends{sequence.begins_chromosome, sequence.ends_chromosome};
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const CutEdges cut = cut_edges(ranges, i, sequence.bins, ends);
      data_.pieces[first + i].cut = cut;
      found.cut = found.cut || (cut.left && (is_part || ranges[i].begin > 0)) ||
                  (cut.right && (is_part || ranges[i].end < sequence.bins));
    }
  }

  // The labelled bins. A chromosome without any label is background only where a region asks for it.
  std::vector<LabelledRun> runs_of(const Sequence& sequence, bool is_asked_for) const {
    if (labels_.whole_sequences && !sequence.has_values) return {};
    const auto records = labels_.chromosomes.find(sequence.chromosome);
    const bool has_labels = records != labels_.chromosomes.end();
    std::vector<LabelledRun> runs;
    if (has_labels)
      runs = label_bins(records->second, {sequence.origin, sequence.length, inputs_.bin_size()});
    if (labels_.background && (has_labels || is_asked_for))
      runs = with_background(runs, sequence.bins, *labels_.background);
    return labels_.whole_sequences ? with_gaps_filled(runs, sequence.bins, free_run) : with_free_gaps(runs);
  }

  static LabelledRun free_run(std::int64_t begin, std::int64_t end, const LabelledRun*) {
    return {begin, end, kNoLabel, 0};
  }

  // Gaps between labelled bins that are short enough become runs that may have any label.
  std::vector<LabelledRun> with_free_gaps(const std::vector<LabelledRun>& runs) const {
    std::vector<LabelledRun> all;
    for (const LabelledRun& run : runs) {
      const bool gap = !all.empty() && all.back().end < run.begin;
      if (gap && run.begin - all.back().end <= labels_.longest_free_gap)
        all.push_back(free_run(all.back().end, run.begin, nullptr));
      all.push_back(run);
    }
    return all;
  }

  void add_piece(const Sequence& sequence, const std::vector<LabelledRun>& runs, SequenceScores& scores) {
    TrainingPiece piece;
    const std::int64_t first = runs.front().begin;
    piece.location = locate(sequence, inputs_.bin_size(), first);
    piece.sample = sample_;
    piece.length = runs.back().end - first;
    add_labels(runs, first, piece);
    piece.features = read_rows(*scores.rows, first, piece.length);
    if (scores.start) piece.start_scores = read_rows(*scores.start, first, piece.length);
    if (scores.end) piece.end_scores = read_rows(*scores.end, first, piece.length);
    data_.pieces.push_back(std::move(piece));
  }

  LabelEvidence evidence_of(const LabelledRun& run, std::int64_t first) const {
    const bool is_line = run.label != kNoLabel && !labels_.whole_sequences;
    LabelEvidence known{run.begin - first, run.end - first, {}, {}, is_line};
    if (is_choice(run.label)) {
      const LabelChoice& choice = labels_.choices[choice_index(run.label)];
      known.labels = choice.labels;
      known.log_weights = choice.log_weights;
    } else if (run.label >= 0) {
      known.labels = {run.label};
    }
    return known;
  }

  void add_labels(const std::vector<LabelledRun>& runs, std::int64_t first, TrainingPiece& piece) const {
    const auto is_known = [](const LabelledRun& run) { return run.label >= 0; };
    const auto is_free = [](const LabelledRun& run) { return run.label == kNoLabel; };
    const bool whole = labels_.whole_sequences;
    const bool settled = whole ? std::ranges::all_of(runs, is_free) : std::ranges::all_of(runs, is_known);
    for (const LabelledRun& run : runs) {
      if (run.label >= 0 && !whole) {
        piece.segments.push_back({run.begin - first, run.end - first, run.label});
        piece.lines.push_back(run.line);
      }
      if (!settled) piece.evidence.push_back(evidence_of(run, first));
    }
  }

  const TrainOptions& options_;
  const LabelFile& labels_;
  const InputSet& inputs_;
  std::size_t num_tracks_, sample_;
  TrainingData data_;
};

std::vector<std::string> column_names(const std::vector<std::string>& given, const std::string& path,
                                      std::int64_t columns) {
  if (given.empty()) {
    std::vector<std::string> names;
    names.reserve(columns);
    for (std::int64_t f = 0; f < columns; ++f) names.push_back(fmt::format("track{}", f + 1));
    return names;
  }
  if (std::ssize(given) != columns)
    throw UsageError(
        fmt::format("--track-names has {} names, but {} has {} columns", given.size(), path, columns),
        "give one name per column, separated by commas");
  for (const std::string& name : given)
    if (const std::string problem = name_problem(name); !problem.empty())
      throw UsageError("--track-names: " + problem);
  return given;
}

void append(TrainingData more, TrainingData& data) {
  data.num_labels = more.num_labels;
  data.num_tracks = more.num_tracks;
  for (TrainingPiece& piece : more.pieces) data.pieces.push_back(std::move(piece));
}

// The tracks that the sample has, each of which must be one of `tracks`.
std::vector<Track> own_tracks(const InputOptions& sample, const std::vector<Track>& tracks) {
  const NameIndex given = NameIndex::of(input_arguments(sample));
  std::vector<Track> own;
  for (const Track& track : tracks)
    if (given.contains(track.name)) own.push_back(track);
  return own.empty() ? tracks : own;  // none: it has other names, which is told where they are bound
}

// With columns for all `tracks`, NaN in those that are not among its `own` ones.
TrainingData widened(TrainingData data, const std::vector<Track>& own, const std::vector<Track>& tracks) {
  const std::size_t columns = tracks.size();
  if (own.size() == columns) return data;
  std::vector<std::size_t> column;
  column.reserve(own.size());
  const NameIndex places = NameIndex::of(tracks);
  for (const Track& track : own) column.push_back(*places.find(track.name));
  for (TrainingPiece& piece : data.pieces) {
    const std::size_t length = piece.length;
    std::vector<float> rows(length * columns, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t t = 0; t < length; ++t)
      for (std::size_t i = 0; i < own.size(); ++i)
        rows[t * columns + column[i]] = piece.features[t * own.size() + i];
    piece.features = std::move(rows);
  }
  data.num_tracks = static_cast<int>(columns);
  return data;
}

// Training and validation data of one sample; `parameters` has its own tracks.
void read_sample(const TrainOptions& options, const InputOptions& input, std::size_t sample,
                 const LabelFile& labels, const Parameters& parameters, const std::vector<Track>& tracks,
                 TrainingInputs& found) {
  const InputSet inputs = InputSet::open(input, parameters, RowFeatures::kInputs);
  found.kept_bytes = std::max(found.kept_bytes, inputs.kept_bytes());
  const std::vector<TrackSteps::Track>& steps = inputs.steps().tracks;
  found.steps.tracks.insert(found.steps.tracks.end(), steps.begin(), steps.end());
  const std::string name = !has_samples(input) ? "" : chosen_samples(input).front() + ": ";
  for (const std::string& line : inputs.binding()) found.binding.push_back(name + line);
  const NameIndex own = NameIndex::of(parameters.tracks);
  for (const Track& track : tracks)
    if (!own.contains(track.name)) found.binding.push_back(name + describe(LackingTrack{track.name, true}));
  for (const std::string& path : inputs.paths())
    if (found.known_paths.add(path).second) found.paths.push_back(path);
  for (const Warning& warning : inputs.warnings())
    if (std::ranges::find(found.warnings, warning.message, &Warning::message) == found.warnings.end())
      found.warnings.push_back(warning);
  check_chromosomes(labels, inputs, found);
  std::map<std::string, std::vector<BaseRange>> held_out;  // by the title of the sequence
  if (!options.val_regions.empty()) {
    const InputSet validation =
        InputSet::open(validation_input(options, input), parameters, RowFeatures::kInputs);
    for (std::size_t i = 0; i < validation.sequences().size(); ++i) {
      const PieceRequest request = validation.piece_request(i);
      if (request.include) held_out[validation.sequences()[i].title] = *request.include;
    }
    append(widened(
               Reader(options, labels, validation, parameters.tracks.size(), sample).read({}, nullptr, found),
               parameters.tracks, tracks),
           found.validation);
  }
  append(widened(Reader(options, labels, inputs, parameters.tracks.size(), sample)
                     .read(held_out, &found.sequences, found),
                 parameters.tracks, tracks),
         found.training);
}

// What reading left in memory besides the inputs and the arrays of the pieces, as measured.
std::size_t kept_bytes(const LabelFile& labels) {
  constexpr std::size_t kChromosome = 250, kLine = 120;
  std::size_t bytes = labels.chromosomes.size() * kChromosome;
  for (const auto& [name, records] : labels.chromosomes) bytes += records.size() * kLine;
  return bytes;
}
std::size_t kept_bytes(const TrainingInputs& found) {
  constexpr std::size_t kPiece = 900, kSegment = 40;
  std::size_t bytes = 0;
  for (const TrainingData* data : {&found.training, &found.validation})
    bytes += data->pieces.size() * kPiece + data->segments() * kSegment;
  return bytes;
}

}  // namespace

std::vector<InputOptions> inputs_of_samples(const InputOptions& options) {
  if (!has_samples(options)) return {options};
  std::unordered_map<std::string, std::vector<SampleRow>> rows;
  for (SampleRow& row : sample_rows(options)) rows[row.sample].push_back(std::move(row));
  // What --sample says of a sample: its name, or its name and files.
  std::unordered_map<std::string, std::string> typed;
  for (const std::string& text : options.samples) typed.emplace(text.substr(0, text.find('=')), text);
  InputOptions one = options;
  std::vector<InputOptions> samples;
  for (const std::string& sample : chosen_samples(options)) {
    const auto text = typed.find(sample);
    one.samples = {text == typed.end() ? sample : text->second};
    one.only_sample = std::make_shared<const std::vector<SampleRow>>(rows[sample]);
    samples.push_back(one);
  }
  return samples;
}

std::int64_t default_bin_size(const InputOptions& options) {
  const std::vector<InputArgument> arguments = input_arguments(inputs_of_samples(options).front());
  return arguments.front().kind == InputKind::kBigWig ? kDefaultBinSize : 1;
}

std::vector<Track> tracks_of_inputs(const InputOptions& options, MissingPolicy missing) {
  std::vector<Track> tracks;
  const auto add = [&](const std::string& name, MissingPolicy by_default) {
    tracks.push_back({.name = name, .missing = missing == MissingPolicy::kDefault ? by_default : missing});
  };
  for (const InputArgument& argument : input_arguments(inputs_of_samples(options).front())) {
    if (argument.kind == InputKind::kBigWig) {
      add(argument.name, MissingPolicy::kZero);
      if (argument.reads) tracks.back().reads = count_rule_text(*argument.reads);
      continue;
    }
    const std::int64_t columns = columns_of(argument);
    for (const std::string& name : column_names(options.track_names, argument.path, columns))
      add(name, MissingPolicy::kSkip);
    break;  // every array has the same tracks
  }
  std::vector<std::string> names = names_of(tracks);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
    throw InputError({"", "", "two tracks are named " + in_quotes(*twice), "name the tracks: NAME=PATH"});
  return tracks;
}

TrainingInputs read_training_inputs(const TrainOptions& options, const std::vector<LabelFile>& files,
                                    const std::vector<Track>& tracks, std::int64_t bin_size) {
  const std::vector<InputOptions> samples = inputs_of_samples(options.input);
  const LabelFile& labels = files.front();
  const auto parameters_of = [&](const InputOptions& sample) {
    if (gives_boundary_scores(options.input)) return labelled_parameters(tracks, bin_size, labels.labels);
    const bool may_lack = options.samples_may_lack_tracks && has_samples(options.input);
    return reading_parameters(may_lack ? own_tracks(sample, tracks) : tracks, bin_size, Centering::kNone);
  };
  TrainingInputs found;
  found.validation.num_labels = count_of(labels.labels);
  found.validation.num_tracks = count_of(tracks);
  for (std::size_t i = 0; i < samples.size(); ++i)
    read_sample(options, samples[i], i, files.size() > 1 ? files[i] : labels, parameters_of(samples[i]),
                tracks, found);
  std::int64_t vanished = 0;
  for (const LabelFile& file : files) {
    found.labels.insert(found.labels.end(), file.files.begin(), file.files.end());
    vanished += file.vanished;
  }
  found.paths.insert(found.paths.end(), found.labels.begin(), found.labels.end());
  if (vanished > 0)
    found.warnings.push_back(
        {"labels-too-short",
         fmt::format("{} intervals of the labels are shorter than a bin and were rounded away", vanished)});
  if (const std::optional<Warning> warning = numbers_as_labels(labels)) found.warnings.push_back(*warning);
  found.proposal = pattern_proposal(options.input);
  if (!options.val_regions.empty() && found.validation.pieces.empty())
    throw InputError({labels.path, "",
                      labels.whole_sequences ? "the validation regions have no bin with data"
                                             : "no bin of the validation regions has a label",
                      labels.whole_sequences ? "choose --val-region where the tracks have values"
                                             : "choose --val-region where there are labels"});
  if (found.training.pieces.empty())
    throw InputError({labels.path, "",
                      labels.whole_sequences ? "no bin is left to learn from"
                                             : "no bin of the training regions has a label",
                      labels.whole_sequences
                          ? "tracks and regions must overlap outside the validation regions"
                          : "labels, tracks and regions must overlap outside the validation regions"});
  for (Warning& warning : found.missing.warnings()) found.warnings.push_back(std::move(warning));
  for (const LabelFile& file : files) found.kept_bytes += kept_bytes(file);
  found.kept_bytes += kept_bytes(found);
  return found;
}

bool has_holes(const TrainingInputs& inputs) {
  for (const TrainingData* data : {&inputs.training, &inputs.validation})
    for (const TrainingPiece& piece : data->pieces)
      if (std::ranges::any_of(piece.features, [](float value) { return std::isnan(value); })) return true;
  return false;
}

void read_feature_means(const TrainOptions& options, const std::vector<Track>& tracks, std::int64_t bin_size,
                        TrainingInputs& found) {
  const Parameters parameters = reading_parameters(tracks, bin_size, Centering::kMean);
  std::vector<InputOptions> samples = inputs_of_samples(options.input);
  using Place = std::tuple<std::size_t, std::string, std::int64_t>;  // sample, chromosome, origin
  std::map<Place, std::vector<TrainingPiece*>> pieces_at;
  for (TrainingData* data : {&found.training, &found.validation})
    for (TrainingPiece& piece : data->pieces)
      pieces_at[{piece.sample, piece.location.chromosome, piece.location.origin}].push_back(&piece);
  for (std::size_t s = 0; s < samples.size(); ++s) {
    samples[s].start_scores.clear();
    samples[s].end_scores.clear();
    const InputSet inputs = InputSet::open(samples[s], parameters);
    for (std::size_t i = 0; i < inputs.sequences().size(); ++i) {
      const Sequence& sequence = inputs.sequences()[i];
      const auto pieces = pieces_at.find({s, sequence.chromosome, sequence.origin});
      if (pieces == pieces_at.end()) continue;
      const std::shared_ptr<SequenceScores> scores = inputs.open_scores(i, read_options(options));
      inputs.scan(i, *scores);
      for (TrainingPiece* piece : pieces->second) piece->feature_mean = scores->baseline;
    }
  }
}

}  // namespace semicrf
