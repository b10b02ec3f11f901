// Messages of the max semiring over consecutive blocks of one chunk, as the traceback reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/score_view.h"

namespace semicrf::cpu {

// Values of a block, C labels. Fast blocks lie in `values`, one after the other, exact ones in `extra`.
//   alpha   (16, C)  of boundaries begin+1..begin+16
//   starts  (C, 16)  of boundaries begin..begin+15: the best score of everything before a segment that starts
//                    there plus its start score. Fast: less the content of the block up to there, and the
//                    largest is 0.
//   tail    (16, C)  with a tail only: its share of alpha without the end score, at begin+1..begin+16. Fast:
//                    content up to the block's first boundary only.
// Values are relative to whole + offset of the chunk, fast ones besides to a scale of their label. Position
// shifts of the chunk are left out everywhere.
struct ViterbiChunk {
  struct Block {
    bool exact = false;
    bool shifted = false;   // whole numbers were taken out of the emissions: 16 of them, last in `extra`
    std::size_t extra = 0;  // of the block's first value in `extra`
  };
  std::int64_t begin = 0;  // first boundary of the first block
  double whole = 0;        // a whole number
  double offset = 0;
  std::vector<Block> blocks;
  std::vector<double> extra;
  // Room for `capacity` blocks.
  std::size_t capacity = 0;
  void* values = nullptr;         // float or double as the kernel computes
  double* alpha_scale = nullptr;  // (blocks, C)
  double* start_scale = nullptr;  // (C, capacity) of starts; +inf for an exact block
  double* content = nullptr;      // (C, capacity) of the whole block
  double* tail_scale = nullptr;   // (blocks, C); null without a tail

  bool empty() const { return blocks.empty(); }
  bool covers(std::int64_t position) const {
    return position >= begin && position < begin + kBlock * static_cast<std::int64_t>(blocks.size());
  }
  std::size_t values_per_block() const { return values_per_block(labels_, tail_); }
  static std::size_t values_per_block(int labels, bool tail) {
    return static_cast<std::size_t>(labels) * (tail ? 3 : 2) * kBlock;
  }
  // Of one block, an exact one when that is more.
  static std::size_t bytes_per_block(int labels, bool tail, std::size_t value_bytes);

  // Forgets the blocks and makes room for `count`; values take `value_bytes` each.
  void reset(std::int64_t first_boundary, std::size_t count, int labels, bool tail, std::size_t value_bytes);
  // Blocks [first, first + count) alone, in room of their own.
  ViterbiChunk part(std::size_t first, std::size_t count) const;

 private:
  int labels_ = 0;
  bool tail_ = false;
  std::size_t value_bytes_ = 0;
  std::size_t room_ = 0;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace semicrf::cpu
