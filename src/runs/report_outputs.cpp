// What a run decoded, as documents for MultiQC: written at its end, from the statistics.
#include "runs/report_outputs.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outputs/path_support.h"

namespace semicrf {

namespace {

// The share of the values of all tracks together that bins lack.
std::optional<double> missing_share(const RunTotals& totals, std::size_t num_tracks) {
  if (totals.bins_of_track == 0 || num_tracks == 0) return std::nullopt;
  return static_cast<double>(totals.lacking_values) /
         (static_cast<double>(totals.bins_of_track) * static_cast<double>(num_tracks));
}

std::vector<DecodedLabelStats> no_segments(const std::vector<Label>& labels) {
  std::vector<DecodedLabelStats> stats(labels.size());
  for (std::size_t c = 0; c < labels.size(); ++c) stats[c].name = labels[c].name;
  return stats;
}

class MultiqcSink : public OutputSink {
 public:
  MultiqcSink(OutputFile& file, std::function<std::string()> text) : file_(file), text_(std::move(text)) {}
  void finish() override { file_.write(text_()); }

 private:
  OutputFile& file_;
  std::function<std::string()> text_;
};

}  // namespace

OutputPlan multiqc_outputs(const MultiqcTarget& target, const std::vector<Label>& labels,
                           std::size_t num_tracks, RunReport& report) {
  // The documents of all kinds, which the first sink that is finished makes at once.
  const auto documents = std::make_shared<std::vector<MultiqcDocument>>();
  const auto text = [=, &report](std::size_t number) {
    if (documents->empty()) {
      const Stats& stats = report.finish("", "");
      MultiqcSegments segments;
      segments.labels = labels;
      segments.decoded = stats.decoded_labels.value_or(no_segments(labels));
      segments.lengths = stats.decoded_lengths;
      const RunTotals& totals = report.totals();
      segments.missing_share = missing_share(totals, num_tracks);
      segments.expected_segments = totals.expected_segments;
      if (totals.entropy_bins > 0) segments.position_entropy = totals.position_entropy / totals.entropy_bins;
      *documents = multiqc_segments(target.sample, segments);
    }
    return (*documents)[number].text;
  };
  OutputPlan plan;
  for (std::size_t i = 0; i < kSegmentDocuments.size(); ++i) {
    PlannedOutput output;
    output.file.path = multiqc_path(target, kSegmentDocuments[i]);
    output.open = [text, i](OutputFile& file) {
      return std::make_unique<MultiqcSink>(file, [text, i] { return text(i); });
    };
    plan.push_back(std::move(output));
  }
  return plan;
}

// The statistics of a run as a JSON document, with the mean posteriors of the decoded labels.

namespace {

class StatsSink : public OutputSink {
 public:
  StatsSink(OutputFile& file, RunReport& report, std::string version, std::string device)
      : file_(file), report_(report), version_(std::move(version)), device_(std::move(device)) {}
  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) override {
    location_ = location;
    has_support_ = posteriors_follow && result.path_if_any() != nullptr;
    if (has_support_) support_.begin_piece(result);
  }
  void add_block(const PosteriorBlock& block) override {
    if (!has_support_) return;
    support_.add_block(block, [this](const Segment& segment, const SegmentPosteriors& known) {
      report_.add_posterior(segment.label,
                            location_.end_base(segment.end) - location_.begin_base(segment.begin),
                            known.mean_label_posterior);
    });
  }
  void finish() override {
    report_.finish(version_, device_);
    report_.write_document(file_);
  }

 private:
  OutputFile& file_;
  RunReport& report_;
  std::string version_, device_;
  BinLocation location_;
  bool has_support_ = false;
  PathSupport support_;
};

}  // namespace

PlannedOutput stats_output(const std::string& path, RunReport& report, const std::string& version,
                           const std::string& device) {
  return {{path, IndexKind::kNone}, "", 1, [&report, version, device](OutputFile& file) {
            return std::make_unique<StatsSink>(file, report, version, device);
          }};
}

}  // namespace semicrf
