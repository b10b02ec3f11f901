#include "train/data/training_data.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace semicrf {

namespace {

constexpr std::int64_t kLonger = 4;  // positions for every pattern, at least

// Numbers the rows as they come.
class PatternNumbers {
 public:
  explicit PatternNumbers(std::size_t columns) : columns_(columns), bytes_(columns * sizeof(float)) {}

  // False: there are too many.
  bool add(const TrainingPiece& piece, std::vector<std::uint16_t>& numbers) {
    numbers.resize(piece.length);
    const float* before = nullptr;
    for (std::size_t t = 0; t < numbers.size(); ++t) {
      const float* row = piece.features.data() + t * columns_;
      if (before != nullptr && std::memcmp(before, row, bytes_) == 0) {
        numbers[t] = numbers[t - 1];
      } else {
        const auto next = static_cast<std::uint16_t>(found_.size());
        const auto [at, is_new] =
            found_.try_emplace(std::string_view(reinterpret_cast<const char*>(row), bytes_), next);
        if (is_new) rows_.insert(rows_.end(), row, row + columns_);
        if (std::ssize(found_) > kMostPatterns) return false;
        numbers[t] = at->second;
      }
      before = row;
    }
    return true;
  }
  FeaturePatterns patterns() && { return {std::move(rows_), std::ssize(found_)}; }

 private:
  std::size_t columns_, bytes_;
  std::unordered_map<std::string_view, std::uint16_t> found_;  // bits of rows, which the pieces hold
  std::vector<float> rows_;
};

}  // namespace

void find_patterns(TrainingData& data) {
  PatternNumbers numbers(data.num_tracks);
  bool are_few = data.num_tracks > 0;
  for (TrainingPiece& piece : data.pieces) are_few = are_few && numbers.add(piece, piece.pattern_of);
  std::shared_ptr<const FeaturePatterns> patterns;
  if (are_few) patterns = std::make_shared<const FeaturePatterns>(std::move(numbers).patterns());
  if (patterns && patterns->count * kLonger > data.positions()) patterns = nullptr;
  for (TrainingPiece& piece : data.pieces) {
    piece.patterns = patterns;
    if (!patterns) piece.pattern_of = {};
  }
}

namespace {

bool touch(const Segment& left, const Segment& right) { return left.end == right.begin; }

// Rows [begin, end) of those of a whole piece; nothing of nothing.
template <class Number>
std::vector<Number> part_of(const std::vector<Number>& rows, const TrainingPiece& piece, std::int64_t begin,
                            std::int64_t end) {
  const std::int64_t columns = std::ssize(rows) / piece.length;
  return {rows.begin() + begin * columns, rows.begin() + end * columns};
}

// Where the known segments end for sure, from left to right; the piece's end is the last.
std::vector<std::int64_t> known_boundaries(const TrainingPiece& piece) {
  std::vector<std::int64_t> found;
  if (piece.evidence.empty()) {
    for (const Segment& segment : piece.segments) found.push_back(segment.end);
    return found;
  }
  for (std::size_t i = 1; i < piece.evidence.size(); ++i) {
    const LabelEvidence &left = piece.evidence[i - 1], &right = piece.evidence[i];
    const bool both_known = left.labels.size() == 1 && right.labels.size() == 1;
    if (both_known && left.one_segment && right.one_segment) found.push_back(right.begin);
  }
  found.push_back(piece.length);
  return found;
}

}  // namespace

PathCounts count_paths(const TrainingData& data) {
  const std::size_t labels = data.num_labels;
  PathCounts counts;
  for (auto* list : {&counts.positions, &counts.segments}) list->assign(labels, 0.0);
  counts.transition.assign(labels * labels, 0.0);
  counts.durations.resize(labels);
  for (const TrainingPiece& piece : data.pieces) {
    const Segment* before = nullptr;
    for (const Segment& segment : piece.segments) {
      const std::size_t c = segment.label;
      counts.positions[c] += static_cast<double>(segment.end - segment.begin);
      counts.segments[c] += 1;
      counts.durations[c].push_back(segment.end - segment.begin);
      if (before != nullptr && touch(*before, segment)) counts.transition[before->label * labels + c] += 1;
      before = &segment;
    }
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
    for (LabelEvidence& one : piece.evidence) one.one_segment = false;
  }
}

TrainingPiece part_of(const TrainingPiece& piece, std::int64_t begin, std::int64_t end) {
  TrainingPiece part;
  part.location = piece.location;
  part.sample = piece.sample;
  part.location.first_bin += begin;
  part.length = end - begin;
  part.cut = {piece.cut.left && begin == 0, piece.cut.right && end == piece.length};
  part.feature_mean = piece.feature_mean;
  part.features = part_of(piece.features, piece, begin, end);
  part.patterns = piece.patterns;
  part.pattern_of = part_of(piece.pattern_of, piece, begin, end);
  part.start_scores = part_of(piece.start_scores, piece, begin, end);
  part.end_scores = part_of(piece.end_scores, piece, begin, end);
  auto segment = std::ranges::lower_bound(piece.segments, begin, {}, &Segment::begin);
  for (; segment != piece.segments.end() && segment->begin < end; ++segment) {
    part.segments.push_back({segment->begin - begin, segment->end - begin, segment->label});
    part.lines.push_back(piece.lines[segment - piece.segments.begin()]);
  }
  auto known = std::ranges::lower_bound(piece.evidence, begin, {}, &LabelEvidence::begin);
  for (; known != piece.evidence.end() && known->begin < end; ++known) {
    LabelEvidence& one = part.evidence.emplace_back(*known);
    one.begin -= begin;
    one.end -= begin;
  }
  const bool settled = std::ranges::all_of(
      part.evidence, [](const LabelEvidence& one) { return one.one_segment && one.labels.size() == 1; });
  if (settled) part.evidence.clear();
  return part;
}

TrainingData cut_into_windows(const TrainingData& data, std::int64_t length) {
  TrainingData windows;
  windows.num_labels = data.num_labels;
  windows.num_tracks = data.num_tracks;
  windows.absence_of = data.absence_of;
  windows.indicator_of = data.indicator_of;
  for (const TrainingPiece& piece : data.pieces) {
    std::int64_t first = 0;
    for (const std::int64_t end : known_boundaries(piece)) {
      if (end - first < length && end < piece.length) continue;
      windows.pieces.push_back(part_of(piece, first, end));
      first = end;
    }
  }
  return windows;
}

}  // namespace semicrf
