// A model's tables on the device, for one direction, precision and semiring.
#pragma once

#include <vector>

#include "core/sizes.h"
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
    static_cast<ChainShape&>(view_) = host_;
    view_.least_total = static_cast<Real>(host_.least_total);
    view_.least_start = static_cast<Real>(host_.least_start);
    const std::vector<int> twins = semicrf::edge_twins(model, direction);
    const std::vector<double> cut =
        host_.cut_begin != 0 ? entries_of(semicrf::state_at_cut(model, direction)) : std::vector<double>();
    // One copy for all tables: each costs the driver some microseconds, and training makes them anew in every
    // step.
    std::vector<unsigned char> bytes;
    place(twins, cut, [&]<class T>(const std::vector<T>& table) -> const T* {
      bytes.resize(round_up(bytes.size(), kAlignment));
      const auto* const from = reinterpret_cast<const unsigned char*>(table.data());
      bytes.insert(bytes.end(), from, from + table.size() * sizeof(T));
      return nullptr;
    });
    memory_.upload(bytes, stream);
    std::size_t at = 0;
    place(twins, cut, [&]<class T>(const std::vector<T>& table) -> const T* {
      at = round_up(at, kAlignment);
      const auto* const there = reinterpret_cast<const T*>(memory_.get() + at);
      at += table.size() * sizeof(T);
      return table.empty() ? nullptr : there;
    });
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }

  const ChainTables<Real, Semiring>& host() const { return host_; }
  const TablesView<Real>& view() const { return view_; }
  // (C) on the device, see edge_twins() of engine/boundary_state.h; null: there are none.
  const int* edge_twins() const { return edge_twins_; }
  // The entries of the state where the direction begins, if that is a cut; else null.
  const double* state_at_cut() const { return state_at_cut_; }

 private:
  static constexpr std::size_t kAlignment = 256;  // bytes

  // Every pointer becomes take(table).
  template <class Take>
  void place(const std::vector<int>& twins, const std::vector<double>& cut, Take take) {
    view_.duration_table = take(host_.duration_table);
    view_.near_table = take(host_.near_table);
    view_.score_numbers = take(host_.score_numbers);
    view_.score_units = take(host_.score_units);
    view_.transition = take(host_.transition);
    view_.tail_factor = take(host_.tail_factor);
    view_.bias = take(host_.bias);
    view_.largest_bias = take(host_.largest_bias);
    view_.transition_log = take(host_.transition_log);
    view_.transition_bound = take(host_.transition_bound);
    view_.source_bound = take(host_.source_bound);
    view_.log_tail = take(host_.log_tail);
    view_.last_bias = take(host_.last_bias);
    view_.tail_correction = take(host_.tail_correction);
    view_.first_scores = take(host_.first_scores);
    view_.last_scores = take(host_.last_scores);
    view_.duration_bound = take(host_.duration_bound);
    view_.duration_spread = take(host_.duration_spread);
    view_.transition_units = take(host_.transition_units);
    view_.source_units = take(host_.source_units);
    view_.level_units = take(host_.level_units);
    edge_twins_ = take(twins);
    state_at_cut_ = take(cut);
  }

  ChainTables<Real, Semiring> host_;
  TablesView<Real> view_{};
  DeviceBuffer<unsigned char> memory_;
  const int* edge_twins_ = nullptr;
  const double* state_at_cut_ = nullptr;
};

}  // namespace semicrf::cuda
