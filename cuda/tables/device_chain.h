// A model's tables on the device, for one direction, precision and semiring.
#pragma once

#include <vector>

#include "cuda/tables/chain_tables.h"
#include "cuda/device/device_buffer.h"
#include "cuda/recursion/run_types.h"
#include "cuda/tables/tile_config.h"

namespace semicrf::cuda {

template <class Real, class Semiring>
class DeviceChain {
 public:
  DeviceChain(const ChainModel& model, Direction direction, const TileConfig& tile, cudaStream_t stream)
      : host_(model, direction, tile.table_width, tile.block_team ? model.num_labels : tile.rows,
              tile.block_team ? DurationLayout::kByGroup : DurationLayout::kByDistance) {
    for (const auto& [from, to] : {std::pair{&host_.duration_table, &duration_table_},
                                   {&host_.near_table, &near_table_},
                                   {&host_.transition, &transition_},
                                   {&host_.tail_factor, &tail_factor_}}) {
      to->upload(*from, stream);
    }
    const std::vector<const std::vector<double>*> doubles{
        &host_.bias,         &host_.transition_log, &host_.log_tail,        &host_.last_bias,
        &host_.first_scores, &host_.last_scores,    &host_.tail_correction, &host_.transition_bound,
        &host_.source_bound};
    doubles_.resize(doubles.size());
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles_[i].upload(*doubles[i], stream);
    const std::vector<const std::vector<int>*> ints{&host_.duration_bound, &host_.transition_units,
                                                    &host_.source_units};
    ints_.resize(ints.size());
    for (std::size_t i = 0; i < ints.size(); ++i) ints_[i].upload(*ints[i], stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  const ChainTables<Real, Semiring>& host() const { return host_; }
  TablesView<Real> view() const {
    TablesView<Real> v{};
    v.labels = host_.labels;
    v.width = host_.width;
    v.duration = host_.duration;
    v.offsets = host_.offsets;
    v.ring_blocks = host_.ring_blocks;
    v.rows = host_.rows;
    v.tail = host_.tail;
    v.initial_transition = host_.initial_transition;
    v.near_vanished = host_.near_vanished;
    v.transition_vanished = host_.transition_vanished;
    v.too_large = host_.too_large;
    v.least_total = static_cast<Real>(host_.least_total);
    v.least_start = static_cast<Real>(host_.least_start);
    v.duration_table = duration_table_.get();
    v.near_table = near_table_.get();
    v.transition = transition_.get();
    v.tail_factor = tail_factor_.get();
    v.bias = doubles_[0].get();
    v.transition_log = doubles_[1].get();
    v.log_tail = doubles_[2].get();
    v.last_bias = doubles_[3].get();
    v.first_scores = doubles_[4].get();
    v.last_scores = doubles_[5].get();
    v.tail_correction = doubles_[6].get();
    v.duration_bound = ints_[0].get();
    v.transition_units = ints_[1].get();
    v.source_units = ints_[2].get();
    v.transition_bound = doubles_[7].get();
    v.source_bound = doubles_[8].get();
    return v;
  }

 private:
  ChainTables<Real, Semiring> host_;
  DeviceBuffer<Real> duration_table_, near_table_, transition_, tail_factor_;
  std::vector<DeviceBuffer<double>> doubles_;
  std::vector<DeviceBuffer<int>> ints_;
};

}  // namespace semicrf::cuda
