#include "pipeline/outputs/run_outputs.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <string>
#include <vector>

#include "core/parallel.h"
#include "pipeline/run/turns.h"

namespace semicrf {

std::vector<OutputSpec> output_specs(const OutputPlan& plan) {
  std::vector<OutputSpec> specs = plan.label_tracks;
  for (const OutputSpec* spec : {&plan.label_array, &plan.boundary, &plan.segments})
    if (!spec->path.empty()) specs.insert(specs.begin(), *spec);
  for (const DrawOutput& draw : plan.draws) specs.push_back(draw.file);
  for (const GeneratedOutput& array : plan.generated) specs.push_back(array.file);
  return specs;
}

RunOutputs::RunOutputs(const OutputPlan& plan, const std::vector<Label>& labels)
    : num_labels_(labels.size()), threads_(plan.threads), array_rows_(plan.label_array_rows) {
  if (!plan.segments.path.empty()) bed_.emplace(open(plan.segments, plan.header, threads_), labels, plan.bed);
  for (const DrawOutput& draw : plan.draws)
    draws_.emplace_back(open(draw.file, draw.header), labels, plan.bed);
  if (!plan.boundary.path.empty())
    boundary_.emplace(open(plan.boundary, plan.header, threads_), plan.bedgraph);
  for (const OutputSpec& spec : plan.label_tracks)
    label_tracks_.emplace_back(open(spec, plan.header), plan.bedgraph);
  if (!plan.label_array.path.empty())
    label_array_.emplace(
        open(plan.label_array, ""),
        NpyShape{plan.label_array_rows, static_cast<std::int64_t>(num_labels_), plan.label_array_double});
}

// `threads` that compress.
OutputFile& RunOutputs::open(const OutputSpec& spec, const std::string& header, int threads) {
  constexpr std::size_t kMostBlocks = 64;
  OutputFile& file = files_.emplace_back(spec);
  if (threads > 1) {
    const auto compress = [threads](std::size_t count, const std::function<void(std::size_t)>& body) {
      parallel_for(threads, count, [&](std::size_t i, int) { body(i); });
    };
    file.set_for_each(compress, std::min(kMostBlocks, 2 * static_cast<std::size_t>(threads)));
  }
  file.write(header);
  return file;
}

void RunOutputs::begin_piece(const BinLocation& location, const PathView& path, bool with_posteriors) {
  if (bed_) bed_->begin_piece(location);
  if (boundary_) boundary_->begin_piece(location);
  for (BedGraphWriter& track : label_tracks_) track.begin_piece(location);
  if (label_array_) fill_array(location.first_bin - array_rows_done_);
  path_.reset();
  segment_open_ = false;
  if (!bed_) return;
  path_.emplace(*path.segments);
  log_shares_.reset();
  if (path.log_shares != nullptr) log_shares_.emplace(*path.log_shares);
  if (!with_posteriors) write_path(*path.segments);
}

// A path without posteriors, in parts that threads print at the same time and one more writes.
void RunOutputs::write_path(const SegmentList& path) {
  constexpr std::int64_t kPart = 1 << 12;  // segments
  if (bed_->options().merge_adjacent || threads_ == 1 || path.size() < 2 * kPart) {
    for (Segment segment; path_->next(segment);) bed_->add(segment, nullptr);
    return;
  }
  Turns turns(2 * static_cast<std::size_t>(threads_));
  auto writing = std::async(std::launch::async, [&] { turns.work_off(); });
  const auto print = [&](std::size_t part, int) {
    const auto begin = static_cast<std::int64_t>(part) * kPart;
    const std::int64_t count = std::min(kPart, path.size() - begin);
    SegmentList::Reader reader(path, begin);
    std::string lines;
    Segment segment;
    for (std::int64_t n = 0; n < count && reader.next(segment); ++n)
      bed_->append_line(segment, SegmentSupport{}, lines);
    turns.submit(static_cast<std::int64_t>(part),
                 [this, lines = std::move(lines), count] { bed_->add_lines(lines, count); });
  };
  try {
    parallel_for(threads_, static_cast<std::size_t>((path.size() + kPart - 1) / kPart), print);
  } catch (const Turns::Cancelled&) {
    // The thread that writes has the error.
  } catch (...) {
    turns.close();
    throw;
  }
  turns.close();
  writing.get();
}

void RunOutputs::add_block(const PosteriorBlock& block) {
  if (boundary_) boundary_->add(block.boundary.data(), block.boundary.size());
  std::size_t label = 0;
  for (BedGraphWriter& track : label_tracks_)
    track.add(block.labels.data() + label++, static_cast<std::size_t>(block.range.size()), num_labels_);
  if (label_array_) {
    label_array_->append(block.labels);
    array_rows_done_ += block.range.size();
  }
  if (bed_) add_to_segments(block);
}

// Means are taken position by position from the left, so that blocks do not change a digit.
void RunOutputs::add_to_segments(const PosteriorBlock& block) {
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

void RunOutputs::write_open_segment() {
  support_.mean_label_posterior =
      std::min(1.0, support_.mean_label_posterior / static_cast<double>(segment_.end - segment_.begin));
  if (double log_share = 0; log_shares_ && log_shares_->next(log_share))
    support_.exact_posterior =
        std::min(support_.start_posterior, support_.end_posterior * std::exp(log_share));
  bed_->add(segment_, &support_);
  segment_open_ = false;
}

void RunOutputs::write_draws(const BinLocation& location, const std::vector<Draw>& draws) {
  for (std::size_t i = 0; i < draws_.size(); ++i) {
    draws_[i].begin_piece(location);
    SegmentList::Reader reader(draws[i].segments);
    for (Segment segment; reader.next(segment);) draws_[i].add(segment, nullptr);
    draws_[i].end_piece();
  }
}

NpyWriter& RunOutputs::add_array(const OutputSpec& spec, const NpyShape& shape) {
  return arrays_.emplace_back(open(spec, ""), shape);
}

void RunOutputs::end_piece() {
  if (bed_) bed_->end_piece();
  if (boundary_) boundary_->end_piece();
  for (BedGraphWriter& track : label_tracks_) track.end_piece();
}

// Bins outside the pieces have no posterior.
void RunOutputs::fill_array(std::int64_t rows) {
  const std::vector<double> row(num_labels_, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < rows; ++i) label_array_->append(row);
  array_rows_done_ += rows;
}

void RunOutputs::finish() {
  if (label_array_) {
    fill_array(array_rows_ - array_rows_done_);
    label_array_->finish();
  }
  for (NpyWriter& array : arrays_) array.finish();
  for (OutputFile& file : files_) file.finish();
}

void RunOutputs::commit() {
  for (OutputFile& file : files_) file.commit();
}

}  // namespace semicrf
