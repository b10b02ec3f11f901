// Free coordinates of a column of a duration table in which the objective bends about equally along each.
//
// With n_k segments of duration k seen, the negative log-likelihood of a column B bends about like
// 1/2 sum n_k B[k]^2, its smoothness penalty is a sum of squared second differences (penalties.h). Together
// they are 1/2 B' A B with a matrix A of five diagonals; A = L L' (Cholesky), and the coordinates are L' B.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace semicrf {

// A stretch of consecutive durations first..first+count-1 with finite scores in column `label` of a (K, C)
// table with `labels` columns.
class TableStretch {
 public:
  // `seen`: segments of every duration of the stretch.
  TableStretch(int first, std::span<const double> seen, std::size_t label, std::size_t labels,
               double smoothness);

  std::size_t size() const { return diagonal_.size(); }

  // Coordinates of the scores of the stretch, scores of coordinates, and derivatives by coordinates from
  // those by scores. Spans have size() entries; tables are (K, C).
  void pack(std::span<const double> table, std::span<double> coordinates) const;
  void unpack(std::span<const double> coordinates, std::span<double> table) const;
  void chain(std::span<const double> table_gradient, std::span<double> gradient) const;

 private:
  std::size_t entry(std::size_t i) const {
    return (static_cast<std::size_t>(first_ - 1) + i) * labels_ + label_;
  }

  int first_;
  std::size_t label_, labels_;
  // L by diagonals: L[i][i], L[i+1][i] and L[i+2][i]; size() entries each, the last of them 0.
  std::vector<double> diagonal_, below_, second_below_;
};

// The stretches of finite entries of every column, label by label. `seen` (K, C) are segments of a duration;
// row K-1 holds the longer ones, too.
std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> seen, double smoothness);

}  // namespace semicrf
