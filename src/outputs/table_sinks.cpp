// Tables of what the posteriors say about the segments of the best path and about its boundaries.
#include <memory>

#include "io/segments/segment_columns.h"
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

}  // namespace semicrf
