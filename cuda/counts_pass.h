// Expected counts of a window, from the messages of both directions and the anchors of its intervals.
#pragma once

#include <vector>

#include "cuda/chunk_pass.h"
#include "cuda/counts_launch.h"

namespace semicrf::cuda {

// What the posterior pass left on the device.
template <class Real>
struct CountsInput {
  MessageStore<Real> forward, backward;
  StateStore forward_states, backward_states;
  const RunReport* backward_reports;
  const AnchorTask* tasks;
  const double *z_whole, *z_offset, *z_log, *norm_log;
  std::size_t num_tasks;
  std::int64_t rows;       // of the stores
  std::int64_t mark;       // positions between marks
  std::int64_t per_chunk;  // marks per chunk of the grid
  const DeviceWindow* window;
};

template <class Real>
class CountsPass {
 public:
  CountsPass(const DeviceChain<Real, LogSemiring>& forward_chain, const ChainModel& model,
             cudaStream_t stream);
  // Adds to the counts chunk by chunk in their order, so that windows do not change a digit.
  void run(const CountsInput<Real>& input, ExpectedCounts& counts);

 private:
  void build_weights();
  BlockNumbers<Real> numbers_of(int which, std::size_t tasks, int blocks);
  CountsParameters<Real> parameters(const CountsInput<Real>& input, std::size_t batch);
  void start_with(const ExpectedCounts& counts);
  void hand_over(const std::vector<double>& totals, ExpectedCounts& counts) const;

  const DeviceChain<Real, LogSemiring>& chain_;
  const ChainModel& model_;
  cudaStream_t stream_;
  std::size_t labels_, groups_, entries_;
  DeviceBuffer<int> bias_power_;
  DeviceBuffer<double> weight_, level_, within_, parts_, chunks_, totals_;
  DeviceBuffer<Real> numbers_[4];
  DeviceBuffer<BlockScale> scales_[4];
};

}  // namespace semicrf::cuda
