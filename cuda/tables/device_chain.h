// A model's tables on the device, for one direction, precision and semiring.
#pragma once

#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/tables/chain_tables.h"
#include "cuda/tables/tile_config.h"
#include "engine/cut_edges.h"

namespace semicrf::cuda {

// The ring, the message and the tail of a state, as they lie on the device: (K + 2, C).
inline std::vector<double> entries_of(const BoundaryState& state) {
  std::vector<double> entries = state.ring;
  entries.insert(entries.end(), state.message.begin(), state.message.end());
  entries.insert(entries.end(), state.tail.begin(), state.tail.end());
  entries.resize(state.ring.size() + 2 * state.message.size(), kNegativeInfinity);
  return entries;
}

template <class Real, class Semiring>
class DeviceChain {
 public:
  DeviceChain(const ChainModel& model, Direction direction, const TileConfig& tile, cudaStream_t stream)
      : host_(model, direction, tile.table_width, tile.block_team ? model.num_labels : tile.rows,
              tile.block_team ? DurationLayout::kByGroup : DurationLayout::kByDistance) {
    const auto upload = [&](auto& buffers, const auto& table) {
      buffers.emplace_back().upload(table, stream);
      return buffers.back().get();
    };
    static_cast<ChainShape&>(view_) = host_;
    view_.least_total = static_cast<Real>(host_.least_total);
    view_.least_start = static_cast<Real>(host_.least_start);
    view_.duration_table = upload(reals_, host_.duration_table);
    view_.near_table = upload(reals_, host_.near_table);
    view_.score_numbers = upload(reals_, host_.score_numbers);
    view_.score_units = upload(ints_, host_.score_units);
    view_.transition = upload(reals_, host_.transition);
    view_.tail_factor = upload(reals_, host_.tail_factor);
    view_.bias = upload(doubles_, host_.bias);
    view_.largest_bias = upload(doubles_, host_.largest_bias);
    view_.transition_log = upload(doubles_, host_.transition_log);
    view_.transition_bound = upload(doubles_, host_.transition_bound);
    view_.source_bound = upload(doubles_, host_.source_bound);
    view_.log_tail = upload(doubles_, host_.log_tail);
    view_.last_bias = upload(doubles_, host_.last_bias);
    view_.tail_correction = upload(doubles_, host_.tail_correction);
    view_.first_scores = upload(doubles_, host_.first_scores);
    view_.last_scores = upload(doubles_, host_.last_scores);
    view_.duration_bound = upload(ints_, host_.duration_bound);
    view_.duration_spread = upload(shorts_, host_.duration_spread);
    view_.transition_units = upload(ints_, host_.transition_units);
    view_.source_units = upload(ints_, host_.source_units);
    view_.level_units = upload(ints_, host_.level_units);
    if (const std::vector<int> twins = semicrf::edge_twins(model, direction); !twins.empty())
      edge_twins_ = upload(ints_, twins);
    if (host_.cut_begin != 0)
      state_at_cut_ = upload(doubles_, entries_of(semicrf::state_at_cut(model, direction)));
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  const ChainTables<Real, Semiring>& host() const { return host_; }
  const TablesView<Real>& view() const { return view_; }
  // (C) on the device, see edge_twins() of engine/boundary_state.h; null: there are none.
  const int* edge_twins() const { return edge_twins_; }
  // The entries of the state where the direction begins, if that is a cut; else null.
  const double* state_at_cut() const { return state_at_cut_; }

 private:
  ChainTables<Real, Semiring> host_;
  TablesView<Real> view_{};
  std::vector<DeviceBuffer<Real>> reals_;
  std::vector<DeviceBuffer<double>> doubles_;
  std::vector<DeviceBuffer<int>> ints_;
  std::vector<DeviceBuffer<std::uint16_t>> shorts_;
  const int* edge_twins_ = nullptr;
  const double* state_at_cut_ = nullptr;
};

}  // namespace semicrf::cuda
