// Scores on the device: of a window, of a whole sequence that comes bit by bit, or of several whole sequences
// on rows that they share. A window is the case of one sequence.
//
// The room: scores/ copies scores and features from the host, checks them, adds them up for means, and makes
// scores of features. It includes device/ and what kernels see of a sequence (recursion/run_types.h).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/recursion/run_types.h"
#include "cuda/scores/projection_launch.h"
#include "cuda/scores/score_upload.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

class SequenceScores {
 public:
  // Works for `stream`: what it gets after a call of a function finds what the function put there.
  SequenceScores(int labels, ScoreUpload& copies, cudaStream_t stream)
      : labels_(labels), copies_(copies), stream_(stream) {}

  // A window, or several whole sequences, each from a whole block on. All have the same arrays in the same
  // precision, or features for the same heads, and the same centring. `keep`: room for the window's whole
  // sequence, of which rows that are there already are not copied again. The host's memory is not read after
  // the call.
  void upload(std::span<const ScoreWindow> windows, bool keep);
  // Whether all scores that were copied from the device's memory last are finite or -inf. After the stream
  // was waited for.
  bool copied_sound() const { return *bad_count_.get() == 0; }
  // What cut edges hide of the boundary scores that were uploaded last becomes 0.
  void hide_cut_edges(CutEdges cut);
  // The features of what was uploaded last, where it has such.
  FeatureView features(std::span<const ScoreWindow> windows);

  // Begins to copy a whole sequence ahead of its use: scores, or features, whose scores are made when their
  // rows are wanted.
  void prefetch(const ScoreWindow& whole);
  // Nothing is copied any more.
  void end_prefetch();
  // What ScorePrefetch says of a sequence that was prefetched.
  bool sound(std::int64_t end);
  std::optional<BlockSums> block_sums(double mask);
  // The number of the sequence that is kept, 0: none.
  std::uint64_t sequence() const { return sequence_; }
  // Whether rows of `window` may be added without moving what is there.
  bool holds_sequence(const ScoreWindow& window) const {
    return sequence_ != 0 && window.sequence == sequence_ && window.length == view().length;
  }

  // The view of the first sequence; where there are several, it also shows the rows that they share.
  const SequenceView& view() const { return views_.front(); }
  const SequenceView* on_device() const { return device_views_.get(); }

 private:
  struct Array {
    DeviceBuffer<unsigned char> memory;
    std::size_t value_bytes = 0;  // bytes of a float or a double; 0: there is no array
    DeviceScores view{};
    // Room for so many numbers.
    void place(std::size_t bytes_of_value, std::size_t entries);
  };
  struct Head {
    DeviceBuffer<double> weights, bias;
  };

  void place(std::span<const ScoreWindow> windows, bool keep);
  void send_views(std::span<const ScoreWindow> windows);
  // Makes rows [first, rows_) of what the windows cover, from scores or from features.
  void add_rows(std::span<const ScoreWindow> windows, std::int64_t first, std::int64_t last);
  void copy_scores(std::span<const ScoreWindow> windows);
  void project(std::span<const ScoreWindow> windows, std::int64_t first, std::int64_t last);
  // Positions whose features a window that ends at `end` wants: its heads may look ahead.
  std::int64_t features_end(std::int64_t end) const;
  UploadArray place_features(std::span<const ScoreWindow> windows, std::int64_t rows);
  HeadView head_view(const HeadTable& table);
  std::vector<UploadArray> score_uploads(std::span<const ScoreWindow> windows, std::int64_t first) const;
  // Gives the stream the checks of rows up to `end`, which it then finds on the device; false: they do not
  // come.
  bool begin_checks(std::int64_t end);
  // Whether all checks so far found nothing.
  bool finish_checks();

  int labels_;
  ScoreUpload& copies_;
  cudaStream_t stream_;
  Array emissions_, starts_, ends_, feature_rows_;
  DeviceBuffer<int> true_labels_;
  FeatureView features_{};
  PositionRange feature_range_;  // the positions of a window that they are of; empty: there are none
  std::map<const HeadTable*, Head> heads_;  // that were copied once; they stay as they are
  std::vector<SequenceView> views_;
  std::int64_t rows_ = 0;  // that the sequences share, or that the window or its sequence has
  DeviceBuffer<SequenceView> device_views_;
  DeviceBuffer<double> baselines_;   // (sequences, C)
  std::uint64_t sequence_ = 0;       // that is kept; 0: none
  PositionRange held_;               // its positions that are there
  bool prefetching_ = false;         // the whole sequence is under way
  bool whole_features_ = false;      // its features, of which scores are made
  std::int64_t features_ahead_ = 0;  // rows that heads look ahead
  std::int64_t checked_ = 0;         // rows of the sequence whose checks were given to the stream
  bool sound_ = true;                // none of those that are finished found anything
  DeviceBuffer<int> bad_;
  PinnedBuffer<int> bad_count_;
};

}  // namespace semicrf::cuda
