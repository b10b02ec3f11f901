// A window's scores on the device.
#pragma once

#include "core/score_window.h"
#include "cuda/device_buffer.h"
#include "cuda/run_types.h"

namespace semicrf::cuda {

class DeviceWindow {
 public:
  void upload(const ScoreWindow& window, int labels, cudaStream_t stream) {
    const auto entries =
        static_cast<std::size_t>(window.end - window.begin) * static_cast<std::size_t>(labels);
    view_ = SequenceView{};
    view_.emissions = emissions_.upload(window.emissions, entries, stream);
    view_.starts = starts_.upload(window.start_scores, entries, stream);
    view_.ends = ends_.upload(window.end_scores, entries, stream);
    if (!window.baseline.empty()) {
      baseline_.upload(window.baseline.data(), window.baseline.size(), stream);
      view_.baseline = baseline_.get();
    }
    view_.begin = window.begin;
    view_.rows = window.end - window.begin;
    view_.length = window.length;
    view_.subtract_position_max = window.subtract_position_max ? 1 : 0;
    sequence_.upload(&view_, 1, stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  const SequenceView& view() const { return view_; }
  const SequenceView* on_device() const { return sequence_.get(); }

 private:
  struct Array {
    DeviceBuffer<float> f32;
    DeviceBuffer<double> f64;
    DeviceScores upload(const ScoreArray& array, std::size_t entries, cudaStream_t stream) {
      if (array.f32 != nullptr) {
        f32.upload(array.f32, entries, stream);
        return {f32.get(), nullptr};
      }
      if (array.f64 != nullptr) {
        f64.upload(array.f64, entries, stream);
        return {nullptr, f64.get()};
      }
      return {nullptr, nullptr};
    }
  };
  Array emissions_, starts_, ends_;
  DeviceBuffer<double> baseline_;
  DeviceBuffer<SequenceView> sequence_;
  SequenceView view_{};
};

}  // namespace semicrf::cuda
