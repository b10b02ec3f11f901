#include "train/data/training_data.h"

namespace semicrf {
namespace {

// Segments [first, last) of a piece.
TrainingPiece part_of(const TrainingPiece& piece, std::size_t first, std::size_t last, std::size_t tracks) {
  TrainingPiece part;
  const std::int64_t begin = piece.segments[first].begin;
  const std::int64_t end = piece.segments[last - 1].end;
  part.location = piece.location;
  part.sample = piece.sample;
  part.location.first_bin += begin;
  part.length = end - begin;
  part.cut = {piece.cut.left && begin == 0, piece.cut.right && end == piece.length};
  part.feature_mean = piece.feature_mean;
  part.features.assign(piece.features.begin() + begin * static_cast<std::int64_t>(tracks),
                       piece.features.begin() + end * static_cast<std::int64_t>(tracks));
  for (std::size_t i = first; i < last; ++i) {
    const Segment& segment = piece.segments[i];
    part.segments.push_back({segment.begin - begin, segment.end - begin, segment.label});
    part.lines.push_back(piece.lines[i]);
  }
  return part;
}

}  // namespace

PathCounts count_paths(const TrainingData& data) {
  const auto labels = static_cast<std::size_t>(data.num_labels);
  PathCounts counts;
  for (auto* list : {&counts.positions, &counts.segments, &counts.firsts, &counts.lasts})
    list->assign(labels, 0.0);
  counts.transition.assign(labels * labels, 0.0);
  counts.durations.resize(labels);
  for (const TrainingPiece& piece : data.pieces) {
    int before = -1;
    for (const Segment& segment : piece.segments) {
      const auto c = static_cast<std::size_t>(segment.label);
      counts.positions[c] += static_cast<double>(segment.end - segment.begin);
      counts.segments[c] += 1;
      counts.durations[c].push_back(segment.end - segment.begin);
      if (before >= 0) counts.transition[static_cast<std::size_t>(before) * labels + c] += 1;
      before = segment.label;
    }
    counts.firsts[static_cast<std::size_t>(piece.segments.front().label)] += 1;
    counts.lasts[static_cast<std::size_t>(piece.segments.back().label)] += 1;
  }
  return counts;
}

void split_into_single_bins(TrainingData& data) {
  for (TrainingPiece& piece : data.pieces) {
    std::vector<Segment> bins;
    std::vector<std::int64_t> lines;
    for (std::size_t i = 0; i < piece.segments.size(); ++i) {
      const Segment& segment = piece.segments[i];
      for (std::int64_t t = segment.begin; t < segment.end; ++t) {
        bins.push_back({t, t + 1, segment.label});
        lines.push_back(piece.lines[i]);
      }
    }
    piece.segments = std::move(bins);
    piece.lines = std::move(lines);
  }
}

TrainingData cut_into_windows(const TrainingData& data, std::int64_t length) {
  TrainingData windows;
  windows.num_labels = data.num_labels;
  windows.num_tracks = data.num_tracks;
  for (const TrainingPiece& piece : data.pieces) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < piece.segments.size(); ++i) {
      const bool full = piece.segments[i].end - piece.segments[first].begin >= length;
      if (!full && i + 1 < piece.segments.size()) continue;
      windows.pieces.push_back(part_of(piece, first, i + 1, static_cast<std::size_t>(data.num_tracks)));
      first = i + 1;
    }
  }
  return windows;
}

}  // namespace semicrf
