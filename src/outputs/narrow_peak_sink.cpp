// Segments of some labels as ENCODE narrowPeak, for the programs that read lists of peaks: signal and summit
// as MACS has them, of the highest bin.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/text/text.h"
#include "io/segments/segment_columns.h"
#include "outputs/segment_sink.h"

namespace semicrf {
namespace {

class NarrowPeakSink : public SegmentSink {
 public:
  NarrowPeakSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output), file_(file), joiner_(output.bed.merge_adjacent), signal_(output.signal) {
    for (const Label& label : output.labels) names_.push_back(label.name);
  }

 private:
  void begin_segments(const BinLocation& location) override { location_ = location; }
  void add(const Segment& segment, const SegmentPosteriors* support) override {
    joiner_.add(segment, support != nullptr ? *support : SegmentPosteriors{},
                [this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }
  void end_segments() override {
    joiner_.finish([this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }

  // chrom start end name score . signalValue pValue qValue peak. Posteriors are printed to six digits, so
  // that 1 - P has no smaller value than this.
  void print(const Segment& segment, const SegmentPosteriors& known) {
    constexpr double kLeast = 1e-6;
    const double p = known.mean_label_posterior;
    const std::int64_t begin = location_.begin_base(segment.begin);
    std::string signal = "-1", summit = "-1";
    if (signal_ != nullptr)
      if (const auto top = signal_->summit(location_, segment.label, segment.begin, segment.end)) {
        const std::int64_t from = location_.begin_base(top->bin), to = location_.end_base(top->bin + 1);
        signal = formatted("%.6g", top->value);
        summit = std::to_string(from + (to - from) / 2 - begin);
      }
    const std::string& name = names_[segment.label];
    file_.write(location_.chromosome + "\t" + std::to_string(begin) + "\t" +
                std::to_string(location_.end_base(segment.end)) + "\t" + name + "_" +
                std::to_string(++peaks_) + "\t" + std::to_string(bed_score(p)) + "\t.\t" + signal + "\t-1\t" +
                formatted("%.6g", -std::log10(std::max(1 - p, kLeast))) + "\t" + summit + "\n");
  }

  OutputFile& file_;
  std::vector<std::string> names_;
  BinLocation location_;
  SegmentJoiner joiner_;
  std::shared_ptr<PeakSignal> signal_;
  std::int64_t peaks_ = 0;  // written so far
};

}  // namespace

std::unique_ptr<OutputSink> make_narrow_peak_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<NarrowPeakSink>(file, output);
}

}  // namespace semicrf
