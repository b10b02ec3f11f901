// Segments as BED, with the posteriors along the path where these were computed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/in_turns.h"
#include "io/text/bed_writer.h"
#include "pipeline/outputs/formats.h"
#include "pipeline/outputs/path_support.h"

namespace semicrf {
namespace {

class BedSink : public OutputSink {
 public:
  BedSink(OutputFile& file, const SegmentOutput& output)
      : writer_(file, output.labels, output.bed),
        draw_(output.draw),
        rank_(output.rank),
        threads_(output.threads) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) override {
    writer_.begin_piece(location);
    if (rank_) return write_rank(result);
    const SegmentList& path = draw_ ? result.draws->draws[*draw_].segments : *result.path();
    if (!posteriors_follow) return write_path(path);
    support_.begin_piece(result);
  }

  void add_block(const PosteriorBlock& block) override {
    if (rank_) return;
    support_.add_block(
        block, [this](const Segment& segment, const SegmentSupport& known) { writer_.add(segment, &known); });
  }

  void end_piece(const PieceResult&) override { writer_.end_piece(); }
  bool is_wanted() const override { return !rank_ || *rank_ == 0 || has_rank_; }

 private:
  // Without posteriors. A piece may have fewer segmentations.
  void write_rank(const PieceResult& result) {
    if (*rank_ >= result.best_paths->ranks.size()) return;
    has_rank_ = true;
    if (*rank_ == 0) return write_path(*result.path());
    write_path(result.best_paths->segments(*rank_, *result.path()));
  }
  // A path without posteriors; threads print parts of a long one at the same time.
  void write_path(const SegmentList& path) {
    constexpr std::int64_t kPart = 1 << 12;  // segments
    if (writer_.options().merge_adjacent || threads_ == 1 || path.size() < 2 * kPart) {
      SegmentList::Reader reader(path);
      for (Segment segment; reader.next(segment);) writer_.add(segment, nullptr);
      return;
    }
    using Lines = std::pair<std::string, std::int64_t>;
    const auto print = [&](std::size_t part) {
      const auto begin = static_cast<std::int64_t>(part) * kPart;
      Lines lines{"", std::min(kPart, path.size() - begin)};
      SegmentList::Reader reader(path, begin);
      Segment segment;
      for (std::int64_t n = 0; n < lines.second && reader.next(segment); ++n)
        writer_.append_line(segment, SegmentSupport{}, lines.first);
      return lines;
    };
    in_turns(threads_, static_cast<std::size_t>((path.size() + kPart - 1) / kPart), print,
             [this](const Lines& lines) { writer_.add_lines(lines.first, lines.second); });
  }

  BedWriter writer_;
  std::optional<std::size_t> draw_, rank_;
  bool has_rank_ = false;  // some piece
  int threads_;
  PathSupport support_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bed_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<BedSink>(file, output);
}

}  // namespace semicrf
