// One value per bin as bigWig.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/fixed_decimal.h"
#include "io/bigwig/bbi_writers.h"
#include "io/segments/segment_columns.h"
#include "io/text/chromosomes.h"
#include "outputs/formats.h"

namespace semicrf {

namespace {

constexpr std::int64_t kBigWigZoomBins = 16;  // bins of a record of the finest zoom level

// Values are those that bedGraph would print, and runs of equal ones are one interval.
class BigWigSink : public OutputSink {
 public:
  BigWigSink(OutputFile& file, const TrackOutput& output)
      : file_(file),
        output_(output),
        decimal_(output.bedgraph.digits),
        scale_(std::pow(10.0, output.bedgraph.digits)),
        writer_(output.chromosomes,
                {.zoom = kBigWigZoomBins * output.bin_size, .one_of_many = output.one_of_many()},
                output.bin_size) {}

  void begin_piece(const BinLocation& location, const PieceResult&, bool) override {
    location_ = location;
    next_bin_ = 0;
    chrom_ = output_.chromosomes.place(location.chromosome);
  }

  void add_block(const PosteriorBlock& block) override {
    if (!output_.label) {
      for (const double value : block.boundary) add(value);
      return;
    }
    const std::span<const double> rows = block.*output_.values;
    for (std::size_t i = *output_.label; i < rows.size(); i += output_.num_labels) add(rows[i]);
  }

  void end_piece(const PieceResult&) override { end_run(); }
  void finish() override { writer_.write(file_); }

 private:
  void add(double value) {
    const std::int64_t bin = next_bin_++;
    if (value < output_.bedgraph.min_value) return end_run();
    const FixedDecimal::Rounded rounded = decimal_.round(value);
    if (open_ && rounded == run_value_) {
      run_end_ = bin + 1;
      return;
    }
    end_run();
    open_ = true;
    run_begin_ = bin;
    run_end_ = bin + 1;
    run_value_ = rounded;
  }

  void end_run() {
    if (!open_) return;
    const double value =
        run_value_.large != 0 ? run_value_.large : static_cast<double>(run_value_.scaled) / scale_;
    writer_.add(chrom_, location_.begin_base(run_begin_), location_.end_base(run_end_),
                static_cast<float>(value));
    open_ = false;
  }

  OutputFile& file_;
  TrackOutput output_;
  FixedDecimal decimal_;
  double scale_;
  BigWigWriter writer_;
  BinLocation location_;
  std::size_t chrom_ = 0;
  std::int64_t next_bin_ = 0;  // next bin of the piece
  bool open_ = false;          // a run
  std::int64_t run_begin_ = 0, run_end_ = 0;
  FixedDecimal::Rounded run_value_;
};

}  // namespace

std::unique_ptr<OutputSink> make_bigwig_sink(OutputFile& file, const TrackOutput& output) {
  return std::make_unique<BigWigSink>(file, output);
}

// Segments as bigBed: the nine columns of BED, and what the posteriors say as named columns behind them.

namespace {

constexpr std::int64_t kBigBedZoomBins = 100;  // bins of a record of the finest zoom level
constexpr std::size_t kBedColumns = 9;

std::vector<BigBedColumn> described_columns(const SegmentOutput& output) {
  std::vector<BigBedColumn> columns = {
      {"string", "chrom", "Chromosome"},
      {"uint", "chromStart", "First base of the segment, counted from 0"},
      {"uint", "chromEnd", "Base behind the segment"},
      {"string", "name", "Label"},
      {"uint", "score", "1000 times the mean of P(label) over the segment; 0 where not computed"},
      {"char[1]", "strand", "Always ."},
      {"uint", "thickStart", "As chromStart"},
      {"uint", "thickEnd", "As chromEnd"},
      {"uint", "reserved", "Colour of the label: red,green,blue"}};
  const PosteriorColumns& support = output.support;
  const auto add = [&](std::string_view name) {
    columns.push_back(
        {"float", std::string(name), capitalized(statistic(segment_statistics(), name).meaning)});
  };
  if (support.label) add("p_label");
  if (support.segment) add("p_segment");
  if (support.segment && output.bed.merge_adjacent) {
    columns.back().type = "string";
    columns.back().comment += "; . of a joined one";
  }
  for (const char* name : {"p_start", "p_end"})
    if (support.edges) add(name);
  return columns;
}

// The program and the parameters, which are the first two lines of the header.
std::string table_comment(const std::string& header) {
  std::string text = "Segments";
  std::size_t at = 0;
  for (int line = 0; line < 2; ++line) {
    const std::size_t end = header.find('\n', at);
    if (end == std::string::npos) break;
    text += ", " + header.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  std::ranges::replace(text, '"', '\'');
  return text;
}

std::string description(const SegmentOutput& output) {
  return auto_sql("semicrf_segments", table_comment(output.header), described_columns(output));
}

class BigBedSink : public SegmentSink {
 public:
  BigBedSink(OutputFile& file, const SegmentOutput& output)
      : SegmentSink(output),
        file_(file),
        columns_(output.labels, output.support),
        joiner_(output.bed.merge_adjacent),
        listed_(output.chromosomes),
        writer_(output.chromosomes, described_columns(output).size(), kBedColumns, description(output),
                {.zoom = kBigBedZoomBins * output.bin_size, .one_of_many = output.draw || output.rank}) {}

  void finish() override { writer_.write(file_); }

 private:
  void begin_segments(const BinLocation& location) override {
    location_ = location;
    chrom_ = listed_.place(location.chromosome);
  }

  void add(const Segment& segment, const SegmentPosteriors* support) override {
    joiner_.add(segment, support != nullptr ? *support : SegmentPosteriors{},
                [this](const Segment& one, const SegmentPosteriors& known) { write(one, known); });
  }

  void end_segments() override {
    joiner_.finish([this](const Segment& one, const SegmentPosteriors& known) { write(one, known); });
  }

  void write(const Segment& segment, const SegmentPosteriors& support) {
    const std::int64_t first = location_.begin_base(segment.begin), last = location_.end_base(segment.end);
    char begin[20], end[20];
    rest_.clear();
    columns_.append_to(rest_, segment, support, {begin, print_integer(first, begin)},
                       {end, print_integer(last, end)});
    writer_.add(chrom_, first, last, rest_);
  }

  OutputFile& file_;
  SegmentColumns columns_;
  SegmentJoiner joiner_;
  ListedChromosomes listed_;
  BigBedWriter writer_;
  BinLocation location_;
  std::size_t chrom_ = 0;
  std::string rest_;  // fields of a line after the first three
};

}  // namespace

std::unique_ptr<OutputSink> make_bigbed_sink(OutputFile& file, const SegmentOutput& output) {
  return std::make_unique<BigBedSink>(file, output);
}

}  // namespace semicrf
