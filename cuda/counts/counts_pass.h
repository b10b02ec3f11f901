// Expected counts, from the messages of both directions and the anchors of their intervals.
//
// The room: counts/ has this alone, with a kernel per kind of counts. It includes passes/ and the task of an
// interval (posteriors/posterior_launch.h).
#pragma once

#include <vector>

#include "cuda/counts/counts_launch.h"
#include "cuda/passes/chunk_pass.h"

namespace semicrf::cuda {

// What the posterior pass left on the device, of all sequences.
template <class Real>
struct CountsWork {
  CountsParameters<Real> parameters{};  // messages, states, sequences, and the intervals with their anchors
  std::size_t num_tasks = 0;            // intervals
  std::int64_t rows = 0;                // rows of the stores
  std::int64_t mark = 0;                // positions between marks
  std::vector<std::int64_t> chunk_begins;  // intervals: where each chunk of the grid begins; and their number
  std::vector<ExpectedCounts*> sums;       // what consecutive chunks are added to, one after the other
  std::vector<std::int64_t> sum_begins;    // chunks: where those of each sum begin; and their number
  bool subtract_position_max = false;
};

template <class Real>
class CountsPass {
 public:
  CountsPass(const DeviceChain<Real, LogSemiring>& forward_chain, const ChainModel& model,
             cudaStream_t stream);
  // Adds to the counts chunk by chunk in their order, so that neither windows nor batches change a digit.
  // Gives everything to the stream; write_sums() is for when it was waited for.
  void begin(const CountsWork<Real>& work);
  void write_sums() const;

 private:
  void build_weights();
  BlockNumbers<Real> numbers_of(int which, std::size_t tasks, int blocks);
  CountsParameters<Real> parameters(const CountsWork<Real>& work, std::size_t batch);
  void send_sums();
  void send_begins(const CountsWork<Real>& work);

  const DeviceChain<Real, LogSemiring>& chain_;
  const ChainModel& model_;
  cudaStream_t stream_;
  std::size_t labels_, groups_, entries_;
  std::vector<ExpectedCounts*> sums_;  // the sums that the work begun last adds to
  DeviceBuffer<int> bias_power_;
  DeviceBuffer<double> weight_, level_, within_, parts_, chunks_, totals_;
  DeviceBuffer<TailPiece> tails_;
  DeviceBuffer<std::int64_t> begins_;
  PinnedBuffer<std::int64_t> host_begins_;
  PinnedBuffer<double> host_totals_;
  DeviceBuffer<Real> numbers_[4];
  DeviceBuffer<BlockScale> scales_[4];
};

}  // namespace semicrf::cuda
