#include "runs/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_shares.h"
#include "analyses/intervals/boundary_intervals.h"
#include "analyses/posteriors/posterior_path.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/counts.h"
#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"
#include "inputs/arguments/input_arguments.h"
#include "inputs/made_tracks.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"
#include "io/params/training_record.h"
#include "log/log.h"
#include "model/copies.h"
#include "model/label_values.h"
#include "outputs/folders/hub_outputs.h"
#include "outputs/formats.h"
#include "runs/prepared_run.h"

namespace semicrf {
namespace {

// Adds what bigWig and bigBed files need in addition: chromosomes and the bin size.
template <class Output>
Output located(Output output, const PreparedRun& run) {
  output.chromosomes = run.inputs().chromosomes();
  output.bin_size = run.inputs().bin_size();
  return output;
}

std::string shortest_text(double value) { return fmt::format("{:.15g}", value); }

bool has_scores(const DecodeOptions& options) {
  return options.best == 1 && options.score != ScoreColumn::kNone;
}

// Whether an output has the posteriors of all labels.
bool label_posteriors(const DecodeOptions& options) {
  return !options.hub.folder.empty() || !options.chromhmm.folder.empty();
}

// The analyses that the outputs of `decode` need.
struct DecodeWork {
  explicit DecodeWork(const DecodeOptions& options) {
    intervals = !options.boundaries_path.empty() || !options.review_path.empty() ||
                (!options.table_path.empty() && options.interval_level);
    exact_segments = !options.table_path.empty() || options.extra_columns;
    posteriors = intervals || exact_segments || !options.posterior_path.empty() ||
                 label_posteriors(options) || has_scores(options);
  }
  bool intervals = false;  // intervals of boundaries
  bool exact_segments = false;
  bool posteriors = false;
};

void add_path(const DecodeOptions& options, const DecodeWork& work, bool sums, AnalysisList& analyses) {
  if (options.rule == PathRule::kPosterior)
    return analyses.add<PosteriorDecoding>(
        options.gamma.value_or(0),
        label_values(options.run.parameters->parameters.labels, "--threshold", options.thresholds),
        sums && !work.posteriors);
  const bool has_score = !options.run.stats_path.empty() || options.best > 1;
  analyses.add<ViterbiDecoding>(has_score ? PathScoring::kRescore : PathScoring::kNone);
}

AnalysisList decode_analyses(const DecodeOptions& options) {
  const DecodeWork work(options);
  const bool sums = options.entropy && !options.run.stats_path.empty();
  AnalysisList analyses;
  add_path(options, work, sums, analyses);
  if (work.exact_segments) analyses.add<ExactSegments>();
  if (options.best > 1)
    analyses.add<KBest>(options.best, is_compressed_name(options.output) ? kCompressedRankMemory
                                      : is_bigbed_name(options.output)   ? kBigBedRankMemory
                                                                         : kRankMemory);
  if (work.posteriors) {
    const bool has_edge_columns = is_bigbed_name(options.output) || !options.hub.folder.empty();
    PosteriorRequest request;
    request.labels = label_posteriors(options);
    request.along_path = true;
    request.path_edges = work.intervals || work.exact_segments || has_edge_columns;
    request.path_next = work.intervals;
    request.sums = sums;
    analyses.add<Posteriors>(request);
  }
  if (work.intervals) analyses.add<CredibleIntervals>(options.interval_level.value_or(kDefaultIntervalLevel));
  return analyses;
}

// Says that the review gets no index: it is not sorted by position.
void tell_of_index(const DecodeOptions& options) {
  if (options.run.write_index && is_compressed_name(options.review_path))
    log_note("--write-index: " + options.review_path +
             " gets no index, because its lines are not sorted by position");
}

// A comment for those who get a file that looks like BED and is not.
constexpr const char* kHowToCut =
    "#columns 10 to 12 are not BED: most programs refuse them; cut -f 1-9 leaves BED9\n";

void add_tables(const DecodeOptions& options, const PreparedRun& run, const HeaderOptions& named,
                OutputPlan& plan) {
  const auto table = [&](const std::string& path, std::optional<double> intervals,
                         const HeaderOptions& more) {
    SegmentTableOutput output;
    output.file.path = path;
    HeaderOptions own = named;
    if (intervals) own.push_back({"intervals", shortest_text(*intervals)});
    own.insert(own.end(), more.begin(), more.end());
    output.header = run.header("decode", own);
    output.labels = run.parameters().labels;
    output.merge_adjacent = options.merge_adjacent;
    output.intervals = intervals.has_value();
    output.comments = options.run.header_comments;
    output.threads = options.run.engine.threads;
    return output;
  };
  const double level = options.interval_level.value_or(kDefaultIntervalLevel);
  if (!options.table_path.empty())
    plan.push_back(segment_table_output(table(options.table_path, options.interval_level, {})));
  if (!options.boundaries_path.empty())
    plan.push_back(boundary_table_output(table(options.boundaries_path, level, {})));
  if (options.review_path.empty()) return;
  const HeaderOptions top = {{"review-top", fmt::to_string(options.review_top)}};
  plan.push_back(review_output(table(options.review_path, level, top), options.review_top));
  tell_of_index(options);
}

// Adds a file for each of the best segmentations.
void add_ranks(const DecodeOptions& options, const PreparedRun& run, const HeaderOptions& named,
               OutputPlan& plan) {
  for (int rank = 1; rank <= options.best; ++rank) {
    HeaderOptions own = named;
    own.push_back({"rank", fmt::to_string(rank)});
    SegmentOutput output;
    output.file = run.output(numbered_path(options.output, rank));
    output.header = run.header("decode", own);
    output.labels = run.parameters().labels;
    output.rank = rank - 1;
    plan.push_back(segment_output(located(output, run)));
  }
}

// The output of the best path.
SegmentOutput path_output(const DecodeOptions& options, const PreparedRun& run, const std::string& header) {
  SegmentOutput output;
  output.header = header;
  output.labels = run.parameters().labels;
  output.bed = {options.extra_columns, options.merge_adjacent};
  output.threads = options.run.engine.threads;
  const DecodeWork work(options);
  output.support = {work.posteriors, work.exact_segments, work.posteriors};
  return located(output, run);
}

// The labels that the main output has segments of; empty: all.
std::vector<int> wanted_labels(const DecodeOptions& options, const Parameters& parameters) {
  const std::vector<std::string> names = names_of(parameters.labels);
  std::vector<int> wanted;
  for (const std::string& name : options.only) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      throw UsageError("--only: the parameters have no label '" + escape_control(name) + "'",
                       "they have " + few_of(names, 20));
    wanted.push_back(static_cast<int>(found - names.begin()));
  }
  if (!wanted.empty() || segment_format(options.output) != SegmentFormat::kNarrowPeak) return wanted;
  const std::optional<std::string> background = recorded_background(parameters.training);
  const auto found = background ? std::ranges::find(names, *background) : names.end();
  if (found == names.end())
    throw UsageError(options.output + ": which labels are peaks is not known",
                     "give --only LABEL,...; a model of train --background NAME says it");
  for (int c = 0; c < count_of(names); ++c)
    if (names[c] != *background) wanted.push_back(c);
  return wanted;
}

// The chromosomes of the run, each once.
std::vector<std::string> decoded_sequences(const PreparedRun& run) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < run.inputs().sequences().size(); ++i) {
    const std::string& name = run.inputs().sequences()[i].chromosome;
    if (!make_pieces(run.inputs().piece_request(i)).empty() && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

// o.TextGrid becomes o.NAME.TextGrid.
std::string of_sequence(const std::string& path, const std::string& name) {
  const std::size_t ending = path.rfind('.');
  return path.substr(0, ending) + "." + in_file_name(name) + path.substr(ending);
}

// Whether the format says what the tracks have in a segment.
bool has_signal(const std::string& path) {
  constexpr std::array kWithSignal = {SegmentFormat::kNarrowPeak, SegmentFormat::kSeg, SegmentFormat::kCns,
                                      SegmentFormat::kVcf};
  return std::ranges::find(kWithSignal, segment_format(path)) != kWithSignal.end();
}

void add_path(const DecodeOptions& options, const PreparedRun& run, const std::string& header,
              OutputPlan& plan) {
  if (options.output.empty()) return;
  SegmentOutput output = path_output(options, run, header);
  if (options.extra_columns) output.header += kHowToCut;
  output.only = wanted_labels(options, run.parameters());
  const SegmentFormat format = segment_format(options.output);
  if (format == SegmentFormat::kVcf &&
      std::ranges::none_of(copies_of_labels(run.parameters().labels),
                           [](const auto& copies) { return copies.has_value(); }))
    throw UsageError(
        options.output + ": VCF has copy numbers, and the labels are none, such as 0, 1, 2 or 2+1",
        "use a model of learn --preset copy-number, or write BED");
  if (has_signal(options.output)) output.signal = PeakSignal::open(options.run.input, run.parameters());
  output.file = run.output(options.output);
  if (format != SegmentFormat::kTextGrid) return plan.push_back(segment_output(output));
  const std::vector<std::string> sequences = decoded_sequences(run);
  for (const std::string& sequence : sequences) {
    output.sequence = sequence;
    if (sequences.size() > 1) output.file = run.output(of_sequence(options.output, sequence));
    plan.push_back(segment_output(output));
  }
}

TrackOutput boundary_output(const DecodeOptions& options, const PreparedRun& run, const std::string& header) {
  TrackOutput output;
  output.header = header;
  output.bedgraph = {options.run.digits, 0, options.run.engine.threads};
  output.threads = options.run.engine.threads;
  return located(output, run);
}

// The inputs as bigWig files, which the hub gets copies of.
std::vector<HubSignal> hub_signals(const DecodeOptions& options) {
  std::vector<HubSignal> signals;
  if (options.hub.no_tracks) return signals;
  std::uintmax_t bytes = 0;
  for (const InputArgument& argument : input_arguments(options.run.input)) {
    if (argument.kind != InputKind::kBigWig) continue;
    signals.push_back({argument.name, options.run.input.made_tracks->path_of(argument)});
    bytes += std::filesystem::file_size(signals.back().path);
  }
  if (!signals.empty())
    log_note(fmt::format("--hub: {}, {} bytes, to be copied into {}; --no-hub-tracks leaves them out",
                         plural(signals.size(), "input track"), bytes, options.hub.folder));
  return signals;
}

// ChromHMM's folder has a row for every bin of every chromosome.
void add_chromhmm_folder(const DecodeOptions& options, const PreparedRun& run, const std::string& header,
                         OutputPlan& plan) {
  if (options.chromhmm.folder.empty()) return;
  ChromHmmFiles files{options.chromhmm,
                      run.parameters(),
                      options.run.input.parameters,
                      path_output(options, run, header),
                      {},
                      options.run.digits};
  for (std::size_t i = 0; i < run.inputs().sequences().size(); ++i) {
    const Sequence& sequence = run.inputs().sequences()[i];
    const std::vector<BinRange> pieces = make_pieces(run.inputs().piece_request(i));
    if (pieces.empty()) continue;
    if (sequence.origin != 0 || pieces != std::vector<BinRange>{{0, sequence.bins}})
      throw UsageError(
          "--chromhmm-out has a row for every bin of " + sequence.title + ", of which only parts are decoded",
          "leave out -r, -L and --exclude, or give whole chromosomes");
    files.chromosomes.push_back({sequence.chromosome, sequence.bins});
  }
  constexpr std::int64_t kOthers = 64;
  const auto needed = std::ssize(files.chromosomes) + kOthers;
  if (const std::int64_t most = allow_open_files(needed); most < needed)
    throw UsageError(
        fmt::format("--chromhmm-out: the system allows this process {} open files, and each of {} is one",
                    most, plural(files.chromosomes.size(), "chromosome")),
        "choose chromosomes with -r or -g, or raise the limit (ulimit -n)");
  std::vector<std::string> notes;
  add_chromhmm(files, plan, notes);
  for (const std::string& note : notes) log_note(note);
}

OutputPlan decode_outputs(const DecodeOptions& options, const PreparedRun& run) {
  HeaderOptions named;
  if (options.rule == PathRule::kPosterior) {
    named.push_back({"rule", "posterior"});
    named.push_back({"gamma", shortest_text(options.gamma.value_or(0))});
    for (const std::string& threshold : options.thresholds) named.push_back({"threshold", threshold});
  }
  if (options.merge_adjacent) named.push_back({"merge-adjacent", "yes"});
  if (!options.only.empty()) named.push_back({"only", joined(options.only, ",")});
  if (!options.posterior_path.empty()) named.push_back({"posterior", "yes"});
  if (options.extra_columns) named.push_back({"extra-columns", "yes"});
  named.push_back({"score", DecodeWork(options).posteriors && options.best == 1 ? "posterior" : "none"});
  const std::string header = run.header("decode", named);
  OutputPlan plan;
  if (options.best > 1) {
    add_ranks(options, run, named, plan);
  } else {
    add_path(options, run, header, plan);
  }
  if (!options.posterior_path.empty()) {
    TrackOutput output = boundary_output(options, run, header);
    output.file = run.output(options.posterior_path);
    plan.push_back(track_output(output));
  }
  add_tables(options, run, named, plan);
  if (!options.hub.folder.empty())
    add_hub({options.hub,
             "semicrf " + options.run.version + " decode, parameters " +
                 std::filesystem::path(options.run.input.parameters).filename().string(),
             path_output(options, run, header), boundary_output(options, run, header), hub_signals(options)},
            plan);
  add_chromhmm_folder(options, run, header, plan);
  return plan;
}

// Refuses, with --best, the options that go with a single path only.
void check_best(const DecodeOptions& options) {
  if (options.best == 1) return;
  const std::string best = fmt::format("--best {}", options.best);
  if (options.output == "-")
    throw UsageError(best + ": several segmentations cannot go to standard output, because each is a file",
                     "give --output, for example out.bed");
  if (options.rule == PathRule::kPosterior)
    throw UsageError(best +
                         " cannot be given with --rule posterior: the ranks are those of the most probable "
                         "segmentations",
                     "leave out one of the two");
  const std::array alone = {
      std::pair{"--table", !options.table_path.empty()},
      std::pair{"--boundaries", !options.boundaries_path.empty()},
      std::pair{"--review", !options.review_path.empty()},
      std::pair{"--hub", !options.hub.folder.empty()},
      std::pair{"--chromhmm-out", !options.chromhmm.folder.empty()},
      std::pair{"--extra-columns", options.extra_columns},
      std::pair{"--score posterior", options.score == ScoreColumn::kPosterior},
      std::pair{"--only", !options.only.empty()},
      std::pair{"a .narrowPeak, .seg, .cns, .vcf or .TextGrid file",
                has_signal(options.output) || segment_format(options.output) == SegmentFormat::kTextGrid},
      std::pair{"--merge-adjacent", options.merge_adjacent}};
  for (const auto& [option, given] : alone)
    if (given)
      throw UsageError(best + " cannot be given with " + option + ", which is for one segmentation",
                       "leave out --best, or write " + std::string(option) + " in a run of its own");
}

void check_options(const DecodeOptions& options) {
  check_best(options);
  const SegmentFormat format = segment_format(options.output);
  if (format == SegmentFormat::kTextGrid && units().rate <= 0)
    throw UsageError(options.output + ": a TextGrid has times in seconds",
                     "give --rate R, positions per second");
  if (format == SegmentFormat::kNarrowPeak && options.score == ScoreColumn::kNone)
    throw UsageError(options.output + ": narrowPeak has posteriors in its columns", "leave out --score none");
  if (options.interval_level && options.table_path.empty() && options.boundaries_path.empty() &&
      options.review_path.empty())
    throw UsageError("--intervals is given, but no output to write them to",
                     "add --boundaries FILE.tsv, --table FILE.tsv or --review FILE.bed");
  if (options.review_top_given && options.review_path.empty())
    throw UsageError("--review-top is given, but no output to write the boundaries to",
                     "add --review FILE.bed");
  if (!options.thresholds.empty() && options.rule == PathRule::kViterbi)
    throw UsageError("--threshold cannot be given with --rule viterbi, which has no posteriors to compare",
                     "leave one of the two out");
  if (!options.thresholds.empty() && options.best > 1)
    throw UsageError("--threshold cannot be given with --best, which has the most probable segmentations",
                     "leave one of the two out");
}

std::vector<Warning> decode_warnings(const DecodeOptions& options) {
  if (!options.extra_columns || options.output.empty() || is_bigbed_name(options.output)) return {};
  return {
      {"extra-columns",
       "--extra-columns writes three columns that are not BED, so that bedtools and genome browsers refuse "
       "the file; the option will go in a later release: use --table FILE.tsv"}};
}

// Raises the limit of open files: those of all ranks are open at once, with a spool for each that is bigBed.
void allow_ranks(const DecodeOptions& options) {
  constexpr std::int64_t kOthers = 64;
  const std::int64_t each = is_bigbed_name(options.output) ? 2 : 1;
  const std::int64_t most = allow_open_files(each * options.best + kOthers);
  if (most < each * options.best + kOthers)
    throw UsageError(
        fmt::format("--best {}: the system allows this process {} open files, and each segmentation is one",
                    options.best, most),
        fmt::format("use --best {} or less, or raise the limit (ulimit -n)",
                    std::max<std::int64_t>(1, (most - kOthers) / each)));
}

// The folders of outputs, which go away again where nothing is written to them.
struct OutputFolders {
  explicit OutputFolders(const DecodeOptions& options) {
    check_options(options);
    if (!options.hub.folder.empty()) hub.emplace(options.hub.folder);
    if (options.chromhmm.folder.empty()) return;
    chromhmm.emplace(options.chromhmm.folder);
    posteriors.emplace(chromhmm_posterior_folder(options.chromhmm));
  }
  std::optional<NewFolder> hub, chromhmm, posteriors;
};

// Reads the parameters, which say the rule where the command line does not. UsageError about options that the
// rule or the labels do not allow.
DecodeOptions settled(DecodeOptions options) {
  check_options(options);
  auto file = std::make_shared<ParameterFile>(read_params_json(options.run.input.parameters));
  for (const auto& [label, least] : label_values(file->parameters.labels, "--threshold", options.thresholds))
    if (least < 0 || least > 1)
      throw UsageError(fmt::format("--threshold: {:g} is not a probability", least),
                       "give a number from 0 to 1");
  if (!options.rule && options.best == 1) {
    options.rule = file->parameters.rule;
    if (options.rule == PathRule::kPosterior)
      log_note("rule: posterior, as the parameters say; --rule viterbi finds the most probable segmentation");
    if (!options.thresholds.empty()) options.rule = PathRule::kPosterior;
  }
  if (options.gamma && options.rule != PathRule::kPosterior)
    throw UsageError("--gamma is given, but has no effect without --rule posterior",
                     "add --rule posterior, or leave --gamma out");
  options.run.parameters = std::move(file);
  return options;
}

RunCommand decode_command(const DecodeOptions& options) {
  if (options.best > 1) allow_ranks(options);
  return {options.run, decode_analyses(options),
          [&options](const PreparedRun& run) { return decode_outputs(options, run); },
          decode_warnings(options)};
}

AnalysisList posterior_analyses(const PosteriorOptions& options) {
  PosteriorRequest request;
  request.labels = !options.labels_out.empty();
  request.starts = !options.starts_out.empty();
  request.ends = !options.ends_out.empty();
  request.counts = !options.counts_out.empty();
  request.sums = options.entropy && !options.run.stats_path.empty();
  AnalysisList analyses;
  analyses.add<Posteriors>(request);
  return analyses;
}

// Posteriors that every label has, by the option that names their files.
struct LabelOutput {
  const char* option;
  std::string PosteriorOptions::*name;
  PosteriorValues values;
};
constexpr std::array kLabelOutputs = {
    LabelOutput{"--labels-out", &PosteriorOptions::labels_out, &PosteriorBlock::labels},
    LabelOutput{"--starts-out", &PosteriorOptions::starts_out, &PosteriorBlock::starts},
    LabelOutput{"--ends-out", &PosteriorOptions::ends_out, &PosteriorBlock::ends}};

// PREFIX.LABEL.bedgraph, compressed when the boundary posterior is; for PREFIX.bw it is PREFIX.LABEL.bw.
std::string label_track_path(const PosteriorOptions& options, const std::string& prefix,
                             const std::string& label) {
  if (is_bigwig_name(prefix)) {
    const std::size_t ending = prefix.rfind('.');
    return prefix.substr(0, ending) + "." + in_file_name(label) + prefix.substr(ending);
  }
  return prefix + "." + in_file_name(label) +
         (is_compressed_name(options.output) ? ".bedgraph.gz" : ".bedgraph");
}

// The shapes of the arrays of all sequences that are decoded.
std::vector<NamedShape> label_array_shapes(const PosteriorOptions& options, const PreparedRun& run) {
  std::vector<NamedShape> shapes;
  for (std::size_t i = 0; i < run.inputs().sequences().size(); ++i) {
    if (make_pieces(run.inputs().piece_request(i)).empty()) continue;
    const Sequence& sequence = run.inputs().sequences()[i];
    shapes.push_back(
        {sequence.title,
         sequence.chromosome,
         sequence.origin,
         {sequence.bins, run.parameters().num_labels(), options.run.engine.precision == Precision::kDouble}});
  }
  return shapes;
}

// The array of the only sequence, or an archive of the arrays of all. `option`: the option that wants it.
PlannedOutput label_arrays(const PosteriorOptions& options, const PreparedRun& run, const LabelOutput& output,
                           const std::string& name) {
  const std::vector<NamedShape> shapes = label_array_shapes(options, run);
  if (has_ending(name, {".npz"})) return label_archive_output({name}, shapes, output.values);
  if (shapes.size() != 1)
    throw UsageError(fmt::format("{} with an .npy file needs exactly one sequence, not {}",
                                 std::string(output.option), shapes.size()),
                     "give a name that ends in .npz for all of them, or choose one with --region");
  return label_array_output({name}, shapes.front().shape, output.values);
}

OutputPlan posterior_outputs(const PosteriorOptions& options, const PreparedRun& run) {
  HeaderOptions named;
  if (options.min_posterior > 0) named.push_back({"min-posterior", shortest_text(options.min_posterior)});
  const std::string header = run.header("posterior", named);
  const std::vector<Label>& labels = run.parameters().labels;
  TrackOutput track;
  track.header = header;
  track.bedgraph = {options.run.digits, options.min_posterior, options.run.engine.threads};
  track.threads = options.run.engine.threads;
  track = located(track, run);
  track.file = run.output(options.output);
  OutputPlan plan{track_output(track)};
  track.threads = 1;
  track.num_labels = labels.size();
  for (const LabelOutput& output : kLabelOutputs) {
    const std::string& name = options.*output.name;
    track.values = output.values;
    if (has_ending(name, {".npy", ".npz"})) {
      plan.push_back(label_arrays(options, run, output, name));
    } else if (!name.empty()) {
      for (std::size_t i = 0; i < labels.size(); ++i) {
        track.label = i;
        track.file = run.output(label_track_path(options, name, labels[i].name));
        plan.push_back(track_output(track));
      }
    }
  }
  if (!options.counts_out.empty())
    plan.push_back(counts_output({options.counts_out}, run.parameters().chain));
  return plan;
}

RunCommand posterior_command(const PosteriorOptions& options) {
  if (!options.counts_out.empty() && !has_ending(options.counts_out, {".npz"}))
    throw UsageError("--counts-out " + options.counts_out + ": the counts are written as .npz only",
                     "give a name that ends in .npz");
  return {options.run, posterior_analyses(options),
          [&options](const PreparedRun& run) { return posterior_outputs(options, run); }};
}

}  // namespace

void run_decode(const DecodeOptions& options, Progress* progress) {
  const OutputFolders folders(options);
  const DecodeOptions known = settled(options);
  execute(decode_command(known), progress);
}
std::string plan_decode(const DecodeOptions& options) {
  const OutputFolders folders(options);
  const DecodeOptions known = settled(options);
  return describe(decode_command(known));
}

void run_posterior(const PosteriorOptions& options, Progress* progress) {
  execute(posterior_command(options), progress);
}
std::string plan_posterior(const PosteriorOptions& options) { return describe(posterior_command(options)); }

}  // namespace semicrf
