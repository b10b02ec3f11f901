// The traceback over the messages a Viterbi window kept: O(K + C) per segment, no back-pointers.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cpu/chunk_kernel.h"
#include "cpu/page_buffer.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// Messages of the chunks of one window. The scores must outlive it.
class CpuViterbiMessages final : public ViterbiMessages {
 public:
  // `memory` holds what the chunks point to; it goes back to `pages`.
  CpuViterbiMessages(const ChainModel& model, Precision precision, const ScoreWindow& scores,
                     PositionRange range, const BoundaryState* left, std::int64_t chunk_size,
                     std::vector<ViterbiChunk> chunks, PageBuffer memory, std::shared_ptr<PagePool> pages);
  ~CpuViterbiMessages() override { pages_->give_back(std::move(memory_)); }
  CpuViterbiMessages(const CpuViterbiMessages&) = delete;
  CpuViterbiMessages& operator=(const CpuViterbiMessages&) = delete;

  void trace(TraceCursor& cursor, std::vector<Segment>& reversed) const override;

 private:
  // A block and the position of its first boundary.
  struct Place {
    std::size_t chunk;
    std::size_t block;
    std::int64_t begin;
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

  Place place(std::int64_t position) const;
  Place left_of(const Place& at) const;
  const ViterbiChunk::Block& block(const Place& at) const { return chunks_[at.chunk].blocks[at.block]; }
  double block_content(const Place& at, std::size_t label) const {
    const ViterbiChunk& chunk = chunks_[at.chunk];
    return chunk.content[label * chunk.capacity + at.block];
  }
  double number(const Place& at, std::size_t index) const;
  double scaled(const Place& at, std::size_t index, double scale, const Origin& origin) const;
  Origin origin_at(std::int64_t boundary) const;
  double shift(std::size_t chunk, const Origin& origin) const;
  double left_shift(const Origin& origin) const;
  double tail(std::int64_t boundary, std::size_t label, const Origin& origin) const;
  double content(const Place& at, std::int64_t begin, std::int64_t end, std::size_t label) const;
  double content_sum(std::int64_t begin, std::int64_t end, std::size_t label) const;
  double started(std::int64_t boundary, std::size_t label, const Origin& origin) const;

  void scan_block(const Place& at, std::int64_t end, std::size_t label, double content_after,
                  const Origin& origin, Best& best) const;
  void scan_left_state(std::int64_t end, std::size_t label, double content_after, const Origin& origin,
                       Best& best) const;
  void prefetch_left_of(const Place& at) const;
  bool find_start(TraceCursor& cursor, std::vector<Segment>& reversed) const;
  bool follow_tail(TraceCursor& cursor, std::vector<Segment>& reversed) const;
  bool find_source(TraceCursor& cursor) const;
  template <class Number>
  int best_source(const Number* alpha, const double* scale, const double* into) const;
  void close_segment(TraceCursor& cursor, std::int64_t begin, std::int64_t end,
                     std::vector<Segment>& reversed) const;

  const ChainModel& model_;
  bool wide_;  // fast blocks keep doubles
  ScoreWindow scores_;
  PositionRange range_;
  std::optional<BoundaryState> left_;
  std::int64_t chunk_size_;
  std::vector<ViterbiChunk> chunks_;
  PageBuffer memory_;
  std::shared_ptr<PagePool> pages_;
  std::size_t labels_;
  std::size_t values_per_block_;
  mutable std::int64_t prefetched_ = 0;        // first boundary of the block asked for last
  mutable std::size_t last_chunk_ = 0;         // where the last place was found
  mutable std::vector<double> source_scores_;  // (C) workspace
  std::vector<double> position_max_;           // of the range, only under position-max centring
  std::vector<double> reversed_bias_;          // (C, K): entry K - k of a label is the score of duration k
  std::vector<double> largest_bias_;           // (C)
  std::vector<double> into_;                   // (C, C): [to][from] transition scores
};

}  // namespace semicrf::cpu
