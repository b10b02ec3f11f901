// The device memory of one call of the plain engine: the sequence, its messages and what is made of them,
// side by side in one piece.
#pragma once

#include <cstddef>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "cuda/device/device_buffer.h"
#include "cuda/device/slices.h"
#include "cuda/plain/plain_launch.h"

namespace semicrf::cuda {

enum class PlainPass {
  kPath,        // forward messages and the traceback
  kForward,     // forward messages alone
  kPosteriors,  // both directions and posteriors
  kCounts,      // and expected counts
};

struct PlainArrays {
  PlainSequence sequence;
  PlainForward forward;
  PlainBackward backward;
  PlainPosteriors posteriors;
  PlainCounts counts;
  PlainState state;  // state of whichever boundary is at hand
  PlainPath* path = nullptr;
  Segment* segments = nullptr;
};
// Measures the arrays of a pass over T positions, or slices them.
PlainArrays slice_arrays(const ChainModel& model, std::int64_t length, PlainPass pass, Slices& slices);
// Bytes of the device, with what the memory pool may round up.
std::size_t plain_bytes(const ChainModel& model, std::int64_t length, PlainPass pass);

class PlainWorkspace {
 public:
  // Copies the chain and the scores of a whole sequence, centred, to the current device. `stream` must live
  // as long; MemoryError where the device has not enough memory.
  PlainWorkspace(const ChainModel& model, const ScoreWindow& whole, PlainPass pass, cudaStream_t stream);

  const PlainArrays& arrays() const { return arrays_; }
  cudaStream_t stream() const { return stream_; }

  // Copies numbers to the host, when the device has made them.
  void fetch(const double* from, std::size_t count, double* to) const;
  std::vector<double> fetch(const double* from, std::size_t count) const;

 private:
  void upload(double* to, const std::vector<double>& from) const;
  void upload_scores(const ChainModel& model, const ScoreWindow& whole) const;

  DeviceBuffer<unsigned char> memory_;
  PlainArrays arrays_;
  cudaStream_t stream_;
};

}  // namespace semicrf::cuda
