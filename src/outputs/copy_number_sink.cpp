// Segments of copy number for the programs that draw or call them: SEG (IGV, DNAcopy) and CNS (CNVkit), with
// the mean log ratio of each segment. CNS has copies where labels are copies, and the probability of the
// label.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/segments/segment_columns.h"
#include "model/copies.h"
#include "outputs/formats.h"

namespace semicrf {

namespace {

// The copies that a label says: in all, of one parent, of the other one.
std::string copies_text(const std::string& label) {
  const std::optional<LabelCopies> copies = copies_of_label(label);
  if (!copies) return "\t\t";
  return copies->of_parents ? fmt::format("{}\t{}\t{}", copies->all(), copies->first, copies->second)
                            : fmt::format("{}\t\t", copies->first);
}

class CopyNumberSink : public SegmentSink {
 public:
  CopyNumberSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output),
        file_(file),
        joiner_(output.bed.merge_adjacent),
        signal_(output.signal),
        is_seg_(has_ending(output.file.path, {".seg", ".seg.gz"})) {
    for (const Label& label : output.labels) copies_.push_back(copies_text(label.name));
    const std::string name = std::filesystem::path(output.file.path).filename().string();
    sample_ = name.substr(0, name.find(".seg"));
    file_.write(is_seg_ ? "ID\tchrom\tloc.start\tloc.end\tnum.mark\tseg.mean\n"
                        : "chromosome\tstart\tend\tgene\tlog2\tprobes\tcn\tcn1\tcn2\tp_label\n");
  }

 private:
  void begin_segments(const BinLocation& location) override { location_ = location; }
  void add(const Segment& segment, const SegmentPosteriors* support) override {
    has_support_ = support != nullptr;
    joiner_.add(segment, has_support_ ? *support : SegmentPosteriors{},
                [this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }
  void end_segments() override {
    joiner_.finish([this](const Segment& s, const SegmentPosteriors& known) { print(s, known); });
  }

  void print(const Segment& segment, const SegmentPosteriors& known) {
    const std::int64_t begin = location_.begin_base(segment.begin), end = location_.end_base(segment.end);
    const SignalMean mean =
        signal_ != nullptr ? signal_->log_ratio(location_, segment.begin, segment.end) : SignalMean{};
    const std::string value = mean.bins > 0 ? formatted("%.6g", mean.value) : is_seg_ ? "NA" : "";
    if (is_seg_) {
      file_.write(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", sample_, location_.chromosome, begin + 1, end,
                              mean.bins, value));
    } else {
      file_.write(fmt::format("{}\t{}\t{}\t-\t{}\t{}\t{}\t{}\n", location_.chromosome, begin, end, value,
                              mean.bins, copies_[static_cast<std::size_t>(segment.label)],
                              has_support_ ? formatted("%.6g", known.mean_label_posterior) : ""));
    }
  }

  OutputFile& file_;
  BinLocation location_;
  SegmentJoiner joiner_;
  std::shared_ptr<PeakSignal> signal_;
  bool is_seg_, has_support_ = false;
  std::string sample_;
  std::vector<std::string> copies_;  // by label, the three columns
};

}  // namespace

std::unique_ptr<OutputSink> make_copy_number_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<CopyNumberSink>(file, output);
}

}  // namespace semicrf
