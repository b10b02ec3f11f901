#include "cpu/viterbi_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "cpu/score_view.h"

namespace semicrf::cpu {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

// Sums of the slots [first, last) of a block with their duration scores (bias[slot]); the last of the
// largest, that is the shortest duration among equals.
template <class Number>
int best_slot(const Number* starts, const double* bias, int first, int last, double* score) {
  std::array<double, kBlock> sums;
  double largest = kNegativeInfinity;
  for (int slot = first; slot < last; ++slot) {
    sums[size(slot)] = static_cast<double>(starts[slot]) + bias[slot];
    largest = std::max(largest, sums[size(slot)]);
  }
  *score = largest;
  int slot = last - 1;
  while (slot > first && sums[size(slot)] != largest) --slot;
  return slot;
}

}  // namespace

CpuViterbiMessages::CpuViterbiMessages(const ChainModel& model, const ScoreWindow& scores,
                                       PositionRange range, const BoundaryState* left,
                                       std::int64_t chunk_size, std::vector<ViterbiChunk> chunks)
    : model_(model), scores_(scores), range_(range), chunk_size_(chunk_size), chunks_(std::move(chunks)) {
  if (left != nullptr) left_ = *left;
  const auto labels = static_cast<std::size_t>(model.num_labels);
  const auto longest = static_cast<std::size_t>(model.max_duration);
  reversed_bias_.resize(labels * longest);
  into_.resize(labels * labels);
  for (std::size_t c = 0; c < labels; ++c) {
    for (std::size_t k = 1; k <= longest; ++k)
      reversed_bias_[c * longest + longest - k] = model.duration_bias[(k - 1) * labels + c];
    for (std::size_t from = 0; from < labels; ++from)
      into_[c * labels + from] = model.transition[from * labels + c];
  }
  if (!scores.subtract_position_max) return;
  position_max_.resize(size(range.size()), 0.0);
  for (std::int64_t t = range.begin; t < range.end; ++t) {
    double largest = kNegativeInfinity;
    for (std::size_t c = 0; c < labels; ++c)
      largest = std::max(largest, scores.emissions.at(size(t - scores.begin) * labels + c));
    if (largest != kNegativeInfinity) position_max_[size(t - range.begin)] = largest;
  }
}

CpuViterbiMessages::Place CpuViterbiMessages::place(std::int64_t position) const {
  const ViterbiChunk& chunk = chunks_[size((position - range_.begin) / chunk_size_)];
  const std::int64_t inside = position - chunk.begin;
  return {&chunk, &chunk.blocks[size(inside / kBlock)], position - inside % kBlock};
}

double CpuViterbiMessages::number(const Place& at, std::size_t index) const {
  const std::size_t i = at.block->values + index;
  return at.block->wide ? at.chunk->doubles[i] : static_cast<double>(at.chunk->floats[i]);
}

// The value at `index` of a block on the scale of `origin`, which lies near, so that no digits are lost to
// the length of the sequence. scale: 1 alpha's and tail's, 2 starts'.
double CpuViterbiMessages::scaled(const Place& at, std::size_t index, std::size_t scale, int label,
                                  const Origin& origin) const {
  const double shift =
      ((at.chunk->whole + at.block->base) - origin.whole) + (at.chunk->offset - origin.offset);
  const double value = number(at, index) + shift;
  if (at.block->exact) return value;
  return value + at.chunk->doubles[at.block->doubles + scale * static_cast<std::size_t>(model_.num_labels) +
                                   static_cast<std::size_t>(label)];
}

CpuViterbiMessages::Origin CpuViterbiMessages::origin_at(std::int64_t boundary) const {
  if (boundary == range_.begin) return left_ ? Origin{left_->whole, left_->offset} : Origin{};
  const Place at = place(boundary - 1);
  return {at.chunk->whole + at.block->base, at.chunk->offset};
}

double CpuViterbiMessages::left_shift(const Origin& origin) const {
  return (left_->whole - origin.whole) + (left_->offset - origin.offset);
}

double CpuViterbiMessages::alpha(std::int64_t boundary, int label, const Origin& origin) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  if (boundary == range_.begin) return left_ ? left_->message[c] + left_shift(origin) : 0.0;
  const Place at = place(boundary - 1);
  return scaled(at, size(boundary - 1 - at.begin) * labels + c, 1, label, origin);
}

// The tail's share of alpha without the end score, content summed up to the boundary.
double CpuViterbiMessages::tail(std::int64_t boundary, int label, const Origin& origin) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  if (boundary == range_.begin) return left_ ? left_->tail[c] + left_shift(origin) : kNegativeInfinity;
  const Place at = place(boundary - 1);
  const double share =
      scaled(at, (2 * kBlock + size(boundary - 1 - at.begin)) * labels + c, 1, label, origin);
  return at.block->exact ? share : share + content_sum(at.begin, boundary, label);
}

// Centred emission without the position's shift.
double CpuViterbiMessages::content(const Place& at, std::int64_t position, int label) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  double score = scores_.emissions.at(size(position - scores_.begin) * labels + c);
  if (!position_max_.empty()) score -= position_max_[size(position - range_.begin)];
  if (!scores_.baseline.empty()) score -= scores_.baseline[c];
  if (at.block->shifted) {
    score -=
        at.chunk->doubles[at.block->doubles + (at.block->exact ? 1 : 3) * labels + size(position - at.begin)];
  }
  return score;
}

double CpuViterbiMessages::content_sum(std::int64_t begin, std::int64_t end, int label) const {
  double sum = 0;
  while (begin < end) {
    const Place at = place(begin);
    const std::int64_t stop = std::min(end, at.begin + kBlock);
    if (begin == at.begin && stop == at.begin + kBlock) {
      sum += at.chunk->doubles[at.block->doubles + static_cast<std::size_t>(label)];
    } else {
      for (std::int64_t t = begin; t < stop; ++t) sum += content(at, t, label);
    }
    begin = stop;
  }
  return sum;
}

// Everything before a segment that starts at `boundary`, with its start score and, left of the window, its
// content up to the window's edge.
double CpuViterbiMessages::started(std::int64_t boundary, int label, const Origin& origin) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  if (boundary < range_.begin)
    return left_->ring[size(range_.begin - boundary - 1) * labels + c] + left_shift(origin);
  const Place at = place(boundary);
  const double value = scaled(at, kBlock * labels + c * kBlock + size(boundary - at.begin), 2, label, origin);
  return at.block->exact ? value : value + content_sum(at.begin, boundary, label);
}

void CpuViterbiMessages::trace(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  bool moved = true;
  while (moved) {
    switch (cursor.phase) {
      case TraceCursor::Phase::kFindStart:
        moved = find_start(cursor, reversed);
        break;
      case TraceCursor::Phase::kInTail:
        moved = follow_tail(cursor, reversed);
        break;
      case TraceCursor::Phase::kFindSource:
        moved = find_source(cursor);
        break;
      case TraceCursor::Phase::kDone:
        moved = false;
        break;
    }
  }
}

void CpuViterbiMessages::close_segment(TraceCursor& cursor, std::int64_t begin, std::int64_t end,
                                       std::vector<Segment>& reversed) const {
  reversed.push_back({begin, end, cursor.label});
  cursor.boundary = begin;
  cursor.phase = begin == 0 ? TraceCursor::Phase::kDone : TraceCursor::Phase::kFindSource;
}

// Starts in one block of a segment that ends at `end`. content_after: from the block's last boundary to
// `end`, or when `end` lies in the block from its first boundary to `end`.
void CpuViterbiMessages::scan_block(const Place& at, std::int64_t end, int label, double content_after,
                                    const Origin& origin, Best& best) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  const int last = static_cast<int>(std::min<std::int64_t>(kBlock, end - at.begin));
  const int first = static_cast<int>(std::max<std::int64_t>(0, end - model_.max_duration - at.begin));
  const std::size_t index = at.block->values + kBlock * labels + c * kBlock;
  // Entry K - k of the reversed scores belongs to start end - k: slot + (at.begin - end) + K.
  const double* bias = reversed_bias_.data() + c * static_cast<std::size_t>(model_.max_duration) +
                       (at.begin - end + model_.max_duration);
  double score = 0;
  int slot = 0;
  double shift = ((at.chunk->whole + at.block->base) - origin.whole) + (at.chunk->offset - origin.offset);
  if (at.block->exact) {
    // Every start with its own content, so that huge scores that do not concern a segment do not touch it.
    std::array<double, kBlock> starts;
    double content_here = end <= at.begin + kBlock ? 0.0 : content_after;
    for (int s = last - 1; s >= first; --s) {
      content_here += content(at, at.begin + s, label);
      starts[size(s)] = at.chunk->doubles[index + size(s)] + content_here;
    }
    slot = best_slot(starts.data(), bias, first, last, &score);
  } else {
    const double* scales = at.chunk->doubles.data() + at.block->doubles;
    slot = at.block->wide ? best_slot(at.chunk->doubles.data() + index, bias, first, last, &score)
                          : best_slot(at.chunk->floats.data() + index, bias, first, last, &score);
    shift += scales[2 * labels + c] + content_after;
    if (end > at.begin + kBlock) shift += scales[c];
  }
  score += shift;
  if (score > best.score) best = {score, end - (at.begin + slot)};
}

void CpuViterbiMessages::scan_left_state(std::int64_t end, int label, double content_after,
                                         const Origin& origin, Best& best) const {
  const std::int64_t longest = std::min<std::int64_t>(model_.max_duration, end);
  for (std::int64_t k = end - range_.begin + 1; k <= longest; ++k) {
    const double score = started(end - k, label, origin) + content_after + model_.duration_score(k, label);
    if (score > best.score) best = {score, k};
  }
}

bool CpuViterbiMessages::find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  const std::int64_t end = cursor.boundary;
  if (end <= range_.begin) return false;
  const Origin origin = origin_at(end);
  const std::int64_t leftmost = std::max(range_.begin, end - model_.max_duration);
  Best best;
  Place at = place(end - 1);
  double content_after = 0;
  if (at.block->exact) {
    scan_block(at, end, cursor.label, 0, origin, best);
    for (std::int64_t t = at.begin; t < end; ++t) content_after += content(at, t, cursor.label);
  } else {
    for (std::int64_t t = at.begin; t < end; ++t) content_after += content(at, t, cursor.label);
    scan_block(at, end, cursor.label, content_after, origin, best);
  }
  while (at.begin > leftmost) {
    at = place(at.begin - 1);
    scan_block(at, end, cursor.label, content_after, origin, best);
    content_after += at.chunk->doubles[at.block->doubles + static_cast<std::size_t>(cursor.label)];
  }
  if (end - model_.max_duration < range_.begin && left_)
    scan_left_state(end, cursor.label, content_after, origin, best);
  if (model_.has_tail() && tail(end, cursor.label, origin) > best.score) {
    cursor.phase = TraceCursor::Phase::kInTail;
    cursor.segment_end = end;
    return true;
  }
  close_segment(cursor, end - best.duration, end, reversed);
  return true;
}

bool CpuViterbiMessages::follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  const std::int64_t longest = model_.max_duration;
  const double last_bias = model_.duration_score(longest, cursor.label);
  for (; cursor.boundary > range_.begin; --cursor.boundary) {
    const std::int64_t before = cursor.boundary - 1;
    const std::int64_t begin = before - longest;
    if (begin < 0) throw std::logic_error("the tail of a segment reached the start of the sequence");
    const Origin origin = origin_at(before);
    const double sum = content_sum(std::max(begin, range_.begin), before, cursor.label);
    if (started(begin, cursor.label, origin) + sum + last_bias >= tail(before, cursor.label, origin)) {
      close_segment(cursor, begin, cursor.segment_end, reversed);
      return true;
    }
  }
  return false;
}

bool CpuViterbiMessages::find_source(TraceCursor& cursor) const {
  if (cursor.boundary < range_.begin) return false;
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const Origin origin = origin_at(cursor.boundary);
  const double* into = into_.data() + static_cast<std::size_t>(cursor.label) * labels;
  double best = kNegativeInfinity;
  int best_label = 0;
  for (int from = 0; from < model_.num_labels; ++from) {
    const double score = alpha(cursor.boundary, from, origin) + into[from];
    if (score > best) {
      best = score;
      best_label = from;
    }
  }
  cursor.label = best_label;
  cursor.phase = TraceCursor::Phase::kFindStart;
  return cursor.boundary > range_.begin;
}

}  // namespace semicrf::cpu
