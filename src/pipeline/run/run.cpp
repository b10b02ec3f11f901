#include "pipeline/run/run.h"

#include <algorithm>

#include "core/error.h"
#include "pipeline/run/prepared_run.h"

namespace semicrf {
namespace {

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

void refuse_bigwig(const std::string& path) {
  if (ends_with(path, ".bw") || ends_with(path, ".bigwig") || ends_with(path, ".bigWig"))
    throw UsageError(path + ": bigWig cannot be written yet",
                     "write bedGraph instead: give a name ending in .bedgraph or .bedgraph.gz");
}

std::string shortest_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

Analysis decode_analysis(const DecodeOptions& options) {
  Analysis analysis;
  analysis.viterbi = true;
  analysis.posteriors = !options.posterior_path.empty() || options.extra_columns;
  analysis.path_edges = options.extra_columns;
  return analysis;
}

OutputPlan decode_outputs(const DecodeOptions& options, const PreparedRun& run) {
  OutputPlan plan;
  plan.segments = run.output(options.output);
  plan.boundary = run.output(options.posterior_path);
  plan.bed.merge_adjacent = options.merge_adjacent;
  plan.bed.extra_columns = options.extra_columns;
  plan.bedgraph.digits = options.run.digits;
  HeaderOptions header;
  if (options.merge_adjacent) header.push_back({"merge-adjacent", "yes"});
  if (!options.posterior_path.empty()) header.push_back({"posterior", "yes"});
  if (options.extra_columns) header.push_back({"extra-columns", "yes"});
  plan.header = run.header("decode", header);
  run.check(plan);
  return plan;
}

Analysis posterior_analysis(const PosteriorOptions& options) {
  Analysis analysis;
  analysis.posteriors = true;
  analysis.label_posteriors = !options.labels_out.empty();
  return analysis;
}

// PREFIX.LABEL.bedgraph, compressed when the boundary posterior is; "/" cannot be in a file's name.
std::string label_track_path(const PosteriorOptions& options, std::string label) {
  std::replace(label.begin(), label.end(), '/', '_');
  return options.labels_out + "." + label + (ends_with(options.output, ".gz") ? ".bedgraph.gz" : ".bedgraph");
}

void plan_label_array(const PosteriorOptions& options, const PreparedRun& run, OutputPlan& plan) {
  std::size_t decoded = 0;
  for (std::size_t i = 0; i < run.inputs().sequences().size(); ++i) {
    if (make_pieces(run.inputs().piece_request(i)).empty()) continue;
    plan.label_array_rows = run.inputs().sequences()[i].bins;
    ++decoded;
  }
  if (decoded != 1)
    throw UsageError(
        "--labels-out with an .npy file needs exactly one sequence, not " + std::to_string(decoded),
        "choose one sequence with --region, or give a prefix to write bedGraph files");
  plan.label_array.path = options.labels_out;
  plan.label_array_double = options.run.engine.precision == Precision::kDouble;
}

OutputPlan posterior_outputs(const PosteriorOptions& options, const PreparedRun& run) {
  OutputPlan plan;
  plan.boundary = run.output(options.output);
  plan.bedgraph.digits = options.run.digits;
  plan.bedgraph.min_value = options.min_posterior;
  if (ends_with(options.labels_out, ".npy")) {
    plan_label_array(options, run, plan);
  } else if (!options.labels_out.empty()) {
    for (const Label& label : run.parameters().labels)
      plan.label_tracks.push_back(run.output(label_track_path(options, label.name)));
  }
  HeaderOptions header;
  if (options.min_posterior > 0) header.push_back({"min-posterior", shortest_text(options.min_posterior)});
  plan.header = run.header("posterior", header);
  run.check(plan);
  return plan;
}

}  // namespace

void run_decode(const DecodeOptions& options, Progress* progress) {
  for (const std::string& path : {options.output, options.posterior_path}) refuse_bigwig(path);
  PreparedRun run(options.run, decode_analysis(options));
  run.execute(decode_outputs(options, run), progress);
}

std::string plan_decode(const DecodeOptions& options) {
  for (const std::string& path : {options.output, options.posterior_path}) refuse_bigwig(path);
  const PreparedRun run(options.run, decode_analysis(options));
  return run.describe(decode_outputs(options, run));
}

void run_posterior(const PosteriorOptions& options, Progress* progress) {
  for (const std::string& path : {options.output, options.labels_out}) refuse_bigwig(path);
  PreparedRun run(options.run, posterior_analysis(options));
  run.execute(posterior_outputs(options, run), progress);
}

std::string plan_posterior(const PosteriorOptions& options) {
  for (const std::string& path : {options.output, options.labels_out}) refuse_bigwig(path);
  const PreparedRun run(options.run, posterior_analysis(options));
  return run.describe(posterior_outputs(options, run));
}

}  // namespace semicrf
