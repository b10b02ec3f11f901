#include "cpu/viterbi/viterbi_chunk.h"

#include <algorithm>
#include <cstring>

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

}  // namespace semicrf::cpu
