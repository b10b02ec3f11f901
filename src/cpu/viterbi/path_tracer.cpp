#include "cpu/viterbi/path_tracer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace semicrf::cpu {

std::size_t ViterbiChunk::bytes_per_block(const Shape& shape) {
  const std::size_t exact = shape.exact_values() + kBlock;
  return shape.alpha_bytes() + (shape.block_doubles() + exact) * sizeof(double) + sizeof(Block);
}

std::size_t ViterbiChunk::usual_bytes_per_block(const Shape& shape) {
  return shape.alpha_bytes() + shape.block_doubles() * sizeof(double) + sizeof(Block);
}

void ViterbiChunk::reset(std::int64_t first_boundary, std::size_t count, const Shape& shape) {
  const auto labels = static_cast<std::size_t>(shape.labels);
  // The traceback reads whole vectors of alpha.
  const std::size_t bytes =
      count * (shape.block_doubles() * sizeof(double) + shape.alpha_bytes()) + 8 * sizeof(double);
  if (room_ < bytes) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    room_ = bytes;
  }
  begin = first_boundary;
  blocks.clear();
  extra.clear();
  cuts.clear();
  capacity = count;
  shape_ = shape;
  source_offset.assign((labels + 7) / 8 * 8, 0.0);
  start_bound = reinterpret_cast<double*>(memory_.get());
  content = start_bound + count * labels;
  starts = content + count * labels;
  double* end = starts + count * shape.rows();
  tails = shape.tail ? end : nullptr;
  alpha = end + (shape.tail ? count * shape.rows() : 0);
}

ViterbiChunk ViterbiChunk::part(std::size_t first, std::size_t count) const {
  ViterbiChunk copy;
  copy.reset(begin + kBlock * static_cast<std::int64_t>(first), count, shape_);
  copy.whole = whole;
  copy.offset = offset;
  copy.source_offset = source_offset;
  if (!cuts.empty()) copy.cuts.resize(count * static_cast<std::size_t>(shape_.labels));
  const auto labels = static_cast<std::size_t>(shape_.labels);
  const std::size_t rows = shape_.rows();
  std::memcpy(copy.alpha, static_cast<const std::byte*>(alpha) + first * shape_.alpha_bytes(),
              count * shape_.alpha_bytes());
  std::copy_n(starts + first * rows, count * rows, copy.starts);
  if (shape_.tail) std::copy_n(tails + first * rows, count * rows, copy.tails);
  for (std::size_t c = 0; c < labels; ++c) {
    std::copy_n(start_bound + c * capacity + first, count, copy.start_bound + c * count);
    std::copy_n(content + c * capacity + first, count, copy.content + c * count);
    if (!cuts.empty()) std::copy_n(cuts.data() + c * capacity + first, count, copy.cuts.data() + c * count);
  }
  const auto from = blocks.begin() + static_cast<std::ptrdiff_t>(first);
  copy.blocks.assign(from, from + static_cast<std::ptrdiff_t>(count));
  const std::size_t extra_begin = copy.blocks.front().extra;
  const std::size_t extra_end = first + count < blocks.size() ? blocks[first + count].extra : extra.size();
  copy.extra.assign(extra.begin() + static_cast<std::ptrdiff_t>(extra_begin),
                    extra.begin() + static_cast<std::ptrdiff_t>(extra_end));
  for (Block& block : copy.blocks) block.extra -= extra_begin;
  return copy;
}

namespace {

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

std::size_t round_up_to_vector(std::size_t n) { return (n + 7) / 8 * 8; }

void close_segment(TraceCursor& cursor, std::int64_t begin, std::int64_t end,
                   std::vector<Segment>& reversed) {
  reversed.push_back({begin, end, cursor.label});
  cursor.boundary = begin;
  cursor.phase = begin == 0 ? TraceCursor::Phase::kDone : TraceCursor::Phase::kFindSource;
}

}  // namespace

TraceTables::TraceTables(const ChainModel& chain)
    : scans(trace_scans()),
      model(&chain),
      labels(static_cast<std::size_t>(chain.num_labels)),
      longest(chain.max_duration),
      reversed_bias(labels * size(longest) + std::size_t{2} * kBlock),
      largest_bias(labels, kNegativeInfinity),
      into(round_up_to_vector(labels * labels + 7)) {
  for (std::size_t c = 0; c < labels; ++c) {
    for (std::size_t k = 1; k <= size(longest); ++k) {
      const double bias = chain.duration_bias[(k - 1) * labels + c];
      reversed_bias[kBlock + c * size(longest) + size(longest) - k] = bias;
      largest_bias[c] = std::max(largest_bias[c], bias);
    }
    for (std::size_t from = 0; from < labels; ++from)
      into[c * labels + from] = chain.transition[from * labels + c];
  }
}

PathTracer::PathTracer(const TraceTables& tables)
    : t_(tables), source_scores_(2 * round_up_to_vector(tables.labels)) {}

void PathTracer::look_at(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                         Locate locate) {
  scores_ = &scores;
  range_ = range;
  left_ = left;
  locate_ = std::move(locate);
  here_ = nullptr;
}

PathTracer::Place PathTracer::place(std::int64_t position) {
  if (here_ == nullptr || !here_->covers(position)) here_ = &locate_(position);
  const std::int64_t inside = position - here_->begin;
  return {here_, size(inside / kBlock), position - inside % kBlock};
}

PathTracer::Place PathTracer::left_of(const Place& at) {
  if (at.block > 0) return {at.chunk, at.block - 1, at.begin - kBlock};
  return place(at.begin - 1);
}

// What to add to a chunk's values to put them on the scale of `origin`, which lies near, so that no digits
// are lost to the length of the sequence.
double PathTracer::shift(const ViterbiChunk& chunk, const Origin& origin) {
  return (chunk.whole - origin.whole) + (chunk.offset - origin.offset);
}

double PathTracer::left_shift(const Origin& origin) const {
  return (left_->whole - origin.whole) + (left_->offset - origin.offset);
}

// The value at `index` of an exact block.
double PathTracer::exact(const Place& at, std::size_t index, const Origin& origin) const {
  return at.chunk->extra[(*at).extra + index] + shift(*at.chunk, origin);
}

// Alpha of a label at a slot; where the block is not exact, less what all labels of the boundary share.
double PathTracer::alpha(const Place& at, std::size_t slot, std::size_t label, const Origin& origin) const {
  if ((*at).exact) return exact(at, slot * t_.labels + label, origin);
  const ViterbiChunk& chunk = *at.chunk;
  const std::size_t i = (at.block * kBlock + slot) * t_.labels + label;
  const double number = chunk.shape().wide
                            ? static_cast<const double*>(chunk.alpha)[i]
                            : static_cast<const std::int32_t*>(chunk.alpha)[i] / (1.0 * (1 << 22));
  return number + chunk.source_offset[label];
}

PathTracer::Origin PathTracer::origin_at(std::int64_t boundary) {
  if (boundary == range_.begin) return left_ != nullptr ? Origin{left_->whole, left_->offset} : Origin{};
  const ViterbiChunk& chunk = *place(boundary - 1).chunk;
  return {chunk.whole, chunk.offset};
}

// The tail's share of alpha without the end score, content summed up to the boundary.
double PathTracer::tail(std::int64_t boundary, std::size_t label, const Origin& origin) {
  if (boundary == range_.begin)
    return left_ != nullptr ? left_->tail[label] + left_shift(origin) : kNegativeInfinity;
  const Place at = place(boundary - 1);
  const std::size_t slot = size(boundary - 1 - at.begin);
  if ((*at).exact) return exact(at, (std::size_t{2} * kBlock + slot) * t_.labels + label, origin);
  const std::size_t row = (at.block * kBlock + slot) * t_.labels;
  return at.chunk->tails[row + label] + shift(*at.chunk, origin) + content(at, at.begin, boundary, label);
}

// Centred emissions of positions [begin, end) of one block, without the positions' shifts.
double PathTracer::content(const Place& at, std::int64_t begin, std::int64_t end, std::size_t label) const {
  const ScoreArray& emissions = scores_->emissions;
  const double baseline = scores_->baseline.empty() ? 0.0 : scores_->baseline[label];
  const ViterbiChunk::Block& block = *at;
  const double* shifts = nullptr;
  if (block.shifted)
    shifts = at.chunk->extra.data() + block.extra + (block.exact ? at.chunk->shape().exact_values() : 0);
  double sum = 0;
  for (std::int64_t t = begin; t < end; ++t) {
    const std::size_t row = size(t - scores_->begin) * t_.labels;
    double value = emissions.at(row + label) - baseline;
    if (scores_->subtract_position_max) value -= position_maximum(emissions, row, t_.labels);
    if (shifts != nullptr) value -= shifts[t - at.begin];
    sum += value;
  }
  return sum;
}

double PathTracer::content_sum(std::int64_t begin, std::int64_t end, std::size_t label) {
  double sum = 0;
  while (begin < end) {
    const Place at = place(begin);
    const std::int64_t stop = std::min(end, at.begin + kBlock);
    const bool whole = begin == at.begin && stop == at.begin + kBlock;
    sum += whole ? at.content(label) : content(at, begin, stop, label);
    begin = stop;
  }
  return sum;
}

// Everything before a segment that starts at `boundary`, with its start score and, left of the range, its
// content up to the range's edge.
double PathTracer::started(std::int64_t boundary, std::size_t label, const Origin& origin) {
  if (boundary < range_.begin)
    return left_->ring[size(range_.begin - boundary - 1) * t_.labels + label] + left_shift(origin);
  const Place at = place(boundary);
  const std::size_t slot = size(boundary - at.begin);
  if ((*at).exact) return exact(at, kBlock * t_.labels + label * kBlock + slot, origin);
  const std::size_t i = (at.block * kBlock + slot) * t_.labels + label;
  return at.chunk->starts[i] + shift(*at.chunk, origin) + content(at, at.begin, boundary, label);
}

int PathTracer::best_label(std::int64_t boundary) {
  const Place at = place(boundary - 1);
  const Origin origin{at.chunk->whole, at.chunk->offset};
  double best = kNegativeInfinity;
  int label = 0;
  for (std::size_t c = 0; c < t_.labels; ++c) {
    const double score = alpha(at, size(boundary - 1 - at.begin), c, origin);
    if (score > best) {
      best = score;
      label = static_cast<int>(c);
    }
  }
  return label;
}

bool PathTracer::step(TraceCursor& cursor, std::vector<Segment>& reversed) {
  switch (cursor.phase) {
    case TraceCursor::Phase::kFindStart:
      return find_start(cursor, reversed);
    case TraceCursor::Phase::kInTail:
      return follow_tail(cursor, reversed);
    case TraceCursor::Phase::kFindSource:
      return find_source(cursor);
    case TraceCursor::Phase::kDone:
      break;
  }
  return false;
}

// Starts in one block of a segment that ends at `end`. content_after: from the block's last boundary to
// `end`; from its first when `end` lies in the block and the block is not exact.
void PathTracer::scan_block(const Place& at, std::int64_t end, std::size_t label, double content_after,
                            const Origin& origin, Best& best) const {
  const ViterbiChunk& chunk = *at.chunk;
  const ViterbiChunk::Block& here = *at;
  const bool ends_here = end <= at.begin + kBlock;
  const int last = static_cast<int>(std::min<std::int64_t>(kBlock, end - at.begin));
  const int first =
      static_cast<int>(std::max<std::int64_t>(at.first_open_slot(label, end), end - t_.longest - at.begin));
  if (first >= last) return;
  // Entry K - k of the reversed scores belongs to start end - k: slot + (at.begin - end) + K.
  const double* bias =
      t_.reversed_bias.data() + kBlock + label * size(t_.longest) + (at.begin - end + t_.longest);
  double scale = shift(chunk, origin);
  double score = 0;
  int slot = 0;
  if (here.exact) {
    // Every start with its own content, so that huge scores that do not concern a segment do not touch it.
    std::array<double, kBlock> sums{};
    double content_here = ends_here ? 0.0 : content_after;
    for (int s = last - 1; s >= first; --s) {
      content_here += content(at, at.begin + s, at.begin + s + 1, label);
      const std::size_t index = (kBlock * t_.labels) + label * kBlock + size(s);
      sums[size(s)] = chunk.extra[here.extra + index] + content_here;
    }
    slot = t_.scans.wide.best_slot(sums.data(), 1, bias, first, last, &score);
  } else {
    scale += content_after;
    if (!ends_here) scale += at.content(label);
    const double* starts = chunk.starts + at.block * kBlock * t_.labels + label;
    slot = t_.scans.wide.best_slot(starts, t_.labels, bias, first, last, &score);
  }
  score += scale;
  if (score > best.score) best = {score, end - (at.begin + slot)};
}

void PathTracer::scan_left_state(std::int64_t end, std::size_t label, double content_after,
                                 const Origin& origin, Best& best) {
  // The largest entry of a state is 0.
  if (left_shift(origin) + content_after + t_.largest_bias[label] <= best.score) return;
  const std::int64_t longest = std::min(t_.longest, end);
  for (std::int64_t k = end - range_.begin + 1; k <= longest; ++k) {
    const double score = started(end - k, label, origin) + content_after +
                         t_.reversed_bias[kBlock + label * size(t_.longest) + size(t_.longest - k)];
    if (score > best.score) best = {score, k};
  }
}

bool PathTracer::find_start(TraceCursor& cursor, std::vector<Segment>& reversed) {
  const std::int64_t end = cursor.boundary;
  const bool beyond = end - t_.longest < range_.begin && range_.begin > 0;  // starts left of the range count
  if (end <= range_.begin || (beyond && left_ == nullptr)) return false;
  const auto label = static_cast<std::size_t>(cursor.label);
  const std::int64_t leftmost = std::max(range_.begin, end - t_.longest);
  Place at = place(end - 1);
  const Origin origin{at.chunk->whole, at.chunk->offset};
  Best best;
  // Content from the first boundary of the last block to `end` is common to all starts but those in an exact
  // block.
  const bool common = (*at).exact || t_.model->has_tail();
  double content_after = common ? content(at, at.begin, end, label) : 0.0;
  scan_block(at, end, label, content_after, origin, best);
  bool open = at.first_open_slot(label, end) == 0;
  while (open && at.begin > leftmost) {
    at = left_of(at);
    const double content_before = content_after + at.content(label);
    // An exact block is always looked at.
    const double bound = shift(*at.chunk, origin) +
                         at.chunk->start_bound[label * at.chunk->capacity + at.block] + content_before +
                         t_.largest_bias[label];
    if (!(bound <= best.score)) scan_block(at, end, label, content_after, origin, best);
    content_after = content_before;
    open = at.first_open_slot(label, end) == 0;
  }
  if (open && beyond) scan_left_state(end, label, content_after, origin, best);
  if (t_.model->has_tail() && tail(end, label, origin) > best.score) {
    cursor.phase = TraceCursor::Phase::kInTail;
    cursor.segment_end = end;
    return true;
  }
  close_segment(cursor, end - best.duration, end, reversed);
  return true;
}

bool PathTracer::follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) {
  if (cursor.boundary <= range_.begin) return false;
  const auto label = static_cast<std::size_t>(cursor.label);
  const std::int64_t before = cursor.boundary - 1;
  const std::int64_t begin = before - t_.longest;
  if (begin < range_.begin && left_ == nullptr) {
    if (range_.begin > 0) return false;
    throw std::logic_error("the tail of a segment reached the start of the sequence");
  }
  const Origin origin = origin_at(before);
  const double sum = content_sum(std::max(begin, range_.begin), before, label);
  const double last_bias = t_.model->duration_score(t_.longest, cursor.label);
  if (started(begin, label, origin) + sum + last_bias >= tail(before, label, origin)) {
    close_segment(cursor, begin, cursor.segment_end, reversed);
  } else {
    cursor.boundary = before;
  }
  return true;
}

bool PathTracer::find_source(TraceCursor& cursor) {
  const std::int64_t boundary = cursor.boundary;
  if (boundary < range_.begin || (boundary == range_.begin && left_ == nullptr)) return false;
  const double* into = t_.into.data() + static_cast<std::size_t>(cursor.label) * t_.labels;
  cursor.phase = TraceCursor::Phase::kFindStart;
  double* sums = source_scores_.data();
  const int labels = t_.model->num_labels;
  if (boundary == range_.begin) {
    double* message = sums + source_scores_.size() / 2;
    std::copy(left_->message.begin(), left_->message.end(), message);
    cursor.label = t_.scans.wide.best_source(message, nullptr, into, labels, sums);
    return false;
  }
  const Place at = place(boundary - 1);
  const std::size_t slot = size(boundary - 1 - at.begin);
  const ViterbiChunk& chunk = *at.chunk;
  if ((*at).exact) {
    const double* row = chunk.extra.data() + (*at).extra + slot * t_.labels;
    cursor.label = t_.scans.wide.best_source(row, nullptr, into, labels, sums);
    return true;
  }
  const std::size_t row = (at.block * kBlock + slot) * t_.labels;
  const double* offset = chunk.source_offset.data();
  cursor.label = chunk.shape().wide
                     ? t_.scans.wide.best_source(static_cast<const double*>(chunk.alpha) + row, offset, into,
                                                 labels, sums)
                     : t_.scans.single.best_source(static_cast<const std::int32_t*>(chunk.alpha) + row,
                                                   offset, into, labels, sums);
  return true;
}

}  // namespace semicrf::cpu
