// Segments as BED, with the posteriors along the path where these were computed.
#include <algorithm>
#include <string>
#include <utility>

#include "core/threads/turns.h"
#include "io/segments/bed_writer.h"
#include "outputs/segment_sink.h"

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
      const auto begin = static_cast<std::int64_t>(part) * kPart;
      Lines lines{"", std::min(kPart, path.size() - begin)};
      SegmentList::Reader reader(path, begin);
      Segment segment;
      for (std::int64_t n = 0; n < lines.second && reader.next(segment); ++n)
        writer_.append_line(segment, SegmentPosteriors{}, lines.first);
      return lines;
    };
    in_turns(threads_, static_cast<std::size_t>((path.size() + kPart - 1) / kPart), print,
             [this](const Lines& lines) { writer_.add_lines(lines.first, lines.second); });
  }

  BedWriter writer_;
  int threads_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bed_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<BedSink>(file, output);
}

}  // namespace semicrf
