// Rows of posteriors on the device, and their way to the host: through two pinned buffers, one filled while
// the other is copied to where its rows belong.
#pragma once

#include <span>
#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/device/stream.h"
#include "cuda/passes/sequence_layout.h"
#include "engine/engine.h"

namespace semicrf::cuda {

template <class Real>
struct PosteriorRows {
  // (rows), (rows, C); only what is wanted is filled.
  DeviceBuffer<Real> boundary, labels, starts, ends;

  // To the arrays that are wanted of the sequences. Waits for them, unless they are on the device.
  void download(const SequenceLayout& layout, std::size_t num_labels, std::span<const PosteriorArrays> out,
                cudaStream_t stream);

 private:
  void copy_array(const DeviceBuffer<Real>& from, std::size_t columns, const SequenceLayout& layout,
                  std::span<const PosteriorArrays> out, void* DevicePosteriors::*array, cudaStream_t stream);
  void download_array(const DeviceBuffer<Real>& from, std::size_t columns, const SequenceLayout& layout,
                      std::span<double* const> to, cudaStream_t stream);

  PinnedBuffer<Real> host_[2];
  Event copied_[2];
};

}  // namespace semicrf::cuda
