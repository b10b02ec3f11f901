// A forward pass that keeps what it finds at some positions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/chain_model.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "io/files/temp_spool.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_loop.h"

namespace semicrf {

// Rows of numbers of some positions of a sequence, kept for a later pass: in memory while they are few, else
// in a temporary file.
//
// The ranges sorted, with those that touch merged.
std::vector<PositionRange> merged(std::vector<PositionRange> ranges);

class MessageRows {
 public:
  // Rows of `width` numbers for the positions of `wanted`, which are sorted and do not touch.
  MessageRows(std::vector<PositionRange> wanted, std::size_t width);

  // Calls fill(begin, end, rows) for stretches [begin, end) of wanted positions in `range`; it writes (end -
  // begin) rows of `width` numbers. Ranges follow each other from 0 on; finish() after the last.
  template <class Fill>
  void take(PositionRange range, Fill fill) {
    for (; next_ < wanted_.size() && wanted_[next_].begin < range.end; ++next_) {
      std::int64_t t = std::max(wanted_[next_].begin, range.begin);
      const std::int64_t stop = std::min(wanted_[next_].end, range.end);
      while (t < stop) {
        const std::int64_t end = std::min(stop, t + kBlock - rows_);
        fill(t, end, open_.data() + rows_ * width_);
        rows_ += end - t;
        t = end;
        if (rows_ == kBlock) finish();
      }
      if (wanted_[next_].end > range.end) return;
    }
  }
  void finish();

  // The rows of [begin, end), all of one wanted range, from the first to the last. Several threads may read.
  std::vector<double> read(std::int64_t begin, std::int64_t end) const;

 private:
  static constexpr std::int64_t kBlock = 256;  // rows

  std::vector<PositionRange> wanted_;
  std::vector<std::int64_t> first_rows_;  // first row of each wanted range
  std::size_t width_;
  std::size_t next_ = 0;
  std::vector<double> open_;  // a block that is not full yet
  std::int64_t rows_ = 0;     // rows in open_
  TempSpool blocks_;
};

// The row that a sweep keeps of a position: the level and the C messages of starts; as far as they are
// wanted, the level and the C messages of tails at the boundary right of the position, where the model has
// tails, then C emissions, and C start and C end scores.
struct RowShape {
  struct Parts {
    bool tails = false, scores = false, boundary = false;
  };
  RowShape(const ChainModel& model, const Parts& parts);

  std::size_t labels;
  std::size_t starts, tails, emissions, boundary, width;  // columns where the parts of a row begin, and its
                                                          // width
  bool has_tail, has_scores, has_boundary;
};

// Whether any position has a start or end score.
bool has_boundary_scores(const ChainModel& model, ScoreSource& source);

// One forward pass, which keeps in `rows` what `shape` has of the positions that `rows` wants, in the labels
// of the model. Returns the state at the sequence's end; nothing where no segmentation is possible.
std::optional<BoundaryState> keep_messages(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                                           const PieceChain& chain, const RowShape& shape, MessageRows& rows,
                                           ChunkTotals& totals, const ProgressCallback& progress);

// A chain and its scores read from right to left. The forward messages of the reversed sequence are the
// backward messages of the sequence, in the log domain and by any engine.
//
// Every segmentation, mirrored, has the same score as in `model` in the log semiring: transitions are
// transposed, pi_start and pi_end change places, and the initial term becomes a part of pi_end.
ChainModel reversed(const ChainModel& model);

// Position t of it is position T-1-t of `source`, which must outlive it; start and end scores change places.
class ReversedSource : public ScoreSource {
 public:
  ReversedSource(ScoreSource& source, int num_labels)
      : source_(source), projected_(source), labels_(num_labels) {}

  std::int64_t length() const override { return source_.length(); }
  std::size_t bytes_per_position() const override {
    return source_.bytes_per_position() + 3 * labels_ * sizeof(double);
  }
  std::size_t score_bytes() const override { return source_.score_bytes(); }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override;

 private:
  ScoreSource& source_;
  HostProjection projected_;
  std::size_t labels_;
  ScoreBuffers forward_;
};

// A piece read from right to left: engines of the reversed chains, and scores for them.
class ReversedPiece {
 public:
  // All arguments must outlive it.
  ReversedPiece(const EngineOptions& options, const Engine& engine, ScoreSource& source,
                const PieceChain& chain);

  Engine& engine() { return *engine_; }
  ScoreSource& source() { return *source_; }
  const PieceChain& chain() const { return chain_; }

 private:
  void use_roles_everywhere(const EngineOptions& options, const EdgeWindows& edges);

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> left_engine_, right_engine_;  // engines of the windows at its edges
  std::unique_ptr<ScoreSource> source_;
  std::optional<EdgeRoles> roles_;  // roles of the reversed piece, where it has them everywhere
  EdgeWindows edges_;
  PieceChain chain_;
};

}  // namespace semicrf
