// Free coordinates of a column of a duration table in which a smooth table is as easy to find as a rough one.
//
// A stretch of n consecutive durations with finite scores, k = first .. first+n-1, is written as
//   B[k] = level + slope (k - first) / unit + sum over inner j > k of (j - k) bend_j,
// so that bend_j is the second difference at j. The ramps lead leftwards, from j to shorter durations: with
// bend_j = z_j j^(-3/2) a bump has coordinates of one size whatever duration it sits at.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace semicrf {

class TableStretch {
 public:
  // Durations first..first+count-1 of column `label` in a (K, C) table with `labels` columns. `segments` is
  // how many training segments the label has, `unit` a typical duration; with `smoothness` they set the scale
  // of the coordinates.
  TableStretch(int first, int count, std::size_t label, std::size_t labels, double segments, double unit,
               double smoothness);

  std::size_t size() const { return static_cast<std::size_t>(count_); }

  // Coordinates of the scores of the stretch, scores of coordinates, and derivatives by coordinates from
  // those by scores. Spans have size() entries; tables are (K, C).
  void pack(std::span<const double> table, std::span<double> coordinates) const;
  void unpack(std::span<const double> coordinates, std::span<double> table) const;
  void chain(std::span<const double> table_gradient, std::span<double> gradient) const;

 private:
  std::size_t entry(int i) const { return (static_cast<std::size_t>(first_ - 1 + i)) * labels_ + label_; }

  int first_, count_;
  std::size_t label_, labels_;
  std::vector<double> scale_;  // of level, slope (per step of k), and the bends 1..count-2
};

// The stretches of finite entries of every column, label by label.
std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> segments, std::span<const double> units,
                                          double smoothness);

}  // namespace semicrf
