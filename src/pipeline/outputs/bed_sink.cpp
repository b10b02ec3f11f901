// Segments as BED, with the posteriors along the path where these were computed.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/parallel.h"
#include "core/turns.h"
#include "io/text/bed_writer.h"
#include "pipeline/outputs/formats.h"

namespace semicrf {
namespace {

class BedSink : public OutputSink {
 public:
  BedSink(OutputFile& file, const SegmentOutput& output)
      : writer_(file, output.labels, output.bed), draw_(output.draw), threads_(output.threads) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) override {
    writer_.begin_piece(location);
    const SegmentList& path = draw_ ? result.draws->draws[*draw_].segments : result.viterbi->segments;
    if (!posteriors_follow) return write_path(path);
    path_.emplace(path);
    log_shares_.reset();
    if (result.shares) log_shares_.emplace(result.shares->logs);
    segment_open_ = false;
  }

  // Means are taken position by position from the left, so that blocks do not change a digit.
  void add_block(const PosteriorBlock& block) override {
    for (std::int64_t t = block.range.begin; t < block.range.end; ++t) {
      const auto row = static_cast<std::size_t>(t - block.range.begin);
      if (!segment_open_) {
        path_->next(segment_);
        segment_open_ = true;
        support_ = {};
        if (!block.path_start.empty()) support_.start_posterior = block.path_start[row];
      }
      support_.mean_label_posterior += block.path_label[row];
      if (t + 1 < segment_.end) continue;
      if (!block.path_end.empty()) support_.end_posterior = block.path_end[row];
      write_open_segment();
    }
  }

  void end_piece() override { writer_.end_piece(); }

 private:
  void write_open_segment() {
    support_.mean_label_posterior =
        std::min(1.0, support_.mean_label_posterior / static_cast<double>(segment_.end - segment_.begin));
    if (double log_share = 0; log_shares_ && log_shares_->next(log_share))
      support_.exact_posterior =
          std::min(support_.start_posterior, support_.end_posterior * std::exp(log_share));
    writer_.add(segment_, &support_);
    segment_open_ = false;
  }

  // A path without posteriors; threads print parts of a long one at the same time.
  void write_path(const SegmentList& path) {
    constexpr std::int64_t kPart = 1 << 12;  // segments
    if (writer_.options().merge_adjacent || threads_ == 1 || path.size() < 2 * kPart) {
      SegmentList::Reader reader(path);
      for (Segment segment; reader.next(segment);) writer_.add(segment, nullptr);
      return;
    }
    Turns turns(2 * static_cast<std::size_t>(threads_), Turns::Thread::kOwn);
    const auto print = [&](std::size_t part, int) {
      const auto begin = static_cast<std::int64_t>(part) * kPart;
      const std::int64_t count = std::min(kPart, path.size() - begin);
      SegmentList::Reader reader(path, begin);
      std::string lines;
      Segment segment;
      for (std::int64_t n = 0; n < count && reader.next(segment); ++n)
        writer_.append_line(segment, SegmentSupport{}, lines);
      turns.submit(static_cast<std::int64_t>(part),
                   [this, lines = std::move(lines), count] { writer_.add_lines(lines, count); });
    };
    try {
      parallel_for(threads_, static_cast<std::size_t>((path.size() + kPart - 1) / kPart), print);
    } catch (const Turns::Cancelled&) {
      // finish() throws the error itself.
    }
    turns.finish();
  }

  BedWriter writer_;
  std::optional<std::size_t> draw_;
  int threads_;
  // The segment whose posteriors are being collected.
  std::optional<SegmentList::Reader> path_;
  std::optional<SpooledNumbers::Reader> log_shares_;
  Segment segment_;
  bool segment_open_ = false;
  SegmentSupport support_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bed_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<BedSink>(file, output);
}

}  // namespace semicrf
