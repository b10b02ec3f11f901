// Scores of several whole sequences on the device, on the rows that they share.
#pragma once

#include <span>
#include <vector>

#include "core/score_window.h"
#include "cuda/device_buffer.h"
#include "cuda/pinned_buffer.h"
#include "cuda/run_types.h"
#include "cuda/sequence_layout.h"

namespace semicrf::cuda {

class BatchScores {
 public:
  // For the work that `stream` gets from now on. All sequences have the same arrays in the same precision,
  // and the same centring. Their memory is not read after the call.
  void upload(std::span<const ScoreWindow> sequences, const SequenceLayout& layout, int labels,
              cudaStream_t stream);

  const SequenceView* on_device() const { return views_.get(); }
  // The rows that they share, as if they were one sequence; the baseline is that of the first.
  SequenceView common_rows() const { return host_views_.get()[0]; }
  bool subtract_position_max() const { return subtract_position_max_; }

 private:
  struct Array {
    DeviceBuffer<float> f32;
    DeviceBuffer<double> f64;
  };
  // One of the arrays of every sequence.
  struct Source {
    std::span<const ScoreWindow> sequences;
    const SequenceLayout& layout;
    ScoreArray ScoreWindow::*scores;
    std::size_t labels;
  };
  template <class Value>
  static void fill(const Source& source, std::int64_t first, std::int64_t count, Value* to);
  template <class Value>
  void send_values(const Source& source, DeviceBuffer<Value>& to, cudaStream_t stream);
  DeviceScores send(const Source& source, Array& array, cudaStream_t stream);
  const double* send_baselines(const Source& source, cudaStream_t stream);

  Array emissions_, starts_, ends_;
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
