// The Viterbi traceback: follows the best path right to left through kept messages: O(K + C) per segment, no
// back-pointers (docs/algorithm.md, "Viterbi without back-pointers").
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cpu/score_view.h"
#include "cpu/viterbi/trace_scans.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// Messages of the max semiring over consecutive blocks of one chunk, as the traceback reads them.
//
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

// Scores of the model in the order in which the traceback reads them, padded for its vectors. The model must
// outlive it. The instruction set is the best that is enabled when it is made.
struct TraceTables {
  explicit TraceTables(const ChainModel& chain);

  AllTraceScans scans;
  const ChainModel* model;
  std::size_t labels;
  std::int64_t longest;  // K
  std::vector<double>
      reversed_bias;  // (C, K) after 16 unused: entry K - k of a label is the score of duration k
  std::vector<double> largest_bias;  // (C)
  std::vector<double> into;          // (C, C): [to][from] transition scores
};

class PathTracer {
 public:
  // The messages that cover a position; they stay where they are until the next call.
  using Locate = std::function<const ViterbiChunk&(std::int64_t position)>;

  explicit PathTracer(const TraceTables& tables);

  // What the steps below read. `left` is the true state at range.begin, null where the sequence begins or
  // where it is not known: then nothing left of range.begin can be followed. All must outlive the steps.
  void look_at(const ScoreWindow& scores, PositionRange range, const BoundaryState* left, Locate locate);
  // After messages that were located have moved.
  void forget_place() { here_ = nullptr; }

  // The label with the largest alpha at a boundary inside the range.
  int best_label(std::int64_t boundary);

  // Makes one step, which may append a segment. False: the step needs what lies left of the range, or the
  // path is done.
  bool step(TraceCursor& cursor, std::vector<Segment>& reversed);

 private:
  // A block and the position of its first boundary.
  struct Place {
    const ViterbiChunk* chunk;
    std::size_t block;
    std::int64_t begin;

    const ViterbiChunk::Block& operator*() const { return chunk->blocks[block]; }
    double content(std::size_t label) const { return chunk->content[label * chunk->capacity + block]; }
    std::uint16_t cuts(std::size_t label) const {
      return chunk->cuts.empty() ? std::uint16_t{0} : chunk->cuts[label * chunk->capacity + block];
    }
    // The first slot from which a segment of the label goes on up to `end`.
    int first_open_slot(std::size_t label, std::int64_t end) const {
      return ViterbiChunk::first_open_slot(cuts(label),
                                           static_cast<int>(std::min<std::int64_t>(kBlock, end - begin)));
    }
  };
  // What values are relative to: a whole number and the rest.
  struct Origin {
    double whole = 0;
    double offset = 0;
  };
  // The best start found so far of the segment that is being followed.
  struct Best {
    double score = kNegativeInfinity;
    std::int64_t duration = 1;
  };

  Place place(std::int64_t position);
  Place left_of(const Place& at);
  double exact(const Place& at, std::size_t index, const Origin& origin) const;
  double alpha(const Place& at, std::size_t slot, std::size_t label, const Origin& origin) const;
  Origin origin_at(std::int64_t boundary);
  static double shift(const ViterbiChunk& chunk, const Origin& origin);
  double left_shift(const Origin& origin) const;
  double tail(std::int64_t boundary, std::size_t label, const Origin& origin);
  double content(const Place& at, std::int64_t begin, std::int64_t end, std::size_t label) const;
  double content_sum(std::int64_t begin, std::int64_t end, std::size_t label);
  double started(std::int64_t boundary, std::size_t label, const Origin& origin);

  void scan_block(const Place& at, std::int64_t end, std::size_t label, double content_after,
                  const Origin& origin, Best& best) const;
  void scan_left_state(std::int64_t end, std::size_t label, double content_after, const Origin& origin,
                       Best& best);
  bool find_start(TraceCursor& cursor, std::vector<Segment>& reversed);
  bool follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed);
  bool find_source(TraceCursor& cursor);

  const TraceTables& t_;
  const ScoreWindow* scores_ = nullptr;
  PositionRange range_;
  const BoundaryState* left_ = nullptr;
  Locate locate_;
  const ViterbiChunk* here_ = nullptr;  // where the last place was found
  std::vector<double> source_scores_;   // two times C, rounded up for vectors: workspace
};

}  // namespace semicrf::cpu
