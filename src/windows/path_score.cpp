#include "windows/path_score.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/threads/parallel.h"

namespace semicrf {
namespace {

constexpr std::int64_t kPart = 4096;   // content sums restart at multiples of this, which keeps them short
constexpr std::int64_t kCell = 65536;  // and cells end there
constexpr std::int64_t kSlab = kCell;  // positions read at a time

}  // namespace

void PathScore::close_cell() {
  cell_.sum.add(cell_.content);
  sum_.add(cell_.sum);
  cell_ = Cell();
}

// The cell of a position, which is that of the last one or left of it.
PathScore::Cell& PathScore::cell_at(std::int64_t position) {
  const std::int64_t index = position / kCell;
  if (cell_.index != index) close_cell();
  cell_.index = index;
  return cell_;
}

// Positions of one cell.
inline void PathScore::add_content_to(Cell& cell, const CentredScores& scores, std::int64_t begin,
                                      std::int64_t end, int label) {
  scores.of_label(label, [&](const auto& score) {
    double content = cell.content;
    for (std::int64_t t = end - 1; t >= begin; --t) {
      content += score(t);
      if (t % kPart == 0) {
        cell.sum.add(content);
        content = 0;
      }
    }
    cell.content = content;
  });
}

inline double PathScore::chain_score(const Segment& segment, int right_label) const {
  double score = durations_.score(segment);
  if (right_label >= 0) score += model_->transition_at(segment.label, right_label);
  return score;
}

// No head scores what a cut hides.
inline double PathScore::start_score(const CentredScores& scores, std::int64_t position, int label) const {
  if (position > 0 || roles_ == nullptr || !roles_->cut().left) return scores.start(position, label);
  return model_->start_scores.empty() ? 0 : model_->start_scores[label];
}

inline double PathScore::end_score(const CentredScores& scores, std::int64_t position, int label) const {
  if (position + 1 < length_ || roles_ == nullptr || !roles_->cut().right) return scores.end(position, label);
  return model_->end_scores.empty() ? 0 : model_->end_scores[label];
}

void PathScore::add_content(const ScoreWindow& scores, std::int64_t begin, std::int64_t end, int label) {
  const CentredScores centred(*model_, scores);
  while (begin < end) {
    const std::int64_t first = std::max(begin, (end - 1) / kCell * kCell);
    add_content_to(cell_at(end - 1), centred, first, end, label);
    end = first;
  }
}

void PathScore::add_end(const ScoreWindow& scores, std::int64_t position, int label) {
  cell_at(position).content += end_score(CentredScores(*model_, scores), position, label);
}

void PathScore::add_start(const ScoreWindow& scores, std::int64_t position, int label) {
  cell_at(position).content += start_score(CentredScores(*model_, scores), position, label);
}

void PathScore::add_segment(const Segment& segment) {
  Cell& cell = cell_at(segment.begin);
  cell.sum.add(cell.content + chain_score(segment, right_label_));
  cell.content = 0;
  right_label_ = segment.label;
}

// What of the segments lies in [begin, end), a part of one cell. `right_label`: of the segment right of them.
void PathScore::add_part(Cell& into, const ScoreWindow& scores, std::span<const Segment> reversed,
                         int right_label, std::int64_t begin, std::int64_t end) const {
  const CentredScores centred(*model_, scores);
  Cell cell = into;
  const auto first = std::partition_point(reversed.begin(), reversed.end(),
                                          [&](const Segment& segment) { return segment.begin >= end; });
  if (first != reversed.begin()) right_label = (first - 1)->label;
  for (auto at = first; at != reversed.end() && at->end > begin; ++at) {
    if (at->end <= end) cell.content += end_score(centred, at->end - 1, at->label);
    add_content_to(cell, centred, std::max(begin, at->begin), std::min(end, at->end), at->label);
    if (at->begin >= begin) {
      cell.content += start_score(centred, at->begin, at->label);
      cell.sum.add(cell.content + chain_score(*at, right_label));
      cell.content = 0;
    }
    right_label = at->label;
  }
  into = cell;
}

std::vector<PathScore::Cell> PathScore::whole_cells(const ScoreWindow& scores,
                                                    std::span<const Segment> reversed, std::int64_t begin,
                                                    std::int64_t end, int threads) const {
  if (reversed.empty()) return {};
  const std::int64_t first = (std::max(begin, reversed.back().begin) + kCell - 1) / kCell;
  const std::int64_t last = std::min(end, reversed.front().begin) / kCell;
  std::vector<Cell> cells(std::max<std::int64_t>(0, last - first));
  parallel_for(threads, cells.size(), [&](std::size_t i, int) {
    cells[i].index = last - 1 - static_cast<std::int64_t>(i);
    add_part(cells[i], scores, reversed, -1, cells[i].index * kCell, (cells[i].index + 1) * kCell);
  });
  return cells;
}

void PathScore::add_segments(const ScoreWindow& scores, std::span<const Segment> reversed, int threads,
                             std::span<const Cell> known) {
  if (reversed.empty()) return;
  const std::int64_t begin = reversed.back().begin;
  const std::int64_t end = reversed.front().end;
  // Whole cells are independent; the others continue what is there, or are continued.
  const std::int64_t first_whole = (begin + kCell - 1) / kCell;
  const std::int64_t last_whole = end / kCell;
  std::vector<Cell> cells(std::max<std::int64_t>(0, last_whole - first_whole));
  parallel_for(threads, cells.size(), [&](std::size_t i, int) {
    const std::int64_t index = first_whole + static_cast<std::int64_t>(i);
    const auto found = std::lower_bound(known.begin(), known.end(), index,
                                        [](const Cell& cell, std::int64_t at) { return cell.index > at; });
    if (found != known.end() && found->index == index) {
      cells[i] = *found;
      return;
    }
    cells[i].index = index;
    add_part(cells[i], scores, reversed, right_label_, index * kCell, (index + 1) * kCell);
  });
  for (std::int64_t right = end; right > begin;) {
    const std::int64_t index = (right - 1) / kCell;
    const std::int64_t left = std::max(begin, index * kCell);
    if (index >= first_whole && index < last_whole) {
      close_cell();
      cell_ = cells[index - first_whole];
    } else {
      add_part(cell_at(right - 1), scores, reversed, right_label_, left, right);
    }
    right = left;
  }
  right_label_ = reversed.back().label;
}

double PathScore::finish() {
  close_cell();
  if (durations_.has_initial_term()) sum_.add(transitions_into(*model_, right_label_).largest);
  return sum_.value();
}

double path_score(const ChainModel& model, ScoreSource& source, std::span<const Segment> path) {
  PathScore score(model, source.length());
  ScoreBuffers buffers;
  std::int64_t unscored_end = source.length();
  auto segment = path.rbegin();
  while (unscored_end > 0) {
    const std::int64_t begin = (unscored_end - 1) / kSlab * kSlab;
    const ScoreWindow window = source.read(begin, unscored_end, buffers);
    while (unscored_end > begin) {
      if (unscored_end == segment->end) score.add_end(window, segment->end - 1, segment->label);
      const std::int64_t from = std::max(segment->begin, begin);
      score.add_content(window, from, unscored_end, segment->label);
      unscored_end = from;
      if (from > segment->begin) break;  // it goes on in the next slab
      score.add_start(window, from, segment->label);
      score.add_segment(*segment++);
    }
  }
  return score.finish();
}

}  // namespace semicrf
