// What a pass leaves for the host, side by side, so that it comes in one copy.
#pragma once

#include "cuda/device/device_buffer.h"
#include "cuda/device/slices.h"
#include "cuda/passes/agreement.h"

namespace semicrf::cuda {

class PassResults {
 public:
  struct Sizes {
    std::size_t slots = 0;            // of states
    std::size_t runs = 0;             // each with a junction and a report
    std::size_t message_entries = 0;  // of the messages at the ends of several sequences
  };
  struct View {
    double *whole, *offset;  // (slots) what the entries of a state are relative to
    JunctionResult* junctions;
    double* messages;    // (sequences, C)
    RunReport* reports;  // of all runs, then of those that were repaired
  };

  // Room, also for a second report of every run, and zeros.
  void begin(const Sizes& sizes, cudaStream_t stream) {
    sizes_ = sizes;
    const std::size_t bytes = slice(2 * sizes.runs, nullptr, nullptr);
    device_memory_.reserve(bytes);
    host_memory_.reserve(bytes);
    device_memory_.clear(bytes, stream);
    slice(2 * sizes.runs, device_memory_.get(), &device_);
    slice(2 * sizes.runs, host_memory_.get(), &host_);
  }
  // With so many reports of repaired runs. Asynchronous.
  void download(std::size_t repaired, cudaStream_t stream) {
    const std::size_t bytes = slice(sizes_.runs + repaired, nullptr, nullptr);
    device_memory_.download(host_memory_.get(), 0, bytes, stream);
  }
  const View& device() const { return device_; }
  const View& host() const { return host_; }  // as it was downloaded last

 private:
  // Bytes with so many reports; fills `view` unless it is null.
  std::size_t slice(std::size_t reports, void* memory, View* view) const {
    Slices slices(memory);
    const View here{slices.add<double>(sizes_.slots), slices.add<double>(sizes_.slots),
                    slices.add<JunctionResult>(sizes_.runs), slices.add<double>(sizes_.message_entries),
                    slices.add<RunReport>(reports)};
    if (view != nullptr) *view = here;
    return slices.bytes();
  }

  Sizes sizes_;
  DeviceBuffer<unsigned char> device_memory_;
  PinnedBuffer<unsigned char> host_memory_;
  View device_{}, host_{};
};

}  // namespace semicrf::cuda
