#include "pipeline/run/run.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "core/error.h"
#include "io/files/open_files.h"
#include "io/text/label_track_files.h"
#include "pipeline/outputs/formats.h"
#include "pipeline/run/log.h"
#include "pipeline/run/prepared_run.h"

namespace semicrf {
namespace {

// Segments and lists of them are text.
void refuse_bigwig(const std::string& path) {
  if (is_bigwig_name(path))
    throw UsageError(path + ": segments are written as BED, not as bigWig", "give a name ending in .bed");
}

// What bigWig files need to know besides.
TrackOutput located(TrackOutput output, const PreparedRun& run) {
  for (const Chromosome& chromosome : run.inputs().chromosomes())
    output.chromosomes.push_back({chromosome.name, chromosome.length});
  output.bin_size = run.inputs().bin_size();
  return output;
}

std::string shortest_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

Analysis decode_analysis(const DecodeOptions& options) {
  Analysis analysis;
  const bool by_posteriors = options.rule == PathRule::kPosterior;
  if (by_posteriors) {
    analysis.path_gamma = options.gamma.value_or(0);
  } else {
    analysis.viterbi = true;
  }
  if (options.best > 1) {
    analysis.best_paths.emplace().most = options.best;
    analysis.best_paths->memory = options.output.ends_with(".gz") ? kCompressedRankMemory : kRankMemory;
  }
  if (!options.boundaries_path.empty() || !options.review_path.empty() ||
      (!options.table_path.empty() && options.interval_level))
    analysis.interval_level = options.interval_level.value_or(kDefaultIntervalLevel);
  analysis.exact_segments = !options.table_path.empty() || options.extra_columns;
  analysis.path_edges = analysis.interval_level || analysis.exact_segments;
  analysis.posteriors = analysis.path_edges || !options.posterior_path.empty() ||
                        options.score == ScoreColumn::kPosterior ||
                        (by_posteriors && options.score == ScoreColumn::kAuto);
  analysis.posteriors_if_cheap = options.score == ScoreColumn::kAuto && options.best == 1;
  analysis.sums = options.entropy && !options.run.stats_path.empty();
  return analysis;
}

// The review is not sorted by position, so that it cannot have an index.
void tell_of_index(const DecodeOptions& options) {
  if (options.run.write_index && options.review_path.ends_with(".gz"))
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
    output.threads = options.run.engine.threads;
    return output;
  };
  const double level = options.interval_level.value_or(kDefaultIntervalLevel);
  if (!options.table_path.empty())
    plan.push_back(segment_table_output(table(options.table_path, options.interval_level, {})));
  if (!options.boundaries_path.empty())
    plan.push_back(boundary_table_output(table(options.boundaries_path, level, {})));
  if (options.review_path.empty()) return;
  HeaderOptions top;
  if (options.review_top) top.push_back({"review-top", std::to_string(*options.review_top)});
  plan.push_back(review_output(table(options.review_path, level, top), options.review_top));
  tell_of_index(options);
}

// A file for each of the best segmentations.
void add_ranks(const DecodeOptions& options, const PreparedRun& run, const HeaderOptions& named,
               OutputPlan& plan) {
  for (int rank = 1; rank <= options.best; ++rank) {
    HeaderOptions own = named;
    own.push_back({"rank", std::to_string(rank)});
    SegmentOutput output;
    output.file = run.output(numbered_path(options.output, rank));
    output.header = run.header("decode", own);
    output.labels = run.parameters().labels;
    output.rank = static_cast<std::size_t>(rank - 1);
    plan.push_back(segment_output(output));
  }
}

OutputPlan decode_outputs(const DecodeOptions& options, const PreparedRun& run) {
  HeaderOptions named;
  if (options.rule == PathRule::kPosterior) {
    named.push_back({"rule", "posterior"});
    named.push_back({"gamma", shortest_text(options.gamma.value_or(0))});
  }
  if (options.merge_adjacent) named.push_back({"merge-adjacent", "yes"});
  if (!options.posterior_path.empty()) named.push_back({"posterior", "yes"});
  if (options.extra_columns) named.push_back({"extra-columns", "yes"});
  named.push_back({"score", run.analysis().posteriors && options.best == 1 ? "posterior" : "none"});
  const std::string header = run.header("decode", named);
  const std::vector<Label>& labels = run.parameters().labels;
  const int threads = options.run.engine.threads;
  OutputPlan plan;
  if (options.best > 1) {
    add_ranks(options, run, named, plan);
  } else {
    plan.push_back(segment_output({run.output(options.output),
                                   header + (options.extra_columns ? kHowToCut : ""),
                                   labels,
                                   {options.extra_columns, options.merge_adjacent},
                                   {},
                                   threads,
                                   {}}));
  }
  if (!options.posterior_path.empty())
    plan.push_back(track_output(located(
        {run.output(options.posterior_path), header, {options.run.digits, 0, threads}, {}, {}, 0, threads},
        run)));
  add_tables(options, run, named, plan);
  return plan;
}

// What goes with a single path only.
void check_best(const DecodeOptions& options) {
  if (options.best == 1) return;
  const std::string best = "--best " + std::to_string(options.best);
  if (options.output == "-")
    throw UsageError(best + ": several segmentations cannot go to standard output, because each is a file",
                     "give --output, for example out.bed");
  if (options.rule == PathRule::kPosterior)
    throw UsageError(best +
                         " does not go with --rule posterior: the ranks are those of the most probable "
                         "segmentations",
                     "leave out one of the two");
  const std::array alone = {std::pair{"--table", !options.table_path.empty()},
                            std::pair{"--boundaries", !options.boundaries_path.empty()},
                            std::pair{"--review", !options.review_path.empty()},
                            std::pair{"--extra-columns", options.extra_columns},
                            std::pair{"--score posterior", options.score == ScoreColumn::kPosterior},
                            std::pair{"--merge-adjacent", options.merge_adjacent}};
  for (const auto& [option, given] : alone)
    if (given)
      throw UsageError(best + " does not go with " + option + ", which is for one segmentation",
                       "leave out --best, or write " + std::string(option) + " in a run of its own");
}

void check_options(const DecodeOptions& options) {
  check_best(options);
  for (const std::string& path :
       {options.output, options.table_path, options.boundaries_path, options.review_path})
    refuse_bigwig(path);
  if (options.interval_level && options.table_path.empty() && options.boundaries_path.empty() &&
      options.review_path.empty())
    throw UsageError("--intervals is given, but no output to write them to",
                     "add --boundaries FILE.tsv, --table FILE.tsv or --review FILE.bed");
  if (options.review_top && options.review_path.empty())
    throw UsageError("--review-top is given, but no output to write the boundaries to",
                     "add --review FILE.bed");
  if (options.gamma && options.rule != PathRule::kPosterior)
    throw UsageError("--gamma is given, but it only means something with --rule posterior",
                     "add --rule posterior, or leave --gamma out");
}

std::vector<Warning> decode_warnings(const DecodeOptions& options) {
  if (!options.extra_columns) return {};
  return {
      {"extra-columns",
       "--extra-columns writes three columns that are not BED, so that bedtools and genome browsers refuse "
       "the file; the option will go in a later release: use --table FILE.tsv"}};
}

// The files of all ranks are open at once.
void allow_ranks(const DecodeOptions& options) {
  constexpr std::int64_t kOthers = 64;
  const std::int64_t most = allow_open_files(options.best + kOthers);
  if (most < options.best + kOthers)
    throw UsageError("--best " + std::to_string(options.best) + ": the system allows this process " +
                         std::to_string(most) + " open files, and each segmentation is one",
                     "use --best " + std::to_string(std::max<std::int64_t>(1, most - kOthers)) +
                         " or less, or raise the limit (ulimit -n)");
}

RunCommand decode_command(const DecodeOptions& options) {
  check_options(options);
  if (options.best > 1) allow_ranks(options);
  return {options.run, decode_analysis(options),
          [&options](const PreparedRun& run) { return decode_outputs(options, run); },
          decode_warnings(options)};
}

Analysis posterior_analysis(const PosteriorOptions& options) {
  Analysis analysis;
  analysis.posteriors = true;
  analysis.label_posteriors = !options.labels_out.empty();
  analysis.start_posteriors = !options.starts_out.empty();
  analysis.end_posteriors = !options.ends_out.empty();
  analysis.counts = !options.counts_out.empty();
  analysis.sums = options.entropy && !options.run.stats_path.empty();
  return analysis;
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

// PREFIX.LABEL.bedgraph, compressed when the boundary posterior is; of PREFIX.bw, PREFIX.LABEL.bw.
std::string label_track_path(const PosteriorOptions& options, const std::string& prefix,
                             const std::string& label) {
  if (is_bigwig_name(prefix)) {
    const std::size_t ending = prefix.rfind('.');
    return prefix.substr(0, ending) + "." + in_file_name(label) + prefix.substr(ending);
  }
  return prefix + "." + in_file_name(label) +
         (options.output.ends_with(".gz") ? ".bedgraph.gz" : ".bedgraph");
}

// Of the only sequence that is decoded. `option`: which wants it.
NpyShape label_array_shape(const PosteriorOptions& options, const PreparedRun& run,
                           const std::string& option) {
  NpyShape shape;
  shape.columns = run.parameters().num_labels();
  shape.float64 = options.run.engine.precision == Precision::kDouble;
  std::size_t decoded = 0;
  for (std::size_t i = 0; i < run.inputs().sequences().size(); ++i) {
    if (make_pieces(run.inputs().piece_request(i)).empty()) continue;
    shape.rows = run.inputs().sequences()[i].bins;
    ++decoded;
  }
  if (decoded != 1)
    throw UsageError(option + " with an .npy file needs exactly one sequence, not " + std::to_string(decoded),
                     "choose one sequence with --region, or give a prefix to write bedGraph files");
  return shape;
}

OutputPlan posterior_outputs(const PosteriorOptions& options, const PreparedRun& run) {
  HeaderOptions named;
  if (options.min_posterior > 0) named.push_back({"min-posterior", shortest_text(options.min_posterior)});
  const std::string header = run.header("posterior", named);
  const std::vector<Label>& labels = run.parameters().labels;
  const BedGraphOptions bedgraph{options.run.digits, options.min_posterior, options.run.engine.threads};
  OutputPlan plan;
  plan.push_back(track_output(
      located({run.output(options.output), header, bedgraph, {}, {}, 0, options.run.engine.threads}, run)));
  for (const LabelOutput& output : kLabelOutputs) {
    const std::string& name = options.*output.name;
    if (name.ends_with(".npy")) {
      plan.push_back(
          label_array_output({name}, label_array_shape(options, run, output.option), output.values));
    } else if (!name.empty()) {
      for (std::size_t i = 0; i < labels.size(); ++i)
        plan.push_back(track_output(located({run.output(label_track_path(options, name, labels[i].name)),
                                             header, bedgraph, i, output.values, labels.size(), 1},
                                            run)));
    }
  }
  if (!options.counts_out.empty())
    plan.push_back(counts_output({options.counts_out}, run.parameters().chain));
  return plan;
}

RunCommand posterior_command(const PosteriorOptions& options) {
  if (!options.counts_out.empty() && !options.counts_out.ends_with(".npz"))
    throw UsageError("--counts-out " + options.counts_out + ": the counts are written as .npz only",
                     "give a name that ends in .npz");
  return {options.run, posterior_analysis(options),
          [&options](const PreparedRun& run) { return posterior_outputs(options, run); }};
}

}  // namespace

void run_decode(const DecodeOptions& options, Progress* progress) {
  execute(decode_command(options), progress);
}
std::string plan_decode(const DecodeOptions& options) { return describe(decode_command(options)); }

void run_posterior(const PosteriorOptions& options, Progress* progress) {
  execute(posterior_command(options), progress);
}
std::string plan_posterior(const PosteriorOptions& options) { return describe(posterior_command(options)); }

}  // namespace semicrf
