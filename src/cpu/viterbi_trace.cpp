#include "cpu/viterbi_trace.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "cpu/score_view.h"

namespace semicrf::cpu {
namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

// Four independent chains; a maximum has no rounding to depend on their order.
double largest_of(const double* values, std::int64_t count) {
  std::array<double, 4> most{kNegativeInfinity, kNegativeInfinity, kNegativeInfinity, kNegativeInfinity};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (std::size_t j = 0; j < 4; ++j)
      most[j] = values[i + static_cast<std::int64_t>(j)] > most[j] ? values[i + static_cast<std::int64_t>(j)]
                                                                   : most[j];
  }
  for (; i < count; ++i) most[0] = values[i] > most[0] ? values[i] : most[0];
  return std::max(std::max(most[0], most[1]), std::max(most[2], most[3]));
}

// The largest sum of a start and its duration score (bias[slot]) over slots [first, last), and the last slot
// that has it: the shortest duration among equals.
template <class Number>
int best_slot(const Number* starts, const double* bias, int first, int last, double* score) {
  std::array<double, kBlock> sums;
  for (int slot = first; slot < last; ++slot)
    sums[size(slot)] = static_cast<double>(starts[slot]) + bias[slot];
  const double largest = largest_of(sums.data() + first, last - first);
  *score = largest;
  int slot = last - 1;
  while (slot > first && sums[size(slot)] != largest) --slot;
  return slot;
}

// Sum of column entries at `stride` apart.
template <class Number>
double strided_sum(const Number* at, std::size_t stride, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(at[size(i) * stride]);
  return sum;
}

}  // namespace

CpuViterbiMessages::CpuViterbiMessages(const ChainModel& model, Precision precision,
                                       const ScoreWindow& scores, PositionRange range,
                                       const BoundaryState* left, std::int64_t chunk_size,
                                       std::vector<ViterbiChunk> chunks, PageBuffer memory,
                                       std::shared_ptr<PagePool> pages)
    : model_(model),
      wide_(precision == Precision::kDouble),
      scores_(scores),
      range_(range),
      chunk_size_(chunk_size),
      chunks_(std::move(chunks)),
      memory_(std::move(memory)),
      pages_(std::move(pages)),
      labels_(static_cast<std::size_t>(model.num_labels)),
      values_per_block_(ViterbiChunk::values_per_block(model.num_labels, model.has_tail())),
      source_scores_(labels_) {
  if (left != nullptr) left_ = *left;
  const auto longest = static_cast<std::size_t>(model.max_duration);
  reversed_bias_.resize(labels_ * longest);
  largest_bias_.assign(labels_, kNegativeInfinity);
  into_.resize(labels_ * labels_);
  for (std::size_t c = 0; c < labels_; ++c) {
    for (std::size_t k = 1; k <= longest; ++k) {
      const double bias = model.duration_bias[(k - 1) * labels_ + c];
      reversed_bias_[c * longest + longest - k] = bias;
      largest_bias_[c] = std::max(largest_bias_[c], bias);
    }
    for (std::size_t from = 0; from < labels_; ++from)
      into_[c * labels_ + from] = model.transition[from * labels_ + c];
  }
  if (!scores.subtract_position_max) return;
  position_max_.resize(size(range.size()), 0.0);
  for (std::int64_t t = range.begin; t < range.end; ++t) {
    double largest = kNegativeInfinity;
    for (std::size_t c = 0; c < labels_; ++c) {
      largest = std::max(largest, scores.emissions.at(size(t - scores.begin) * labels_ + c));
    }
    if (largest != kNegativeInfinity) position_max_[size(t - range.begin)] = largest;
  }
}

CpuViterbiMessages::Place CpuViterbiMessages::place(std::int64_t position) const {
  const std::int64_t from = position - chunks_[last_chunk_].begin;
  if (from < 0 || from >= chunk_size_) last_chunk_ = size((position - range_.begin) / chunk_size_);
  const std::int64_t inside = position - chunks_[last_chunk_].begin;
  return {last_chunk_, size(inside / kBlock), position - inside % kBlock};
}

CpuViterbiMessages::Place CpuViterbiMessages::left_of(const Place& at) const {
  if (at.block > 0) return {at.chunk, at.block - 1, at.begin - kBlock};
  return {at.chunk - 1, chunks_[at.chunk - 1].blocks.size() - 1, at.begin - kBlock};
}

double CpuViterbiMessages::number(const Place& at, std::size_t index) const {
  const ViterbiChunk& chunk = chunks_[at.chunk];
  if (block(at).exact) return chunk.extra[block(at).extra + index];
  const std::size_t i = at.block * values_per_block_ + index;
  return wide_ ? static_cast<const double*>(chunk.values)[i]
               : static_cast<double>(static_cast<const float*>(chunk.values)[i]);
}

// A chunk's values on the scale of `origin`, which lies near, so that no digits are lost to the length of the
// sequence.
double CpuViterbiMessages::shift(std::size_t chunk, const Origin& origin) const {
  return (chunks_[chunk].whole - origin.whole) + (chunks_[chunk].offset - origin.offset);
}

// The value at `index` of a block; `scale` counts for a fast one.
double CpuViterbiMessages::scaled(const Place& at, std::size_t index, double scale,
                                  const Origin& origin) const {
  const double value = number(at, index) + shift(at.chunk, origin);
  return block(at).exact ? value : value + scale;
}

CpuViterbiMessages::Origin CpuViterbiMessages::origin_at(std::int64_t boundary) const {
  if (boundary == range_.begin) return left_ ? Origin{left_->whole, left_->offset} : Origin{};
  const ViterbiChunk& chunk = chunks_[place(boundary - 1).chunk];
  return {chunk.whole, chunk.offset};
}

double CpuViterbiMessages::left_shift(const Origin& origin) const {
  return (left_->whole - origin.whole) + (left_->offset - origin.offset);
}

// The tail's share of alpha without the end score, content summed up to the boundary.
double CpuViterbiMessages::tail(std::int64_t boundary, std::size_t label, const Origin& origin) const {
  if (boundary == range_.begin) return left_ ? left_->tail[label] + left_shift(origin) : kNegativeInfinity;
  const Place at = place(boundary - 1);
  const std::size_t index = (2 * kBlock + size(boundary - 1 - at.begin)) * labels_ + label;
  const double share = scaled(at, index, chunks_[at.chunk].alpha_scale[at.block * labels_ + label], origin);
  return block(at).exact ? share : share + content(at, at.begin, boundary, label);
}

// Centred emissions of positions [begin, end) of one block, without the positions' shifts.
double CpuViterbiMessages::content(const Place& at, std::int64_t begin, std::int64_t end,
                                   std::size_t label) const {
  const std::size_t first = size(begin - scores_.begin) * labels_ + label;
  const std::int64_t count = end - begin;
  double sum = scores_.emissions.f32 != nullptr ? strided_sum(scores_.emissions.f32 + first, labels_, count)
                                                : strided_sum(scores_.emissions.f64 + first, labels_, count);
  if (!scores_.baseline.empty()) sum -= static_cast<double>(count) * scores_.baseline[label];
  if (!position_max_.empty()) sum -= strided_sum(position_max_.data() + (begin - range_.begin), 1, count);
  if (block(at).shifted) {
    const double* shifts =
        chunks_[at.chunk].extra.data() + block(at).extra + (block(at).exact ? values_per_block_ : 0);
    sum -= strided_sum(shifts + (begin - at.begin), 1, count);
  }
  return sum;
}

double CpuViterbiMessages::content_sum(std::int64_t begin, std::int64_t end, std::size_t label) const {
  double sum = 0;
  while (begin < end) {
    const Place at = place(begin);
    const std::int64_t stop = std::min(end, at.begin + kBlock);
    const bool whole = begin == at.begin && stop == at.begin + kBlock;
    sum += whole ? block_content(at, label) : content(at, begin, stop, label);
    begin = stop;
  }
  return sum;
}

// Everything before a segment that starts at `boundary`, with its start score and, left of the window, its
// content up to the window's edge.
double CpuViterbiMessages::started(std::int64_t boundary, std::size_t label, const Origin& origin) const {
  if (boundary < range_.begin)
    return left_->ring[size(range_.begin - boundary - 1) * labels_ + label] + left_shift(origin);
  const Place at = place(boundary);
  const ViterbiChunk& chunk = chunks_[at.chunk];
  const double value = scaled(at, kBlock * labels_ + label * kBlock + size(boundary - at.begin),
                              chunk.start_scale[label * chunk.capacity + at.block], origin);
  return block(at).exact ? value : value + content(at, at.begin, boundary, label);
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
// `end`; from its first when `end` lies in the block and the block is not exact.
void CpuViterbiMessages::scan_block(const Place& at, std::int64_t end, std::size_t label,
                                    double content_after, const Origin& origin, Best& best) const {
  const ViterbiChunk& chunk = chunks_[at.chunk];
  const ViterbiChunk::Block& here = block(at);
  const bool ends_here = end <= at.begin + kBlock;
  const int last = static_cast<int>(std::min<std::int64_t>(kBlock, end - at.begin));
  const int first = static_cast<int>(std::max<std::int64_t>(0, end - model_.max_duration - at.begin));
  // Entry K - k of the reversed scores belongs to start end - k: slot + (at.begin - end) + K.
  const double* bias = reversed_bias_.data() + label * static_cast<std::size_t>(model_.max_duration) +
                       (at.begin - end + model_.max_duration);
  const std::size_t starts = kBlock * labels_ + label * kBlock;
  double scale = shift(at.chunk, origin);
  double score = 0;
  int slot = 0;
  if (here.exact) {
    // Every start with its own content, so that huge scores that do not concern a segment do not touch it.
    std::array<double, kBlock> sums;
    double content_here = ends_here ? 0.0 : content_after;
    for (int s = last - 1; s >= first; --s) {
      content_here += content(at, at.begin + s, at.begin + s + 1, label);
      sums[size(s)] = chunk.extra[here.extra + starts + size(s)] + content_here;
    }
    slot = best_slot(sums.data(), bias, first, last, &score);
  } else {
    scale += chunk.start_scale[label * chunk.capacity + at.block] + content_after;
    if (!ends_here) scale += block_content(at, label);
    const std::size_t index = at.block * values_per_block_ + starts;
    slot = wide_ ? best_slot(static_cast<const double*>(chunk.values) + index, bias, first, last, &score)
                 : best_slot(static_cast<const float*>(chunk.values) + index, bias, first, last, &score);
  }
  score += scale;
  if (score > best.score) best = {score, end - (at.begin + slot)};
}

void CpuViterbiMessages::scan_left_state(std::int64_t end, std::size_t label, double content_after,
                                         const Origin& origin, Best& best) const {
  const std::int64_t longest = std::min<std::int64_t>(model_.max_duration, end);
  for (std::int64_t k = end - range_.begin + 1; k <= longest; ++k) {
    const double score =
        started(end - k, label, origin) + content_after + model_.duration_score(k, static_cast<int>(label));
    if (score > best.score) best = {score, k};
  }
}

// The path runs right to left through memory that was written long ago: asks for the block two to the left.
void CpuViterbiMessages::prefetch_left_of(const Place& at) const {
  constexpr std::size_t kLine = 64;
  if (at.begin == prefetched_ || at.block < 2) return;
  prefetched_ = at.begin;
  const auto ask = [](const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += kLine)
      __builtin_prefetch(static_cast<const std::byte*>(from) + i);
  };
  const ViterbiChunk& chunk = chunks_[at.chunk];
  const std::size_t value = wide_ ? sizeof(double) : sizeof(float);
  ask(static_cast<const std::byte*>(chunk.values) + (at.block - 2) * values_per_block_ * value,
      values_per_block_ * value);
  ask(chunk.alpha_scale + (at.block - 2) * labels_, labels_ * sizeof(double));
}

bool CpuViterbiMessages::find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  const std::int64_t end = cursor.boundary;
  if (end <= range_.begin) return false;
  const auto label = static_cast<std::size_t>(cursor.label);
  const std::int64_t leftmost = std::max(range_.begin, end - model_.max_duration);
  Place at = place(end - 1);
  const Origin origin{chunks_[at.chunk].whole, chunks_[at.chunk].offset};
  prefetch_left_of(at);
  Best best;
  // Content from the first boundary of the last block to `end` is common to all starts but those in an exact
  // block.
  const bool common = block(at).exact || model_.has_tail();
  double content_after = common ? content(at, at.begin, end, label) : 0.0;
  scan_block(at, end, label, content_after, origin, best);
  while (at.begin > leftmost) {
    at = left_of(at);
    const ViterbiChunk& chunk = chunks_[at.chunk];
    const std::size_t index = label * chunk.capacity + at.block;
    const double content_before = content_after + chunk.content[index];
    // The largest start of a fast block is 0 on its scale; an exact block is always looked at.
    const double bound =
        shift(at.chunk, origin) + chunk.start_scale[index] + content_before + largest_bias_[label];
    if (!(bound <= best.score)) scan_block(at, end, label, content_after, origin, best);
    content_after = content_before;
  }
  if (end - model_.max_duration < range_.begin && left_)
    scan_left_state(end, label, content_after, origin, best);
  if (model_.has_tail() && tail(end, label, origin) > best.score) {
    cursor.phase = TraceCursor::Phase::kInTail;
    cursor.segment_end = end;
    return true;
  }
  close_segment(cursor, end - best.duration, end, reversed);
  return true;
}

bool CpuViterbiMessages::follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const {
  const auto label = static_cast<std::size_t>(cursor.label);
  const std::int64_t longest = model_.max_duration;
  const double last_bias = model_.duration_score(longest, cursor.label);
  for (; cursor.boundary > range_.begin; --cursor.boundary) {
    const std::int64_t before = cursor.boundary - 1;
    const std::int64_t begin = before - longest;
    if (begin < 0) throw std::logic_error("the tail of a segment reached the start of the sequence");
    const Origin origin = origin_at(before);
    const double sum = content_sum(std::max(begin, range_.begin), before, label);
    if (started(begin, label, origin) + sum + last_bias >= tail(before, label, origin)) {
      close_segment(cursor, begin, cursor.segment_end, reversed);
      return true;
    }
  }
  return false;
}

// The first label with the largest alpha + transition; scale null: none.
template <class Number>
int CpuViterbiMessages::best_source(const Number* alpha, const double* scale, const double* into) const {
  double* sums = source_scores_.data();
  if (scale == nullptr) {
    for (std::size_t from = 0; from < labels_; ++from)
      sums[from] = static_cast<double>(alpha[from]) + into[from];
  } else {
    for (std::size_t from = 0; from < labels_; ++from)
      sums[from] = static_cast<double>(alpha[from]) + scale[from] + into[from];
  }
  const double best = largest_of(sums, static_cast<std::int64_t>(labels_));
  int best_label = 0;
  for (int from = model_.num_labels - 1; from >= 0; --from)
    best_label = sums[from] == best ? from : best_label;
  return best_label;
}

bool CpuViterbiMessages::find_source(TraceCursor& cursor) const {
  const std::int64_t boundary = cursor.boundary;
  if (boundary < range_.begin) return false;
  const double* into = into_.data() + static_cast<std::size_t>(cursor.label) * labels_;
  cursor.phase = TraceCursor::Phase::kFindStart;
  if (boundary == range_.begin) {
    cursor.label = best_source(left_->message.data(), nullptr, into);
    return false;
  }
  const Place at = place(boundary - 1);
  const std::size_t row = size(boundary - 1 - at.begin) * labels_;
  const ViterbiChunk& chunk = chunks_[at.chunk];
  if (block(at).exact) {
    cursor.label = best_source(chunk.extra.data() + block(at).extra + row, nullptr, into);
  } else if (wide_) {
    cursor.label = best_source(static_cast<const double*>(chunk.values) + at.block * values_per_block_ + row,
                               chunk.alpha_scale + at.block * labels_, into);
  } else {
    cursor.label = best_source(static_cast<const float*>(chunk.values) + at.block * values_per_block_ + row,
                               chunk.alpha_scale + at.block * labels_, into);
  }
  return true;
}

}  // namespace semicrf::cpu
