// Scores on the device: of a window, or of a whole sequence that was brought up bit by bit.
#pragma once

#include <optional>

#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/device/pinned_buffer.h"
#include "cuda/recursion/run_types.h"
#include "cuda/scores/feature_projection.h"
#include "cuda/scores/score_upload.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

class DeviceWindow {
 public:
  // Scores of `window` for the work that `stream` gets from now on. `keep`: room for the whole sequence, of
  // which what is there already is not copied again. The window's memory is not read after the call.
  void upload(const ScoreWindow& window, int labels, bool keep, ScoreUpload& copies, cudaStream_t stream);
  // The features of a window with such, whose scores were uploaded.
  FeatureView features(const ScoreWindow& window, ScoreUpload& copies, cudaStream_t stream);
  // Begins to bring up a whole sequence.
  void prefetch(const ScoreWindow& whole, int labels, ScoreUpload& copies);
  // Nothing is brought up any more.
  void end_prefetch(ScoreUpload& copies);
  // Of a sequence that was prefetched: see ScorePrefetch.
  bool sound(std::int64_t end, int labels, ScoreUpload& copies, cudaStream_t stream);
  std::optional<BlockSums> block_sums(double mask, int labels, ScoreUpload& copies, cudaStream_t stream);
  std::uint64_t sequence() const { return sequence_; }

  // Whether rows of `window` may be added without moving what is there.
  bool holds_sequence(const ScoreWindow& window) const {
    return sequence_ != 0 && window.sequence == sequence_ && window.length == view_.length;
  }
  const SequenceView& view() const { return view_; }
  const SequenceView* on_device() const { return sequence_view_.get(); }

 private:
  class Array {
   public:
    void place(bool single, bool wide, std::size_t entries);
    DeviceScores view() const;
    // Where rows from `first_row` on of the device's array come from.
    void add_to(std::vector<UploadArray>& uploads, const ScoreArray& from, std::size_t skip,
                std::size_t first_row, std::size_t labels) const;

   private:
    DeviceBuffer<float> f32_;
    DeviceBuffer<double> f64_;
    bool single_ = false, wide_ = false;
  };
  void place(const ScoreWindow& window, PositionRange rows, int labels);
  // Makes the rows from held_ to the end of the window from features.
  void project(const ScoreWindow& window, int labels, ScoreUpload& copies, cudaStream_t stream);
  std::vector<UploadArray> uploads_of(const ScoreWindow& window, std::int64_t first, int labels) const;
  // Gives `stream` the checks of rows up to `end`, which it then finds on the device; false: they do not
  // come.
  bool begin_checks(std::int64_t end, int labels, ScoreUpload& copies, cudaStream_t stream);
  // Whether all checks so far found nothing.
  bool finish_checks(cudaStream_t stream);

  Array emissions_, starts_, ends_;
  Features features_;           // of the window that was added last
  FeatureView feature_view_{};  // of it
  PositionRange feature_rows_;  // the positions they are of
  HeadTables tables_;
  DeviceBuffer<double> baseline_;
  DeviceBuffer<SequenceView> sequence_view_;
  SequenceView view_{};
  std::uint64_t sequence_ = 0;  // whose rows these are; 0: a window's
  PositionRange held_;          // positions that are there
  bool prefetching_ = false;    // the whole sequence is under way
  std::int64_t checked_ = 0;    // rows of the sequence whose checks were given to the stream of the window
  bool sound_ = true;           // none of those that are finished found anything
  DeviceBuffer<int> bad_;
  PinnedBuffer<int> bad_count_;
};

}  // namespace semicrf::cuda
