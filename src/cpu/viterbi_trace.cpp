#include "cpu/viterbi_trace.h"

#include <algorithm>
#include <cmath>

#include "cpu/score_view.h"

namespace semicrf::cpu {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace

CpuViterbiMessages::CpuViterbiMessages(const ChainModel& model, const ScoreWindow& scores,
                                       PositionRange range, const BoundaryState* left,
                                       std::int64_t chunk_size, std::vector<ViterbiChunk> chunks)
    : model_(model), scores_(scores), range_(range), chunk_size_(chunk_size), chunks_(std::move(chunks)) {
  if (left != nullptr) left_ = *left;
  const auto labels = static_cast<std::size_t>(model.num_labels);
  const auto longest = static_cast<std::size_t>(model.max_duration);
  bias_.resize(labels * longest);
  for (std::size_t k = 0; k < longest; ++k) {
    for (std::size_t c = 0; c < labels; ++c) bias_[c * longest + k] = model.duration_bias[k * labels + c];
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
  return {&chunk, &chunk.blocks[size(inside / kBlock)], size(inside % kBlock), position - inside % kBlock};
}

// array: 0 alpha, 1 start message, 2 tail; scale: which of the block's scales a float is relative to.
// Relative to `origin`, which lies near, so that no digits are lost to the length of the sequence.
double CpuViterbiMessages::value(const Place& at, std::size_t array, std::size_t scale, int label,
                                 const Origin& origin) const {
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto c = static_cast<std::size_t>(label);
  const std::size_t index = at.block->offset + (array * kBlock + at.slot) * labels + c;
  const double shift =
      ((at.chunk->whole + at.block->base) - origin.whole) + (at.chunk->offset - origin.offset);
  if (at.block->exact) return at.chunk->doubles[index] + shift;
  return static_cast<double>(at.chunk->floats[index]) +
         at.chunk->doubles[at.block->scales + scale * labels + c] + shift;
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
  if (boundary > range_.begin) return value(place(boundary - 1), 0, 0, label, origin);
  return left_ ? left_->message[static_cast<std::size_t>(label)] + left_shift(origin) : 0.0;
}

double CpuViterbiMessages::start_message(std::int64_t boundary, int label, const Origin& origin) const {
  return value(place(boundary), 1, 1, label, origin);
}

// The tail's share of alpha without the end score, content summed up to the boundary.
double CpuViterbiMessages::tail(std::int64_t boundary, int label, const Origin& origin) const {
  if (boundary == range_.begin)
    return left_ ? left_->tail[static_cast<std::size_t>(label)] + left_shift(origin) : kNegativeInfinity;
  const Place at = place(boundary - 1);
  const double share = value(at, 2, 0, label, origin);
  return at.block->scaled_tail ? share + content_sum(at.block_begin, boundary, label) : share;
}

double CpuViterbiMessages::content(std::int64_t position, int label) const {
  const auto c = static_cast<std::size_t>(label);
  double score =
      scores_.emissions.at(size(position - scores_.begin) * static_cast<std::size_t>(model_.num_labels) + c);
  if (!position_max_.empty()) score -= position_max_[size(position - range_.begin)];
  if (!scores_.baseline.empty()) score -= scores_.baseline[c];
  const Place at = place(position);
  if (at.block->shifted) score -= at.chunk->doubles[at.block->shifts + at.slot];
  return score;
}

double CpuViterbiMessages::content_sum(std::int64_t begin, std::int64_t end, int label) const {
  double sum = 0;
  for (std::int64_t t = begin; t < end; ++t) sum += content(t, label);
  return sum;
}

double CpuViterbiMessages::start_score(std::int64_t position, int label) const {
  const auto c = static_cast<std::size_t>(label);
  double score = 0;
  if (!scores_.start_scores.empty()) {
    score = scores_.start_scores.at(
        size(position - scores_.begin) * static_cast<std::size_t>(model_.num_labels) + c);
  }
  if (position == 0 && !model_.start_scores.empty()) score += model_.start_scores[c];
  return score;
}

// Everything before a segment that starts left of the window, and its content up to the window's edge.
double CpuViterbiMessages::ring(std::int64_t boundary, int label, const Origin& origin) const {
  const std::int64_t row = range_.begin - boundary - 1;
  return left_->ring[size(row) * static_cast<std::size_t>(model_.num_labels) +
                     static_cast<std::size_t>(label)] +
         left_shift(origin);
}

// The same of a start anywhere within K of the window; content up to max(boundary, window edge).
double CpuViterbiMessages::started(std::int64_t boundary, int label, const Origin& origin) const {
  return boundary < range_.begin ? ring(boundary, label, origin)
                                 : start_message(boundary, label, origin) + start_score(boundary, label);
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

bool CpuViterbiMessages::find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  const std::int64_t end = cursor.boundary;
  if (end <= range_.begin) return false;
  const Origin origin = origin_at(end);
  const double* bias =
      bias_.data() + static_cast<std::size_t>(cursor.label) * static_cast<std::size_t>(model_.max_duration);
  const std::int64_t longest = std::min<std::int64_t>(model_.max_duration, end);
  double sum = 0;
  double best = kNegativeInfinity;
  std::int64_t best_duration = 1;
  for (std::int64_t k = 1; k <= longest; ++k) {
    const std::int64_t begin = end - k;
    if (begin >= range_.begin) sum += content(begin, cursor.label);
    const double score = started(begin, cursor.label, origin) + sum + bias[k - 1];
    if (score > best) {
      best = score;
      best_duration = k;
    }
  }
  if (model_.has_tail() && tail(end, cursor.label, origin) > best) {
    cursor.phase = TraceCursor::Phase::kInTail;
    cursor.segment_end = end;
    return true;
  }
  close_segment(cursor, end - best_duration, end, reversed);
  return true;
}

bool CpuViterbiMessages::follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  constexpr std::int64_t kRenewal = 256;  // steps after which the sliding sum is summed anew
  constexpr double kLargeSum = 1e5;       // sums beyond this have lost digits that matter once they slide out
  const std::int64_t longest = model_.max_duration;
  const auto c = static_cast<std::size_t>(cursor.label);
  const double last_bias =
      bias_[c * static_cast<std::size_t>(longest) + static_cast<std::size_t>(longest - 1)];
  double sum = 0;  // content of [max(start, window edge), boundary - 1)
  std::int64_t steps = 0;
  for (; cursor.boundary > range_.begin; --cursor.boundary, ++steps) {
    const std::int64_t before = cursor.boundary - 1;
    const std::int64_t begin = before - longest;
    if (begin < 0) throw std::logic_error("the tail of a segment reached the start of the sequence");
    const std::int64_t inside = std::max(begin, range_.begin);
    const Origin origin = origin_at(before);
    if (steps % kRenewal == 0 || !(std::fabs(sum) < kLargeSum)) {
      sum = content_sum(inside, before, cursor.label);
    } else {
      sum -= content(before, cursor.label);
      if (begin >= range_.begin) sum += content(begin, cursor.label);
    }
    if (started(begin, cursor.label, origin) + sum + last_bias >= tail(before, cursor.label, origin)) {
      close_segment(cursor, begin, cursor.segment_end, reversed);
      return true;
    }
  }
  return false;
}

bool CpuViterbiMessages::find_source(TraceCursor& cursor) const {
  if (cursor.boundary < range_.begin) return false;
  const Origin origin = origin_at(cursor.boundary);
  double best = kNegativeInfinity;
  int best_label = 0;
  for (int from = 0; from < model_.num_labels; ++from) {
    const double score = alpha(cursor.boundary, from, origin) + model_.transition_at(from, cursor.label);
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
