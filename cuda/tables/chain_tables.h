// Tables of one direction of a model in the layout the kernels read: labels side by side. Built on the host,
// in double, rounded once; the backward direction is the chain of the mirrored sequence (docs/algorithm.md,
// "Factorised recursions").
#pragma once

#include <cstdint>
#include <vector>

#include "core/chain_model.h"
#include "cuda/tables/limits.h"
#include "cuda/tables/tables_view.h"

namespace semicrf::cuda {

// Rows are `width` >= labels entries; entries of missing labels forbid. Inside a block durations are 1..16,
// from block j to block i at distance o = i - j >= 1 they are 16 o - 14 .. 16 o + 16. Two layouts: by
// distance, all that are wanted at one side by side; or by group, 16 g + 1 .. 16 g + 16, half as long, of
// which a distance wants groups o - 1 (but for its first) and o. The first 16 are the same in both.
enum class DurationLayout { kByDistance, kByGroup };
template <class Real, class Semiring>
struct ChainTables : ChainShape {
  ChainTables(const ChainModel& model, Direction direction, int row_width, int transition_rows,
              DurationLayout layout);

  double least_total, least_start;
  // Relative to its bound. By distance: (offsets, width, kDistanceRow), from distance 1 on; by group:
  // (offsets + 1, width, 16), in the order of turned().
  std::vector<Real> duration_table;
  std::vector<Real> near_table;  // (width, 16): entry k-1 is duration k, relative to row 0 of the bounds
  std::vector<int>
      duration_bound;  // (offsets + 1, width): largest bias at a distance or of a group, in units
  // (offsets + 1, width), from distance 1 on: how far the least bias at a distance is below the bound of that
  // distance, or of the two groups that it wants, in units; at most kWidestSpread.
  std::vector<std::uint16_t> duration_spread;
  std::vector<double> bias;          // (K, width)
  std::vector<double> largest_bias;  // (width) over all durations
  // Bias as a number in [1, 2) (max: [0, 1)) times whole units, kEmpty: forbidden; (16 (offsets + 1), width).
  std::vector<Real> score_numbers;
  std::vector<int> score_units;
  std::vector<Real> transition;        // (rows, width) relative to source_bound[from] + transition_bound[to]
  std::vector<double> transition_log;  // (labels, width)
  std::vector<double> transition_bound, source_bound;  // (width): of the scores into, out of the label
  std::vector<int> transition_units, source_units;     // (width): these bounds in units
  // (width): an alpha's share of the level that the alphas of a boundary are relative to; the bound of what
  // leaves the label, but not so low that the alpha itself would leave the range.
  std::vector<int> level_units;
  std::vector<double> log_tail, last_bias;        // (width)
  std::vector<double> first_scores, last_scores;  // (width) of the run's first and last position
  std::vector<double> tail_correction;            // (width) what 16 rounded tail factors lack
  std::vector<Real> tail_factor;                  // (width)

 private:
  void build_durations(const ChainModel& model, DurationLayout layout);
  bool near_are_alike() const;
  bool has_gap(int c) const;
  void build_scores();
  void build_spreads(DurationLayout layout);
  std::size_t duration_place(DurationLayout layout, int row, int c, int x) const;
  void build_transitions(const ChainModel& model, Direction direction);
  void round_scores(std::vector<double>& scores) const;
  double bias_or_forbidden(int k, int c) const;
  Real relative(double value, double bound, int* vanished) const;
  int scale_of(double bound);
};

}  // namespace semicrf::cuda
