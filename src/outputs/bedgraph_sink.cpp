// One value per bin as bedGraph.
#include <span>

#include "core/text/text.h"
#include "io/text/bedgraph.h"
#include "log/log.h"
#include "outputs/formats.h"

namespace semicrf {
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
      writer_.add(rows.data() + *output_.label, static_cast<std::size_t>(block.range.size()),
                  output_.num_labels);
    } else {
      writer_.add(block.boundary.data(), block.boundary.size());
    }
  }
  void end_piece(const PieceResult&) override { writer_.end_piece(); }
  void finish() override {
    if (output_.bedgraph.min_value <= 0 || output_.label) return;
    log_note("left out " + std::to_string(writer_.dropped_bins()) + " bins below --min-posterior, " +
             formatted("%.6g", writer_.dropped_mass()) + " boundaries in all");
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
