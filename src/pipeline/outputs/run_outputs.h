// The files a run writes, piece by piece from left to right.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/text/bed_writer.h"
#include "io/text/bedgraph_writer.h"
#include "io/arrays/npy_writer.h"
#include "io/files/output_file.h"
#include "model/parameters.h"
#include "pipeline/analyses/posteriors/posterior_sweep.h"
#include "pipeline/analyses/viterbi/segment_list.h"
#include "pipeline/analyses/draws/segment_sampler.h"
#include "pipeline/analyses/draws/segment_shares.h"

namespace semicrf {

// The segmentations of one draw, BED.
struct DrawOutput {
  OutputSpec file;
  std::string header;
};

// The generated rows of a sequence, NPY.
struct GeneratedOutput {
  OutputSpec file;
  std::size_t sequence = 0;  // index in InputSet::sequences()
};

// Empty paths: not wanted.
struct OutputPlan {
  OutputSpec segments;  // BED
  std::vector<DrawOutput> draws;
  OutputSpec boundary;                   // bedGraph
  std::vector<OutputSpec> label_tracks;  // bedGraph, one per label
  OutputSpec label_array;                // NPY (bins of the only sequence, C)
  std::int64_t label_array_rows = 0;
  bool label_array_double = false;
  std::vector<GeneratedOutput> generated;
  BedOptions bed;
  BedGraphOptions bedgraph;
  std::string header;  // of BED and bedGraph files
  int threads = 1;     // that print paths and compress
};

// Every file of the plan that is wanted, for check_outputs.
std::vector<OutputSpec> output_specs(const OutputPlan& plan);

class RunOutputs {
 public:
  RunOutputs(const OutputPlan& plan, const std::vector<Label>& labels);

  // With posteriors their blocks follow, else the path is written at once.
  void begin_piece(const BinLocation& location, const PathView& path, bool with_posteriors);
  void add_block(const PosteriorBlock& block);
  void end_piece();

  // A piece's draws, one per file.
  void write_draws(const BinLocation& location, const std::vector<Draw>& draws);
  // An array that the caller fills.
  NpyWriter& add_array(const OutputSpec& spec, const NpyShape& shape);

  // Everything written and durable, then everything under its name. Call each once, at the end: all that can
  // fail but renaming fails in finish().
  void finish();
  void commit();

  // Boundary posteriors left out because of their size.
  double dropped_mass() const { return boundary_ ? boundary_->dropped_mass() : 0; }
  std::int64_t dropped_bins() const { return boundary_ ? boundary_->dropped_bins() : 0; }

 private:
  OutputFile& open(const OutputSpec& spec, const std::string& header, int threads = 1);
  void add_to_segments(const PosteriorBlock& block);
  void write_open_segment();
  void write_path(const SegmentList& path);
  void fill_array(std::int64_t rows);

  std::size_t num_labels_;
  int threads_;
  std::deque<OutputFile> files_;
  std::optional<BedWriter> bed_;
  std::optional<BedGraphWriter> boundary_;
  std::deque<BedGraphWriter> label_tracks_;
  std::optional<NpyWriter> label_array_;
  std::deque<BedWriter> draws_;
  std::deque<NpyWriter> arrays_;
  std::int64_t array_rows_ = 0;  // of the label array
  std::int64_t array_rows_done_ = 0;
  // The segment whose posteriors are being collected.
  std::optional<SegmentList::Reader> path_;
  std::optional<SpooledNumbers::Reader> log_shares_;
  Segment segment_;
  bool segment_open_ = false;
  SegmentSupport support_;
};

}  // namespace semicrf
