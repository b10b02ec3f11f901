// Tables of what the posteriors say about the segments of the best path and about its boundaries.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analyses/intervals/start_interval.h"
#include "io/segments/bed_writer.h"
#include "io/segments/segment_columns.h"
#include "log/log.h"
#include "outputs/formats.h"
#include "outputs/path_support.h"

namespace semicrf {

namespace {

template <class Writer>
class TableSink : public OutputSink {
 public:
  TableSink(Writer writer, const SegmentTableOutput& output)
      : writer_(std::move(writer)), joiner_(output.merge_adjacent), support_(output.intervals) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool) override {
    writer_.begin_piece(location);
    support_.begin_piece(result);
  }
  void add_block(const PosteriorBlock& block) override {
    support_.add_block(block, [this](const Segment& s, const SegmentPosteriors& k) { join(s, k); });
  }
  void end_piece(const PieceResult& result) override {
    support_.end_piece(result, [this](const Segment& s, const SegmentPosteriors& k) { join(s, k); });
    joiner_.finish([this](const Segment& s, const SegmentPosteriors& k) { writer_.add(s, k); });
  }

 private:
  void join(const Segment& segment, const SegmentPosteriors& known) {
    joiner_.add(segment, known, [this](const Segment& s, const SegmentPosteriors& k) { writer_.add(s, k); });
  }

  Writer writer_;
  SegmentJoiner joiner_;
  PathSupport support_;
};

}  // namespace

PlannedOutput segment_table_output(const SegmentTableOutput& output) {
  return {output.file, output.header, output.threads, [output](OutputFile& file) {
            SegmentTableWriter writer(file, output.labels, output.intervals, output.comments);
            return std::make_unique<TableSink<SegmentTableWriter>>(std::move(writer), output);
          }};
}

PlannedOutput boundary_table_output(const SegmentTableOutput& output) {
  return {output.file, output.header, output.threads, [output](OutputFile& file) {
            BoundaryTableWriter writer(file, output.labels, output.comments);
            return std::make_unique<TableSink<BoundaryTableWriter>>(std::move(writer), output);
          }};
}

// The uncertain boundaries of the best path for review, BED.

namespace {

class ReviewSink : public OutputSink {
 public:
  ReviewSink(OutputFile& file, const SegmentTableOutput& output, std::int64_t most)
      : writer_(file, output.labels, most, output.comments),
        merge_adjacent_(output.merge_adjacent),
        support_(output.intervals) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool) override {
    writer_.begin_piece(location);
    support_.begin_piece(result);
    left_.reset();
  }
  void add_block(const PosteriorBlock& block) override {
    support_.add_block(block, [this](const Segment& s, const SegmentPosteriors& k) { add_segment(s, k); });
  }
  void end_piece(const PieceResult& result) override {
    support_.end_piece(result, [this](const Segment& s, const SegmentPosteriors& k) { add_segment(s, k); });
  }
  void finish() override {
    writer_.finish(boundaries_);
    const std::string listed =
        writer_.lines() < writer_.added()
            ? fmt::format("; the {} least certain are listed (--review-top)", writer_.lines())
            : "";
    log_note(
        fmt::format("--review: {} of {} boundaries are uncertain{}", writer_.added(), boundaries_, listed));
  }

 private:
  void add_segment(const Segment& segment, const SegmentPosteriors& known) {
    const std::optional<Segment> left = std::exchange(left_, segment);
    if (left) add_boundary(*left, segment, known);
  }
  // The boundary between two neighbours. One that joins segments of one label is none of the written path.
  void add_boundary(const Segment& left, const Segment& right, const SegmentPosteriors& known) {
    if (merge_adjacent_ && left.label == right.label) return;
    ++boundaries_;
    constexpr auto kReach = static_cast<std::int64_t>(StartInterval::kReach);
    UncertainBoundary boundary;
    boundary.position = right.begin;
    boundary.from = left.label;
    boundary.to = right.label;
    boundary.posterior = known.start_posterior;
    if (known.start_interval) {
      if (known.start_interval->lower == known.start_interval->upper) return;
      boundary.first = known.start_interval->lower;
      boundary.last = known.start_interval->upper;
    } else {
      boundary.has_interval = false;
      boundary.first = std::max(left.begin, right.begin - kReach);
      boundary.last = std::min(right.end - 1, right.begin + kReach);
    }
    writer_.add(boundary);
  }

  ReviewWriter writer_;
  bool merge_adjacent_;
  PathSupport support_;
  std::optional<Segment> left_;  // segment of the piece, not joined to others
  std::int64_t boundaries_ = 0;  // boundaries of the path that is written
};

}  // namespace

PlannedOutput review_output(const SegmentTableOutput& output, std::int64_t most) {
  return {output.file, output.header, output.threads,
          [output, most](OutputFile& file) { return std::make_unique<ReviewSink>(file, output, most); }};
}

}  // namespace semicrf
