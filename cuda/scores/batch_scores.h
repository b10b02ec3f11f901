// Scores of several whole sequences on the device, on the rows that they share.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/scores/feature_projection.h"
#include "cuda/device/pinned_buffer.h"
#include "cuda/recursion/run_types.h"
#include "cuda/passes/sequence_layout.h"

namespace semicrf::cuda {

class BatchScores {
 public:
  // For the work that `stream` gets from now on. All sequences have the same arrays in the same precision, or
  // features for the same heads, and the same centring. Their memory is not read after the call.
  void upload(std::span<const ScoreWindow> sequences, const SequenceLayout& layout, int labels,
              cudaStream_t stream);

  const SequenceView* on_device() const { return views_.get(); }
  // The rows that they share, as if they were one sequence; the baseline is that of the first.
  SequenceView common_rows() const { return host_views_.get()[0]; }
  // Of the sequences that were uploaded last, where these had features.
  const FeatureView& features() const { return features_; }
  bool subtract_position_max() const { return subtract_position_max_; }

 private:
  struct Array {
    DeviceBuffer<float> f32;
    DeviceBuffer<double> f64;
  };
  struct Batch {
    std::span<const ScoreWindow> sequences;
    const SequenceLayout& layout;
    std::size_t labels;
  };
  // The rows of an array in every sequence.
  template <class Value>
  struct Source {
    std::function<const Value*(const ScoreWindow&)> of;
    std::size_t columns;
  };
  template <class Value>
  static void fill(const Batch& batch, const Source<Value>& source, std::int64_t first, std::int64_t count,
                   Value* to);
  template <class Value>
  void send_values(const Batch& batch, const Source<Value>& source, DeviceBuffer<Value>& to,
                   cudaStream_t stream);
  DeviceScores send(const Batch& batch, const std::function<const ScoreArray&(const ScoreWindow&)>& of,
                    std::size_t columns, Array& array, cudaStream_t stream);
  void send_scores(const Batch& batch, cudaStream_t stream);
  void send_features(const Batch& batch, cudaStream_t stream);
  // What the kernels see of the sequences; scores are there, or room for them.
  void send_views(const Batch& batch, cudaStream_t stream);
  void project(const Batch& batch, cudaStream_t stream);
  const double* send_baselines(const Batch& batch, cudaStream_t stream);

  Array emissions_, starts_, ends_;
  DeviceScores emission_view_{}, start_view_{}, end_view_{};
  Array feature_rows_;
  DeviceBuffer<int> true_labels_;
  FeatureView features_{};
  HeadTables tables_;
  DeviceBuffer<double> baselines_;
  DeviceBuffer<SequenceView> views_;
  PinnedBuffer<double> host_baselines_;
  PinnedBuffer<SequenceView> host_views_;
  PinnedBuffer<unsigned char> slices_[2];
  Event copied_[2];
  int turn_ = 0;
  bool subtract_position_max_ = false;
};

}  // namespace semicrf::cuda
