// Expected counts of a window: what the passes and the anchors left on the device goes to CountsPass.
#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {

template <class Real>
void CudaEngine<Real>::count_all(const std::vector<AnchorTask>& tasks, const Work& work,
                                 const ExpectedCounts& counts) {
  CountsInput<Real> input{};
  input.forward = forward_store_.view();
  input.backward = backward_store_.view();
  input.forward_states = log_forward().states();
  input.backward_states = log_backward().states();
  input.tasks = anchor_buffer_.get();
  input.z_whole = z_whole_.get();
  input.z_offset = z_offset_.get();
  input.z_log = z_log_.get();
  input.norm_log = norm_log_.get();
  input.num_tasks = tasks.size();
  input.rows = static_cast<std::int64_t>(forward_store_.blocks()) * kBlock;
  input.mark = work.plan.layout.longest_mark();
  input.sequences = work.sequences;
  input.subtract_position_max = work.subtract_position_max;
  // Windows and sequences begin with a chunk.
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (tasks[i].begin % grid_.chunk == 0) input.chunk_begins.push_back(static_cast<std::int64_t>(i));
  input.chunk_begins.push_back(static_cast<std::int64_t>(tasks.size()));
  counts_pass_->begin(input, counts);
}

template void CudaEngine<float>::count_all(const std::vector<AnchorTask>&, const Work&,
                                           const ExpectedCounts&);
template void CudaEngine<double>::count_all(const std::vector<AnchorTask>&, const Work&,
                                            const ExpectedCounts&);

}  // namespace semicrf::cuda
