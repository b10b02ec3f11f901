#include "train/table_coordinates.h"

#include <cmath>

#include "core/chain_model.h"

namespace semicrf {

TableStretch::TableStretch(int first, int count, std::size_t label, std::size_t labels, double segments,
                           double unit, double smoothness)
    : first_(first), count_(count), label_(label), labels_(labels), scale_(static_cast<std::size_t>(count)) {
  const double level_scale = 1 / std::sqrt(segments + 1);
  scale_[0] = level_scale;
  if (count_ > 1) scale_[1] = level_scale / unit;
  for (int i = 1; i + 1 < count_; ++i) {
    const double j = first_ + i;
    // The data's share of the curvature along bend j falls off like 1/j; the penalty's is constant.
    scale_[static_cast<std::size_t>(i + 1)] =
        std::pow(j, -1.5) / std::sqrt(smoothness + segments / (3 * j) + 1e-2);
  }
}

// Coordinate 0: the level, from the last two scores; 1: the slope there; i+1: the bend at duration first+i.
void TableStretch::pack(std::span<const double> table, std::span<double> coordinates) const {
  const auto at = [&](int i) { return table[entry(i)]; };
  const double slope = count_ > 1 ? at(count_ - 1) - at(count_ - 2) : 0;
  coordinates[0] = (at(count_ - 1) - slope * (count_ - 1)) / scale_[0];
  if (count_ > 1) coordinates[1] = slope / scale_[1];
  for (int i = 1; i + 1 < count_; ++i) {
    const auto n = static_cast<std::size_t>(i + 1);
    coordinates[n] = (at(i + 1) - 2 * at(i) + at(i - 1)) / scale_[n];
  }
}

void TableStretch::unpack(std::span<const double> coordinates, std::span<double> table) const {
  const double level = coordinates[0] * scale_[0];
  const double slope = count_ > 1 ? coordinates[1] * scale_[1] : 0;
  double ramps = 0;  // sum over j > i of (j - i) bend_j
  double bends = 0;  // sum over j > i of bend_j
  for (int i = count_ - 1; i >= 0; --i) {
    ramps += bends;
    table[entry(i)] = level + slope * i + ramps;
    if (i >= 1 && i + 1 < count_) {
      const auto n = static_cast<std::size_t>(i + 1);
      bends += coordinates[n] * scale_[n];
    }
  }
}

void TableStretch::chain(std::span<const double> table_gradient, std::span<double> gradient) const {
  double sum = 0;     // of derivatives over durations below i
  double moment = 0;  // of (i - j) times the derivative at j < i
  double slope = 0;
  for (int i = 0; i < count_; ++i) {
    moment += sum;
    if (i >= 1 && i + 1 < count_) {
      const auto n = static_cast<std::size_t>(i + 1);
      gradient[n] = moment * scale_[n];
    }
    const double derivative = table_gradient[entry(i)];
    sum += derivative;
    slope += derivative * i;
  }
  gradient[0] = sum * scale_[0];
  if (count_ > 1) gradient[1] = slope * scale_[1];
}

std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> segments, std::span<const double> units,
                                          double smoothness) {
  std::vector<TableStretch> stretches;
  const int longest = static_cast<int>(table.size() / labels);
  for (std::size_t c = 0; c < labels; ++c) {
    int first = 1;
    while (first <= longest) {
      int last = first;  // one past the stretch
      while (last <= longest && table[static_cast<std::size_t>(last - 1) * labels + c] != kNegativeInfinity)
        ++last;
      if (last > first)
        stretches.emplace_back(first, last - first, c, labels, segments[c], units[c], smoothness);
      first = last + 1;
    }
  }
  return stretches;
}

}  // namespace semicrf
