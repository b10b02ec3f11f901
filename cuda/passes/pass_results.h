// What a pass leaves for the host, side by side, so that it comes in one copy.
#pragma once

#include "cuda/device/device_buffer.h"
#include "cuda/device/slices.h"
#include "cuda/passes/agreement.h"

namespace semicrf::cuda {

class PassResults {
 public:
  struct Sizes {
    std::size_t slots = 0;            // slots of states
    std::size_t runs = 0;             // each with a junction and a report
    std::size_t message_entries = 0;  // entries of the messages at the ends of several sequences
  };
  struct View {
    double *whole, *offset;  // (slots) what the entries of a state are relative to
    JunctionResult* junctions;
    double* messages;    // (sequences, C)
    RunReport* reports;  // reports of the runs
  };

  // Room, and zeros.
  void begin(const Sizes& sizes, cudaStream_t stream) {
    bytes_ = slice(sizes, nullptr, nullptr);
    device_memory_.reserve(bytes_);
    host_memory_.reserve(bytes_);
    device_memory_.clear(bytes_, stream);
    slice(sizes, device_memory_.get(), &device_);
    slice(sizes, host_memory_.get(), &host_);
  }
  // Asynchronous.
  void download(cudaStream_t stream) { device_memory_.download(host_memory_.get(), 0, bytes_, stream); }
  const View& device() const { return device_; }
  const View& host() const { return host_; }  // as it was downloaded last

 private:
  // Bytes; fills `view` unless it is null.
  static std::size_t slice(const Sizes& sizes, void* memory, View* view) {
    Slices slices(memory);
    const View here{slices.add<double>(sizes.slots), slices.add<double>(sizes.slots),
                    slices.add<JunctionResult>(sizes.runs), slices.add<double>(sizes.message_entries),
                    slices.add<RunReport>(sizes.runs)};
    if (view != nullptr) *view = here;
    return slices.bytes();
  }

  std::size_t bytes_ = 0;
  DeviceBuffer<unsigned char> device_memory_;
  PinnedBuffer<unsigned char> host_memory_;
  View device_{}, host_{};
};

}  // namespace semicrf::cuda
