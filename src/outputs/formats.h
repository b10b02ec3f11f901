// The outputs that a run can have, planned by the names of their files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chain_model.h"
#include "inputs/peak_signal.h"
#include "inputs/rows/row_reader.h"
#include "io/arrays/npy_writer.h"
#include "io/files/output_names.h"
#include "io/segments/bed_writer.h"
#include "io/text/bedgraph.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"
#include "outputs/path_support.h"
#include "outputs/sink.h"

namespace semicrf {

// Segments: of the best path, with its posteriors where there are any; of a draw; or of a rank.
struct SegmentOutput {
  OutputSpec file;
  std::string header;
  std::vector<Label> labels;
  BedOptions bed;
  std::optional<std::size_t> draw;  // its index; absent: the best path
  int threads = 1;                  // that print and compress
  // rank among several best paths, from 0; no file where no piece has so many
  std::optional<std::size_t> rank;
  std::vector<int> only = {};                // segments of these labels alone; empty: of all
  std::optional<std::string> sequence = {};  // pieces of this chromosome alone
  // For bigBed (and the chromosomes for VCF): its columns behind the ninth, all chromosomes of the run in the
  // order of the output, and the bases per bin.
  PosteriorColumns support = {};
  ListedChromosomes chromosomes = {};
  std::int64_t bin_size = 1;
  std::shared_ptr<PeakSignal> signal = {};  // for narrowPeak, SEG, CNS, VCF; null: there are no tracks
};
// What the ending of its name says, without .gz or .bgz.
enum class SegmentFormat { kBed, kBigBed, kNarrowPeak, kSeg, kCns, kVcf, kTextGrid };
SegmentFormat segment_format(std::string_view path);
PlannedOutput segment_output(const SegmentOutput& output);

// Tables of the segments of the best path, and of the boundaries between them, with what the posteriors say.
struct SegmentTableOutput {
  OutputSpec file;
  std::string header;
  std::vector<Label> labels;
  bool merge_adjacent = false;  // join touching segments of one label within a piece
  bool intervals = false;       // intervals of the starts of segments
  bool comments = true;         // the line of names begins with #
  int threads = 1;              // that compress
};
PlannedOutput segment_table_output(const SegmentTableOutput& output);
PlannedOutput boundary_table_output(const SegmentTableOutput& output);

// The boundaries whose interval is wider than a bin, or that have none, as BED, the least certain first: so
// many lines at most, >= 1. They are in memory until the end of the run (bed_writer.h).
PlannedOutput review_output(const SegmentTableOutput& output, std::int64_t most);

// Which array of a block.
using PosteriorValues = std::span<const double> PosteriorBlock::*;

// One value per bin: the boundary posterior, or one of those that labels have.
struct TrackOutput {
  OutputSpec file;
  std::string header;
  BedGraphOptions bedgraph;
  std::optional<std::size_t> label;                  // its index; absent: the boundary
  PosteriorValues values = &PosteriorBlock::labels;  // (n, C); with a label
  std::size_t num_labels = 0;
  int threads = 1;  // that compress
  // For bigWig: all chromosomes of the run in the order of the output, and the bases per bin.
  ListedChromosomes chromosomes = {};
  std::int64_t bin_size = 1;

  // A run with very many of them must not spend much memory on each.
  bool one_of_many() const { return label && num_labels > 32; }
};
// bedGraph, or bigWig where is_bigwig_name() says so.
PlannedOutput track_output(const TrackOutput& output);

// Takes back the index of outputs that can have none by their names, and returns how these are called in
// messages. Where no output has an index, be it of --write-index or of its own (bigWig, bigBed), the request
// stays: check_outputs refuses it.
std::vector<std::string> leave_out_indexes(OutputPlan& plan);

// A file of this text.
PlannedOutput text_output(const std::string& path, const std::string& text);

// Posteriors of all labels of the only sequence, NPY (bins, C); bins outside of the pieces are NaN.
PlannedOutput label_array_output(const OutputSpec& file, const NpyShape& shape, PosteriorValues values);

// Posteriors of all labels, NPZ with an array (bins, C) for every sequence; bins outside of the pieces are
// NaN. One array at a time is in memory. `shapes`: by sequence, in the order of the run.
struct NamedShape {
  std::string name, chromosome;
  std::int64_t origin = 0;
  NpyShape shape;
};
PlannedOutput label_archive_output(const OutputSpec& file, const std::vector<NamedShape>& shapes,
                                   PosteriorValues values);

// log Z and the expected counts, summed over all pieces that have a segmentation, NPZ.
PlannedOutput counts_output(const OutputSpec& file, const ChainModel& model);

// The raw rows of a generated sequence, NPY.
PlannedOutput generated_output(const OutputSpec& file, const RandomRows& rows);

// The sinks.
std::unique_ptr<OutputSink> make_bed_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_bigbed_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_narrow_peak_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_seg_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_cns_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_vcf_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_textgrid_sink(OutputFile& file, const SegmentOutput& output);
std::unique_ptr<OutputSink> make_bedgraph_sink(OutputFile& file, const TrackOutput& output);
std::unique_ptr<OutputSink> make_bigwig_sink(OutputFile& file, const TrackOutput& output);
std::unique_ptr<OutputSink> make_label_array_sink(OutputFile& file, const NpyShape& shape,
                                                  PosteriorValues values);
std::unique_ptr<OutputSink> make_label_archive_sink(OutputFile& file, const std::vector<NamedShape>& shapes,
                                                    PosteriorValues values);
std::unique_ptr<OutputSink> make_counts_sink(OutputFile& file, const ChainModel& model);
std::unique_ptr<OutputSink> make_generated_sink(OutputFile& file, const RandomRows& rows);

// What sinks of segments share: which segments of a piece the file is for, and what the posteriors say of
// them.
//
// Hands the segments of every piece on, from left to right. Formats derive from it.
class SegmentSink : public OutputSink {
 public:
  explicit SegmentSink(const SegmentOutput& output)
      : draw_(output.draw), rank_(output.rank), only_(output.only), sequence_(output.sequence) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) final;
  void add_block(const PosteriorBlock& block) final;
  void end_piece(const PieceResult&) final {
    if (is_about_piece_) end_segments();
  }
  bool is_wanted() const final { return !rank_ || *rank_ == 0 || has_rank_; }

 protected:
  virtual void begin_segments(const BinLocation& location) = 0;
  // `support` is null when no posteriors were computed.
  virtual void add(const Segment& segment, const SegmentPosteriors* support) = 0;
  virtual void end_segments() = 0;
  // All segments of a piece without posteriors.
  virtual void add_path(const SegmentList& path);
  // Whether the file has the segments of all labels.
  bool has_all_labels() const { return only_.empty(); }

 private:
  void add_rank(const PieceResult& result);
  void add_wanted(const Segment& segment, const SegmentPosteriors* support) {
    if (only_.empty() || std::ranges::find(only_, segment.label) != only_.end()) add(segment, support);
  }

  std::optional<std::size_t> draw_, rank_;
  bool has_rank_ = false;  // some piece
  std::vector<int> only_;
  std::optional<std::string> sequence_;
  bool is_about_piece_ = true;  // the latest piece is of the sequence
  PathSupport support_;
};

}  // namespace semicrf
