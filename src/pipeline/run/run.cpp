#include "pipeline/run/run.h"

#include <cstdio>

#include "core/error.h"
#include "pipeline/outputs/formats.h"
#include "pipeline/run/prepared_run.h"

namespace semicrf {
namespace {

void refuse_bigwig(const std::string& path) {
  if (path.ends_with(".bw") || path.ends_with(".bigwig") || path.ends_with(".bigWig"))
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
  HeaderOptions named;
  if (options.merge_adjacent) named.push_back({"merge-adjacent", "yes"});
  if (!options.posterior_path.empty()) named.push_back({"posterior", "yes"});
  if (options.extra_columns) named.push_back({"extra-columns", "yes"});
  const std::string header = run.header("decode", named);
  const int threads = options.run.engine.threads;
  OutputPlan plan;
  plan.push_back(segment_output({run.output(options.output),
                                 header,
                                 run.parameters().labels,
                                 {options.extra_columns, options.merge_adjacent},
                                 {},
                                 threads}));
  if (!options.posterior_path.empty())
    plan.push_back(
        track_output({run.output(options.posterior_path), header, {options.run.digits, 0}, {}, 0, threads}));
  return plan;
}

RunCommand decode_command(const DecodeOptions& options) {
  for (const std::string& path : {options.output, options.posterior_path}) refuse_bigwig(path);
  return {options.run, decode_analysis(options),
          [&options](const PreparedRun& run) { return decode_outputs(options, run); }};
}

Analysis posterior_analysis(const PosteriorOptions& options) {
  Analysis analysis;
  analysis.posteriors = true;
  analysis.label_posteriors = !options.labels_out.empty();
  return analysis;
}

// PREFIX.LABEL.bedgraph, compressed when the boundary posterior is.
std::string label_track_path(const PosteriorOptions& options, const std::string& label) {
  return options.labels_out + "." + in_file_name(label) +
         (options.output.ends_with(".gz") ? ".bedgraph.gz" : ".bedgraph");
}

// Of the only sequence that is decoded.
NpyShape label_array_shape(const PosteriorOptions& options, const PreparedRun& run) {
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
    throw UsageError(
        "--labels-out with an .npy file needs exactly one sequence, not " + std::to_string(decoded),
        "choose one sequence with --region, or give a prefix to write bedGraph files");
  return shape;
}

OutputPlan posterior_outputs(const PosteriorOptions& options, const PreparedRun& run) {
  HeaderOptions named;
  if (options.min_posterior > 0) named.push_back({"min-posterior", shortest_text(options.min_posterior)});
  const std::string header = run.header("posterior", named);
  const std::vector<Label>& labels = run.parameters().labels;
  const BedGraphOptions bedgraph{options.run.digits, options.min_posterior};
  OutputPlan plan;
  plan.push_back(
      track_output({run.output(options.output), header, bedgraph, {}, 0, options.run.engine.threads}));
  if (options.labels_out.ends_with(".npy")) {
    plan.push_back(label_array_output({options.labels_out}, label_array_shape(options, run)));
  } else if (!options.labels_out.empty()) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      plan.push_back(track_output(
          {run.output(label_track_path(options, labels[i].name)), header, bedgraph, i, labels.size(), 1}));
  }
  return plan;
}

RunCommand posterior_command(const PosteriorOptions& options) {
  for (const std::string& path : {options.output, options.labels_out}) refuse_bigwig(path);
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
