// Errors of the CUDA runtime as errors of ours. Declared only, so that what nvcc compiles sees no strings.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace semicrf::cuda {

// DeviceError with the call, the error and the place, unless `status` is success.
void check(cudaError_t status, const char* call, const char* file, int line);
// An attribute of the current device.
int device_attribute(cudaDeviceAttr attribute);
// DeviceError: a block of threads of this shape does not fit on the device.
[[noreturn]] void refuse_shape(int warps, std::size_t shared_bytes);

}  // namespace semicrf::cuda

// The name of the source without its folders: a program must not depend on the folder it was built in.
#ifdef __FILE_NAME__
#define SEMICRF_SOURCE_NAME __FILE_NAME__
#else  // GCC before 12
#define SEMICRF_SOURCE_NAME __FILE__
#endif
#define SEMICRF_CUDA_CHECK(call) ::semicrf::cuda::check((call), #call, SEMICRF_SOURCE_NAME, __LINE__)

namespace semicrf::cuda {

// Owned streams and events.
//
// A stream of the current device.
class Stream {
 public:
  enum class Order { kUsual, kFirst };  // kFirst: its blocks of threads go before those of other streams
  explicit Stream(Order order = Order::kUsual) {
    int least = 0, greatest = 0;
    SEMICRF_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    SEMICRF_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                                    order == Order::kFirst ? greatest : least));
  }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { SEMICRF_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { SEMICRF_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  // The host waits; not at all where nothing was recorded yet.
  void wait() const { SEMICRF_CUDA_CHECK(cudaEventSynchronize(event_)); }
  // What `stream` gets from now on waits.
  void make_wait(cudaStream_t stream) const { SEMICRF_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0)); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace semicrf::cuda
