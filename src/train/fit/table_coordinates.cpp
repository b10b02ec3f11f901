#include "train/fit/table_coordinates.h"

#include <cmath>

#include "core/chain_model.h"

namespace semicrf {
namespace {

constexpr double kUnseen = 0.1;  // as if so many segments of every duration had been seen

}  // namespace

TableStretch::TableStretch(int first, std::span<const double> seen, std::size_t label, std::size_t labels,
                           double smoothness)
    : first_(first), label_(label), labels_(labels) {
  const std::size_t count = seen.size();
  for (const double segments : seen) diagonal_.push_back(segments + kUnseen);
  below_.assign(count, 0.0);
  second_below_.assign(count, 0.0);
  for (std::size_t i = 1; i + 1 < count; ++i) {
    const double k = first_ + static_cast<double>(i);
    const double weight = smoothness * k * k * k;  // weight of (B[k+1] - 2 B[k] + B[k-1])^2
    diagonal_[i - 1] += weight;
    diagonal_[i] += 4 * weight;
    diagonal_[i + 1] += weight;
    below_[i - 1] -= 2 * weight;
    below_[i] -= 2 * weight;
    second_below_[i - 1] += weight;
  }
  // Cholesky, in place.
  for (std::size_t i = 0; i < count; ++i) {
    if (i >= 1) diagonal_[i] -= below_[i - 1] * below_[i - 1];
    if (i >= 2) diagonal_[i] -= second_below_[i - 2] * second_below_[i - 2];
    // Where the penalty outweighs the data by more than the digits hold, rounding may eat the pivot.
    diagonal_[i] = std::sqrt(std::fmax(diagonal_[i], kUnseen));
    if (i >= 1) below_[i] -= second_below_[i - 1] * below_[i - 1];
    below_[i] /= diagonal_[i];
    second_below_[i] /= diagonal_[i];
  }
}

void TableStretch::pack(std::span<const double> table, std::span<double> coordinates) const {
  const auto at = [&](std::size_t i) { return i < size() ? table[entry(i)] : 0.0; };
  for (std::size_t i = 0; i < size(); ++i)
    coordinates[i] = diagonal_[i] * at(i) + below_[i] * at(i + 1) + second_below_[i] * at(i + 2);
}

void TableStretch::unpack(std::span<const double> coordinates, std::span<double> table) const {
  double next = 0, after = 0;
  for (std::size_t i = size(); i-- > 0;) {
    const double score = (coordinates[i] - below_[i] * next - second_below_[i] * after) / diagonal_[i];
    table[entry(i)] = score;
    after = next;
    next = score;
  }
}

void TableStretch::chain(std::span<const double> table_gradient, std::span<double> gradient) const {
  for (std::size_t i = 0; i < size(); ++i) {
    double value = table_gradient[entry(i)];
    if (i >= 1) value -= below_[i - 1] * gradient[i - 1];
    if (i >= 2) value -= second_below_[i - 2] * gradient[i - 2];
    gradient[i] = value / diagonal_[i];
  }
}

std::vector<TableStretch> table_stretches(std::span<const double> table, std::size_t labels,
                                          std::span<const double> seen, double smoothness) {
  std::vector<TableStretch> stretches;
  const std::size_t longest = table.size() / labels;
  std::vector<double> of_stretch;
  for (std::size_t c = 0; c < labels; ++c) {
    for (std::size_t row = 0; row <= longest; ++row) {
      if (row < longest && table[row * labels + c] != kNegativeInfinity) {
        of_stretch.push_back(seen[row * labels + c]);
      } else if (!of_stretch.empty()) {
        const int first = static_cast<int>(row - of_stretch.size()) + 1;
        stretches.emplace_back(first, of_stretch, c, labels, smoothness);
        of_stretch.clear();
      }
    }
  }
  return stretches;
}

}  // namespace semicrf
