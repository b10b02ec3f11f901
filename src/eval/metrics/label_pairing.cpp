#include "eval/metrics/label_pairing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>

namespace semicrf {
namespace {

// The assignment problem: rows and columns are paired for the largest sum of weights, every row with another
// column. weights: (rows, columns) row-major, rows <= columns. Returns the column of each row. Shortest
// augmenting paths with dual variables (the Hungarian method), in whole numbers.
std::vector<std::size_t> best_columns(const std::vector<std::int64_t>& weights, std::size_t rows,
                                      std::size_t columns) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const std::size_t none = rows, root = columns;  // root: where a path begins, a column beside the others
  std::vector<std::int64_t> row_price(rows, 0), column_price(columns, 0), distance(columns);
  std::vector<std::size_t> row_of(columns + 1, none), before(columns);
  std::vector<bool> done(columns + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    row_of[root] = row;
    std::ranges::fill(distance, kFar);
    std::fill(done.begin(), done.end(), false);
    std::size_t at = root;
    while (row_of[at] != none) {
      done[at] = true;
      const std::size_t from = row_of[at];
      std::size_t next = root;
      std::int64_t step = kFar;
      for (std::size_t j = 0; j < columns; ++j) {
        if (done[j]) continue;
        const std::int64_t reduced = -weights[from * columns + j] - row_price[from] - column_price[j];
        if (reduced < distance[j]) {
          distance[j] = reduced;
          before[j] = at;
        }
        if (distance[j] < step) {
          step = distance[j];
          next = j;
        }
      }
      row_price[row] += step;  // that of the root
      for (std::size_t j = 0; j < columns; ++j) {
        if (done[j]) {
          row_price[row_of[j]] += step;
          column_price[j] -= step;
        } else {
          distance[j] -= step;
        }
      }
      at = next;
    }
    while (at != root) {
      row_of[at] = row_of[before[at]];
      at = before[at];
    }
  }
  std::vector<std::size_t> column_of(rows);
  for (std::size_t j = 0; j < columns; ++j)
    if (row_of[j] != none) column_of[row_of[j]] = j;
  return column_of;
}

std::size_t place_in(const std::vector<int>& sorted, int label) {
  return static_cast<std::size_t>(std::ranges::lower_bound(sorted, label) - sorted.begin());
}

double pairs_among(double count) { return count * (count - 1) / 2; }

}  // namespace

void add_overlaps(const Stretch& stretch, LabelOverlaps& overlaps) {
  for_each_overlap(stretch, [&](const Segment& truth, const Segment& predicted, std::int64_t bases) {
    overlaps[{truth.label, predicted.label}] += bases;
  });
}

std::vector<std::pair<int, int>> best_label_pairs(const LabelOverlaps& overlaps) {
  std::set<int> of_first, of_second;
  for (const auto& [labels, bases] : overlaps)
    if (bases > 0) {
      of_first.insert(labels.first);
      of_second.insert(labels.second);
    }
  const std::vector<int> first(of_first.begin(), of_first.end()), second(of_second.begin(), of_second.end());
  const bool turned = first.size() > second.size();  // rows are the side with fewer labels
  const std::size_t rows = std::min(first.size(), second.size());
  const std::size_t columns = std::max(first.size(), second.size());
  std::vector<std::int64_t> weights(rows * columns, 0);
  for (const auto& [labels, bases] : overlaps) {
    if (bases == 0) continue;
    const std::size_t i = place_in(first, labels.first), j = place_in(second, labels.second);
    weights[turned ? j * columns + i : i * columns + j] =
        bases * static_cast<std::int64_t>(rows + 1) + (labels.first == labels.second ? 1 : 0);
  }
  const std::vector<std::size_t> column_of = best_columns(weights, rows, columns);
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t column = column_of[row];
    if (weights[row * columns + column] == 0) continue;
    pairs.emplace_back(turned ? first[column] : first[row], turned ? second[row] : second[column]);
  }
  std::ranges::sort(pairs);
  return pairs;
}

std::optional<double> adjusted_rand_index(const LabelOverlaps& overlaps) {
  std::map<int, double> in_first, in_second;
  double all = 0, both = 0;
  for (const auto& [labels, bases] : overlaps) {
    const auto count = static_cast<double>(bases);
    all += count;
    both += pairs_among(count);
    in_first[labels.first] += count;
    in_second[labels.second] += count;
  }
  if (all == 0) return std::nullopt;
  double first = 0, second = 0;
  for (const auto& [label, count] : in_first) first += pairs_among(count);
  for (const auto& [label, count] : in_second) second += pairs_among(count);
  const double expected = all > 1 ? first / pairs_among(all) * second : 0;
  const double most = (first + second) / 2;
  return most > expected ? (both - expected) / (most - expected) : 1.0;  // both have one label, or one base
}

}  // namespace semicrf
