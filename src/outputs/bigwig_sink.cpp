// One value per bin as bigWig.
#include <cmath>

#include "core/text/fixed_decimal.h"
#include "io/bigwig/bbi_writers.h"
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

}  // namespace semicrf
