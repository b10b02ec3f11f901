#include "outputs/formats.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_sampler.h"
#include "core/error.h"
#include "io/bigwig/bbi_file.h"
#include "io/files/output_names.h"

namespace semicrf {

namespace {

// The format of files whose names have this ending, before that of the compression; the first that fits
// counts, "" fits every name.
template <class Output>
struct Format {
  std::string_view ending;
  std::unique_ptr<OutputSink> (*open)(OutputFile&, const Output&);
  bool comments = true;  // the header's; binary formats have no place for it, others have lines of their own
  SegmentFormat kind = SegmentFormat::kBed;
};

constexpr auto kSegmentFormats = std::to_array<Format<SegmentOutput>>({
    {".bb", make_bigbed_sink, false, SegmentFormat::kBigBed},
    {".bigbed", make_bigbed_sink, false, SegmentFormat::kBigBed},
    {".narrowpeak", make_narrow_peak_sink, true, SegmentFormat::kNarrowPeak},
    {".seg", make_seg_sink, false, SegmentFormat::kSeg},
    {".cns", make_cns_sink, false, SegmentFormat::kCns},
    {".vcf", make_vcf_sink, false, SegmentFormat::kVcf},
    {".textgrid", make_textgrid_sink, false, SegmentFormat::kTextGrid},
    {"", make_bed_sink},
});
constexpr auto kTrackFormats = std::to_array<Format<TrackOutput>>(
    {{".bw", make_bigwig_sink, false}, {".bigwig", make_bigwig_sink, false}, {"", make_bedgraph_sink}});

template <class Formats>
const auto& format_in(const Formats& formats, std::string_view path) {
  return *std::ranges::find_if(
      formats, [&](const auto& one) { return has_ending(without_compression(path), {one.ending}); });
}

template <class Output, std::size_t kFormats>
PlannedOutput planned(const Output& output, const std::array<Format<Output>, kFormats>& formats) {
  const Format<Output>& format = format_in(formats, output.file.path);
  PlannedOutput result{output.file, format.comments ? output.header : "", output.threads,
                       [open = format.open, output](OutputFile& file) { return open(file, output); }};
  if (is_indexed_name(output.file.path))
    result.kept = output.chromosomes.size() * BbiFile::kBytesPerChromosome;
  return result;
}

}  // namespace

SegmentFormat segment_format(std::string_view path) { return format_in(kSegmentFormats, path).kind; }

PlannedOutput segment_output(const SegmentOutput& output) {
  PlannedOutput result = planned(output, kSegmentFormats);
  if (output.signal != nullptr) result.kept += output.signal->kept_bytes();
  result.one_of_many = output.rank || (output.draw && is_bigbed_name(output.file.path));
  return result;
}

PlannedOutput track_output(const TrackOutput& output) {
  PlannedOutput result = planned(output, kTrackFormats);
  result.one_of_many = output.one_of_many();
  return result;
}

std::vector<std::string> leave_out_indexes(OutputPlan& plan) {
  const auto has_index = [](const PlannedOutput& output) {
    const OutputSpec& file = output.file;
    return is_indexed_name(file.path) || (file.index != IndexKind::kNone && is_compressed_name(file.path));
  };
  std::vector<std::string> without;
  if (std::ranges::none_of(plan, has_index)) return without;
  for (PlannedOutput& output : plan) {
    if (output.file.index == IndexKind::kNone || has_index(output)) continue;
    output.file.index = IndexKind::kNone;
    without.push_back(output_display_name(output.file.path));
  }
  return without;
}

PlannedOutput text_output(const std::string& path, const std::string& text) {
  return {{path, IndexKind::kNone}, text, 1, [](OutputFile&) { return std::make_unique<OutputSink>(); }};
}

PlannedOutput label_array_output(const OutputSpec& file, const NpyShape& shape, PosteriorValues values) {
  return {file, "", 1,
          [shape, values](OutputFile& opened) { return make_label_array_sink(opened, shape, values); }};
}

PlannedOutput label_archive_output(const OutputSpec& file, const std::vector<NamedShape>& shapes,
                                   PosteriorValues values) {
  PlannedOutput result{file, "", 1, [shapes, values](OutputFile& opened) {
                         return make_label_archive_sink(opened, shapes, values);
                       }};
  for (const NamedShape& one : shapes)
    result.kept = std::max(result.kept, static_cast<std::size_t>(one.shape.rows * one.shape.columns) *
                                            (sizeof(double) + (one.shape.float64 ? 8 : 4)));
  return result;
}

PlannedOutput counts_output(const OutputSpec& file, const ChainModel& model) {
  return {file, "", 1, [model](OutputFile& opened) { return make_counts_sink(opened, model); }};
}

PlannedOutput generated_output(const OutputSpec& file, const RandomRows& rows) {
  return {file, "", 1, [rows](OutputFile& opened) { return make_generated_sink(opened, rows); }};
}

void SegmentSink::begin_piece(const BinLocation& location, const PieceResult& result,
                              bool posteriors_follow) {
  is_about_piece_ = !sequence_ || location.chromosome == *sequence_;
  if (!is_about_piece_) return;
  begin_segments(location);
  if (rank_) return add_rank(result);
  const SegmentList& path = draw_ ? result.get<DrawResult>().draws[*draw_].segments : result.path();
  if (!posteriors_follow) return add_path(path);
  support_.begin_piece(result);
}

void SegmentSink::add_block(const PosteriorBlock& block) {
  if (rank_ || !is_about_piece_) return;
  support_.add_block(
      block, [this](const Segment& segment, const SegmentPosteriors& known) { add_wanted(segment, &known); });
}

// Without posteriors. A piece may have fewer segmentations.
void SegmentSink::add_rank(const PieceResult& result) {
  const auto& best = result.get<BestPaths>();
  if (*rank_ >= best.ranks.size()) return;
  has_rank_ = true;
  if (*rank_ == 0) return add_path(result.path());
  add_path(best.segments(*rank_, result.path()));
}

void SegmentSink::add_path(const SegmentList& path) {
  SegmentList::Reader reader(path);
  for (Segment segment; reader.next(segment);) add_wanted(segment, nullptr);
}

}  // namespace semicrf
