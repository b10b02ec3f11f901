// Copies scores from pageable host memory to the device: threads copy slices into pinned buffers, from where
// the device fetches them, so that both happen at the same time and beside the kernels.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/device/cuda_check.h"
#include "cuda/device/device_buffer.h"

namespace semicrf::cuda {

// Rows [first_row, first_row + rows) of an array, side by side on the host.
struct UploadPart {
  const unsigned char* from = nullptr;
  std::int64_t first_row = 0, rows = 0;
};
// One array on the device. Rows between its parts become zeros.
struct UploadArray {
  unsigned char* to = nullptr;
  std::size_t row_bytes = 0;
  std::vector<UploadPart> parts;  // in the order of their rows
};

class ScoreUpload {
 public:
  ScoreUpload(int device, int threads);
  ~ScoreUpload();
  ScoreUpload(const ScoreUpload&) = delete;
  ScoreUpload& operator=(const ScoreUpload&) = delete;

  // Begins to copy rows [0, rows) of all arrays; one call at a time. The host's memory must stay until all
  // rows were waited for, or stop().
  void begin(std::vector<UploadArray> arrays, std::int64_t rows);
  // Work that is given to `stream` from now on finds rows [0, rows) on the device.
  void wait(std::int64_t rows, cudaStream_t stream);
  // Whether all rows are in the stream of the copies.
  bool complete();
  // Ends the copying as soon as possible; the arrays are not read any more.
  void stop();

 private:
  struct Worker;
  void copy_slices(Worker& worker);
  void copy_slice(Worker& worker, std::int64_t slice);

  int device_;
  Event arrived_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Stream stream_;  // stream of the copies; ends before what they copy from
  std::vector<UploadArray> arrays_;
  std::int64_t rows_ = 0, slice_rows_ = 1, slices_ = 0;
  std::size_t row_bytes_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable submitted_;
  std::vector<char> done_;       // per slice: its copies are in the stream
  std::int64_t done_until_ = 0;  // and those of all before this one
  std::exception_ptr error_;
};

}  // namespace semicrf::cuda
