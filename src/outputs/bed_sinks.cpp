// Segments as BED, with the posteriors along the path where these were computed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "core/threads/turns.h"
#include "io/segments/bed_writer.h"
#include "io/segments/segment_columns.h"
#include "io/text/bedgraph.h"
#include "log/log.h"
#include "outputs/formats.h"

namespace semicrf {

namespace {

class BedSink : public SegmentSink {
 public:
  BedSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output), writer_(file, output.labels, output.bed), threads_(output.threads) {}

 private:
  void begin_segments(const BinLocation& location) override { writer_.begin_piece(location); }
  void add(const Segment& segment, const SegmentPosteriors* support) override {
    writer_.add(segment, support);
  }
  void end_segments() override { writer_.end_piece(); }

  // Threads print parts of a long path at the same time.
  void add_path(const SegmentList& path) override {
    constexpr std::int64_t kPart = 1 << 12;  // segments
    if (writer_.options().merge_adjacent || !has_all_labels() || threads_ == 1 || path.size() < 2 * kPart)
      return SegmentSink::add_path(path);
    using Lines = std::pair<std::string, std::int64_t>;
    const auto print = [&](std::size_t part) {
      const std::int64_t begin = part * kPart;
      Lines lines{"", std::min(kPart, path.size() - begin)};
      SegmentList::Reader reader(path, begin);
      Segment segment;
      for (std::int64_t n = 0; n < lines.second && reader.next(segment); ++n)
        writer_.append_line(segment, SegmentPosteriors{}, lines.first);
      return lines;
    };
    in_turns(threads_, (path.size() + kPart - 1) / kPart, print,
             [this](const Lines& lines) { writer_.add_lines(lines.first, lines.second); });
  }

  BedWriter writer_;
  int threads_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bed_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<BedSink>(file, output);
}

// Segments of some labels as ENCODE narrowPeak, for the programs that read lists of peaks: signal and summit
// as MACS has them, of the highest bin.

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
        summit = fmt::format("{}", from + (to - from) / 2 - begin);
      }
    const std::string& name = names_[segment.label];
    file_.write(fmt::format("{}\t{}\t{}\t{}_{}\t{}\t.\t{}\t-1\t{}\t{}\n", location_.chromosome, begin,
                            location_.end_base(segment.end), name, ++peaks_, bed_score(p), signal,
                            formatted("%.6g", -std::log10(std::max(1 - p, kLeast))), summit));
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

// One value per bin as bedGraph.

namespace {

class BedGraphSink : public OutputSink {
 public:
  BedGraphSink(OutputFile& file, const TrackOutput& output)
      : writer_(file, output.bedgraph), output_(output) {}

  void begin_piece(const BinLocation& location, const PieceResult&, bool) override {
    writer_.begin_piece(location);
  }
  void add_block(const PosteriorBlock& block) override {
    if (output_.label) {
      const std::span<const double> rows = block.*output_.values;
      writer_.add(rows.data() + *output_.label, block.range.size(), output_.num_labels);
    } else {
      writer_.add(block.boundary.data(), block.boundary.size());
    }
  }
  void end_piece(const PieceResult&) override { writer_.end_piece(); }
  void finish() override {
    if (output_.bedgraph.min_value <= 0 || output_.label) return;
    log_note(fmt::format("left out {} bins below --min-posterior, {} boundaries in all",
                         writer_.dropped_bins(), formatted("%.6g", writer_.dropped_mass())));
  }

 private:
  BedGraphWriter writer_;
  TrackOutput output_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bedgraph_sink(OutputFile& file, const TrackOutput& output) {
  return std::make_unique<BedGraphSink>(file, output);
}

}  // namespace semicrf
