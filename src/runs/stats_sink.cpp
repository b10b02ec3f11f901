// The statistics of a run as a JSON document, with the mean posteriors of the decoded labels.
#include <memory>
#include <string>
#include <utility>

#include "outputs/path_support.h"
#include "runs/report_outputs.h"

namespace semicrf {
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
      report_.add_posterior(static_cast<std::size_t>(segment.label),
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
