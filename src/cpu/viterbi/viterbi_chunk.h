// Messages of the max semiring over consecutive blocks of one chunk, as the traceback reads them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/score_view.h"

namespace semicrf::cpu {

// The messages of a block, C labels:
//   alpha   (16, C)  of boundaries begin+1..begin+16
//   starts  (C, 16)  of boundaries begin..begin+15: the best score of everything before a segment that starts
//                    there plus its start score, less the content of the block up to there
//   tail    (16, C)  with a tail only: its share of alpha without the end score, at begin+1..begin+16,
//                    content up to the block's first boundary only
// Blocks that hold logarithms alone (`exact`) have all of them in `extra`, the tail with the content up to
// its boundary and the starts without any content. Of others `starts` and `tails` are logarithms, in the
// vectors' layout; alpha is a number of the kernel relative to the largest of its boundary and to
// `source_offset` of its label. Logarithms are relative to whole + offset of the chunk. Position shifts of
// the chunk are left out everywhere. So are forbidden positions in blocks that are not exact: `cuts` says
// where they are, and no segment lies over one.
struct ViterbiChunk {
  struct Block {
    bool exact = false;
    bool shifted = false;   // whole numbers were taken out of the emissions: 16 of them, last in `extra`
    std::size_t extra = 0;  // place of the block's first value in `extra`
  };
  std::int64_t begin = 0;  // first boundary of the first block
  double whole = 0;        // a whole number
  double offset = 0;
  std::vector<Block> blocks;
  std::vector<double> extra;
  // Room for `capacity` blocks.
  std::size_t capacity = 0;
  void* alpha = nullptr;              // (blocks, 16, C) int32 in units of 2^-22, or double
  double* starts = nullptr;           // (blocks, 16, C)
  double* tails = nullptr;            // (blocks, 16, C); null without a tail
  double* start_bound = nullptr;      // (C, capacity) no start is larger; +inf for an exact block
  double* content = nullptr;          // (C, capacity) of the whole block
  std::vector<double> source_offset;  // (C), and room up to the next multiple of 8
  std::vector<std::uint16_t> cuts;    // (C, capacity) a bit per forbidden position; empty: there are none

  // The first slot from which a segment goes on up to the left boundary of slot `last`; 0: it may begin left
  // of the block. `cuts`: of a block and label.
  static int first_open_slot(std::uint16_t cuts, int last) {
    return static_cast<int>(std::bit_width(cuts & ((1U << last) - 1)));
  }

  struct Shape {
    int labels = 0;
    bool tail = false;
    bool wide = false;  // alpha in double

    std::size_t rows() const { return kBlock * static_cast<std::size_t>(labels); }
    std::size_t alpha_bytes() const { return rows() * (wide ? sizeof(double) : sizeof(std::int32_t)); }
    std::size_t block_doubles() const {
      return rows() * (tail ? 2 : 1) + 2 * static_cast<std::size_t>(labels);
    }
    // Values of an exact block in `extra`, without shifts.
    std::size_t exact_values() const { return rows() * (tail ? 3 : 2); }
  };
  const Shape& shape() const { return shape_; }
  bool empty() const { return blocks.empty(); }
  bool covers(std::int64_t position) const {
    return position >= begin && position < begin + kBlock * static_cast<std::int64_t>(blocks.size());
  }
  // Bytes of one block, whether it is exact or not.
  static std::size_t bytes_per_block(const Shape& shape);
  // Bytes of a block that is not exact.
  static std::size_t usual_bytes_per_block(const Shape& shape);

  // Forgets the blocks and makes room for `count`.
  void reset(std::int64_t first_boundary, std::size_t count, const Shape& shape);
  // Blocks [first, first + count) alone, in room of their own.
  ViterbiChunk part(std::size_t first, std::size_t count) const;

 private:
  Shape shape_;
  std::size_t room_ = 0;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace semicrf::cpu
