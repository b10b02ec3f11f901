#include "cpu/viterbi/viterbi_chunk.h"

#include <algorithm>
#include <cstring>

namespace semicrf::cpu {
namespace {

// Per block and label: alpha, start, content, tail.
constexpr std::size_t scales(bool tail) { return tail ? 4 : 3; }

}  // namespace

std::size_t ViterbiChunk::bytes_per_block(int labels, bool tail, std::size_t value_bytes) {
  return values_per_block(labels, tail) * (value_bytes + sizeof(double)) + kBlock * sizeof(double) +
         scales(tail) * static_cast<std::size_t>(labels) * sizeof(double) + sizeof(Block);
}

void ViterbiChunk::reset(std::int64_t first_boundary, std::size_t count, int labels, bool tail,
                         std::size_t value_bytes) {
  const auto width = static_cast<std::size_t>(labels);
  const std::size_t scale_bytes = count * scales(tail) * width * sizeof(double);
  const std::size_t bytes = scale_bytes + count * values_per_block(labels, tail) * value_bytes;
  if (room_ < bytes) {
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    room_ = bytes;
  }
  begin = first_boundary;
  blocks.clear();
  extra.clear();
  capacity = count;
  labels_ = labels;
  tail_ = tail;
  value_bytes_ = value_bytes;
  alpha_scale = reinterpret_cast<double*>(memory_.get());
  start_scale = alpha_scale + count * width;
  content = start_scale + count * width;
  tail_scale = tail ? content + count * width : nullptr;
  values = memory_.get() + scale_bytes;
}

ViterbiChunk ViterbiChunk::part(std::size_t first, std::size_t count) const {
  ViterbiChunk copy;
  copy.reset(begin + kBlock * static_cast<std::int64_t>(first), count, labels_, tail_, value_bytes_);
  copy.whole = whole;
  copy.offset = offset;
  const auto labels = static_cast<std::size_t>(labels_);
  const std::size_t value_block = values_per_block() * value_bytes_;
  std::memcpy(copy.values, static_cast<const std::byte*>(values) + first * value_block, count * value_block);
  std::copy_n(alpha_scale + first * labels, count * labels, copy.alpha_scale);
  if (tail_) std::copy_n(tail_scale + first * labels, count * labels, copy.tail_scale);
  for (std::size_t c = 0; c < labels; ++c) {
    std::copy_n(start_scale + c * capacity + first, count, copy.start_scale + c * count);
    std::copy_n(content + c * capacity + first, count, copy.content + c * count);
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

}  // namespace semicrf::cpu
