// Anchors: log Z at the right end of every interval between marks, from the states of both directions there,
// and the mass that crosses it (docs/algorithm.md, "Posteriors").
#pragma once

#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/passes/chunk_pass.h"
#include "cuda/posteriors/posterior_launch.h"

namespace semicrf::cuda {

template <class Real>
class Anchors {
 public:
  using Sweep = ChunkPass<Real, LogSemiring>;
  // Fills tables, once for a model.
  void prepare(const ChainTables<Real, LogSemiring>& tables, cudaStream_t stream);
  // Lists the intervals, sequence by sequence and left to right, and finds their anchors. Asynchronous.
  void find(const SequenceLayout& layout, const Sweep& forward, const Sweep& backward, cudaStream_t stream);
  const std::vector<AnchorTask>& tasks() const { return tasks_; }
  // What find() gave the device, and where the results lie there, until its next call.
  const AnchorParameters& on_device() const { return parameters_; }
  // Entries that were computed in the log domain, per interval. Asynchronous.
  void download_fallbacks(cudaStream_t stream);
  const int* fallbacks() const { return host_fallbacks_.get(); }

 private:
  void list_tasks(const SequenceLayout& layout, const Sweep& forward, const Sweep& backward);

  DeviceBuffer<double> bias_linear_;  // see AnchorBias
  std::vector<AnchorTask> tasks_;
  AnchorParameters parameters_{};
  DeviceBuffer<unsigned char> memory_;  // for workspace and results
  PinnedBuffer<AnchorTask> host_tasks_;
  DeviceBuffer<AnchorTask> device_tasks_;
  PinnedBuffer<int> host_fallbacks_;
};

}  // namespace semicrf::cuda
