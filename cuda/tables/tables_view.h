// Tables of one direction of a model as the kernels see them: plain structs of device pointers. What lies
// behind them, and in which layout: see ChainTables.
#pragma once

#include <cstdint>

namespace semicrf::cuda {

// Sizes and properties of the tables, the same on the host and on the device.
struct ChainShape {
  int labels, width;  // C, and the entries of a row of a table
  int duration;       // K
  int offsets;        // blocks of 16 positions that a segment of at most K positions reaches back
  int tail_reach;     // blocks back to the starts that enter the tail
  int ring_blocks;    // see ring_blocks_for()
  int rows;
  // Yes or no.
  int tail, initial_transition;
  int transition_vanished;  // a finite score became zero in the table
  int too_large;            // a bound is beyond what scales can say
  int gaps;                 // a label has durations far below longer ones: what is open may not end yet
  int scores_fit;           // whole units reach all scores of durations
  int masks_forbid;         // masks count as -inf: see engine/masks.h
  int cut_begin, cut_end;   // the edges where the direction begins and ends are cuts
  int unneeded_below;       // units below the least that a sum may be, at which a distance changes nothing
  // Log semiring: how many units a start may be above what the sums over durations are relative to, and how
  // far above the start that rises where it is more. To be added to units that have the bias of a Real's
  // exponent.
  int most_above, room_above;
};

// Scores as logarithms in double.
struct LogTables : ChainShape {
  const double *bias, *largest_bias, *transition_log, *transition_bound, *source_bound;
  const double *log_tail, *last_bias, *tail_correction, *first_scores, *last_scores;
};

// What the recursion reads besides: numbers, bounds in units, and the least sums that are certified.
template <class Real>
struct TablesView : LogTables {
  Real least_total, least_start;
  const Real *duration_table, *near_table, *transition, *tail_factor, *score_numbers;
  const std::uint16_t* duration_spread;
  const int *duration_bound, *transition_units, *source_units, *level_units, *score_units;
};

}  // namespace semicrf::cuda
