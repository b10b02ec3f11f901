#include "pipeline/outputs/formats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "pipeline/run/run_report.h"

namespace semicrf {
namespace {

// The format of files whose names have this ending; the first that fits counts, "" fits every name.
template <class Output>
struct Format {
  std::string_view ending;
  std::unique_ptr<OutputSink> (*open)(OutputFile&, const Output&);
};

constexpr std::array kSegmentFormats = {Format<SegmentOutput>{"", make_bed_sink}};
constexpr std::array kTrackFormats = {
    Format<TrackOutput>{".bw", make_bigwig_sink}, Format<TrackOutput>{".bigwig", make_bigwig_sink},
    Format<TrackOutput>{".bigWig", make_bigwig_sink}, Format<TrackOutput>{"", make_bedgraph_sink}};

template <class Output, std::size_t kFormats>
PlannedOutput planned(const Output& output, const std::array<Format<Output>, kFormats>& formats) {
  const auto format = std::ranges::find_if(
      formats, [&](const Format<Output>& one) { return output.file.path.ends_with(one.ending); });
  return {output.file, output.header, output.threads,
          [open = format->open, output](OutputFile& file) { return open(file, output); }};
}

class StatsSink : public OutputSink {
 public:
  StatsSink(OutputFile& file, RunReport& report, std::string version, std::string device)
      : file_(file), report_(report), version_(std::move(version)), device_(std::move(device)) {}
  void finish() override { file_.write(stats_text(report_.finish(version_, device_))); }

 private:
  OutputFile& file_;
  RunReport& report_;
  std::string version_, device_;
};

}  // namespace

PlannedOutput segment_output(const SegmentOutput& output) {
  PlannedOutput result = planned(output, kSegmentFormats);
  result.one_of_many = output.rank.has_value();
  return result;
}

PlannedOutput track_output(const TrackOutput& output) {
  PlannedOutput result = planned(output, kTrackFormats);
  if (is_bigwig_name(output.file.path)) result.header.clear();  // a binary format has no place for it
  return result;
}

bool is_bigwig_name(std::string_view path) {
  return path.ends_with(".bw") || path.ends_with(".bigwig") || path.ends_with(".bigWig");
}

PlannedOutput label_array_output(const OutputSpec& file, const NpyShape& shape, PosteriorValues values) {
  return {file, "", 1,
          [shape, values](OutputFile& opened) { return make_label_array_sink(opened, shape, values); }};
}

PlannedOutput counts_output(const OutputSpec& file, const ChainModel& model) {
  return {file, "", 1, [model](OutputFile& opened) { return make_counts_sink(opened, model); }};
}

PlannedOutput generated_output(const OutputSpec& file, const RandomRows& rows) {
  return {file, "", 1, [rows](OutputFile& opened) { return make_generated_sink(opened, rows); }};
}

PlannedOutput stats_output(const std::string& path, RunReport& report, const std::string& version,
                           const std::string& device) {
  return {{path, IndexKind::kNone}, "", 1, [&report, version, device](OutputFile& file) {
            return std::make_unique<StatsSink>(file, report, version, device);
          }};
}

}  // namespace semicrf
