// Launches the recursion over a list of runs: how many teams work at a time, and their workspace.
#pragma once

#include <map>

#include "cuda/device/device_buffer.h"
#include "cuda/passes/pass_memory.h"
#include "cuda/recursion/run_launch.h"

namespace semicrf::cuda {

template <class Real, class Semiring>
class RunLauncher {
 public:
  explicit RunLauncher(const TileConfig& tile)
      : tile_(tile), multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)) {}

  // Runs the first p.num_queues queues of runs; shape and workspace are filled in here. Asynchronous.
  void launch(RunParameters<Real> p, cudaStream_t stream) {
    p.layout = tile_.layout;
    p.panels = tile_.panels;
    p.parts = tile_.parts;
    p.table_in_shared = tile_.table_in_shared ? 1 : 0;
    p.ring_in_shared = tile_.ring_in_shared ? 1 : 0;
    p.transitions_in_shared = tile_.transitions_in_shared ? 1 : 0;
    const std::size_t count = wide(p.num_queues);
    last_tile_ = spread(tile_, count, multiprocessors_);
    std::size_t& resident = resident_[last_tile_.warps];
    if (resident == 0) resident = wide(resident_blocks<Real, Semiring>(last_tile_));
    const std::size_t per_block = wide(last_tile_.teams_per_block);
    const TeamShape shape{p.tables.labels, p.tables.ring_blocks, tile_.ring_in_shared};
    const std::size_t wanted = std::min(ceil_div(count, per_block), resident) * per_block;
    const std::size_t blocks = std::max<std::size_t>(1, most_teams<Real>(shape, wanted) / per_block);
    const std::size_t teams = blocks * per_block;
    workspace_.reserve(workspace_bytes<Real>(shape, teams));
    slice_workspace(shape, teams, workspace_.get(), p);
    p.teams = static_cast<int>(teams);
    last_ = p;
    last_blocks_ = static_cast<int>(blocks);
    repeat(stream);
  }
  // The last launch once more: for measurements.
  void repeat(cudaStream_t stream) const {
    launch_runs<Real, Semiring>(last_tile_, last_blocks_, last_, stream);
  }

 private:
  TileConfig tile_;
  int multiprocessors_;
  std::map<int, std::size_t> resident_;  // blocks of threads at a time, by warps per block
  DeviceBuffer<unsigned char> workspace_;
  TileConfig last_tile_;
  RunParameters<Real> last_{};
  int last_blocks_ = 0;
};

}  // namespace semicrf::cuda
