// The Viterbi traceback: follows the best path right to left through kept messages: O(K + C) per segment, no
// back-pointers (docs/algorithm.md, "Viterbi without back-pointers").
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cpu/viterbi/trace_scans.h"
#include "cpu/viterbi/viterbi_chunk.h"
#include "engine/engine.h"

namespace semicrf::cpu {

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
