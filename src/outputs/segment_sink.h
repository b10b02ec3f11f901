// What sinks of segments share: which segments of a piece the file is for, and what the posteriors say of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "outputs/formats.h"
#include "outputs/path_support.h"

namespace semicrf {

// Hands the segments of every piece on, from left to right. Formats derive from it.
class SegmentSink : public OutputSink {
 public:
  explicit SegmentSink(const SegmentOutput& output)
      : draw_(output.draw), rank_(output.rank), only_(output.only), sequence_(output.sequence) {}

  void begin_piece(const BinLocation& location, const PieceResult& result, bool posteriors_follow) final;
  void add_block(const PosteriorBlock& block) final;
  void end_piece(const PieceResult&) final {
    if (is_about_piece_) end_segments();
  }
  bool is_wanted() const final { return !rank_ || *rank_ == 0 || has_rank_; }

 protected:
  virtual void begin_segments(const BinLocation& location) = 0;
  // `support` is null when no posteriors were computed.
  virtual void add(const Segment& segment, const SegmentPosteriors* support) = 0;
  virtual void end_segments() = 0;
  // All segments of a piece without posteriors.
  virtual void add_path(const SegmentList& path);
  // Whether the file has the segments of all labels.
  bool has_all_labels() const { return only_.empty(); }

 private:
  void add_rank(const PieceResult& result);
  void add_wanted(const Segment& segment, const SegmentPosteriors* support) {
    if (only_.empty() || std::ranges::find(only_, segment.label) != only_.end()) add(segment, support);
  }

  std::optional<std::size_t> draw_, rank_;
  bool has_rank_ = false;  // some piece
  std::vector<int> only_;
  std::optional<std::string> sequence_;
  bool is_about_piece_ = true;  // the latest piece is of the sequence
  PathSupport support_;
};

}  // namespace semicrf
