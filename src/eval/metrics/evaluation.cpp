#include "eval/metrics/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

#include "core/text/text.h"
#include "eval/metrics/text_table.h"

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
  return std::ranges::lower_bound(sorted, label) - sorted.begin();
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

namespace {

// Sorted (label, position) of the segments that start inside the stretch. Its first base is no boundary: that
// a segment starts there was not decided by anybody.
using LabelledBoundary = std::pair<int, std::int64_t>;
std::vector<LabelledBoundary> inner_starts(const std::vector<Segment>& segments, std::int64_t begin) {
  std::vector<LabelledBoundary> starts;
  for (const Segment& segment : segments)
    if (segment.begin > begin) starts.emplace_back(segment.label, segment.begin);
  return starts;
}

std::vector<std::int64_t> positions(const std::vector<LabelledBoundary>& boundaries) {
  std::vector<std::int64_t> all;
  all.reserve(boundaries.size());
  for (const LabelledBoundary& boundary : boundaries) all.push_back(boundary.second);
  return all;
}

// Positions of the boundaries with that label, from `at` on, which is moved behind them.
std::vector<std::int64_t> take_label(const std::vector<LabelledBoundary>& sorted, std::size_t& at,
                                     int label) {
  std::vector<std::int64_t> taken;
  for (; at < sorted.size() && sorted[at].first == label; ++at) taken.push_back(sorted[at].second);
  return taken;
}

MatchCounts match_boundaries(const std::vector<std::int64_t>& truth,
                             const std::vector<std::int64_t>& predicted, std::int64_t tolerance) {
  return {std::ssize(truth), std::ssize(predicted), count_pairs_within(truth, predicted, tolerance)};
}

std::vector<int> labels_of(const std::vector<Segment>& segments) {
  std::vector<int> labels;
  labels.reserve(segments.size());
  for (const Segment& segment : segments) labels.push_back(segment.label);
  return labels;
}

}  // namespace

LabelEvaluation& LabelEvaluation::operator+=(const LabelEvaluation& other) {
  bases += other.bases;
  boundary_exact += other.boundary_exact;
  boundary_within += other.boundary_within;
  segment_exact += other.segment_exact;
  segment_overlap += other.segment_overlap;
  return *this;
}

std::int64_t Evaluation::missing() const {
  std::int64_t count = 0;
  for (std::size_t label = 0; label < num_labels(); ++label)
    count += confusion[label * (num_labels() + 1) + num_labels()];
  return count;
}

LabelEvaluation Evaluation::over_labels() const {
  LabelEvaluation sum;
  for (const LabelEvaluation& label : labels) sum += label;
  return sum;
}

std::optional<double> Evaluation::label_accuracy(std::size_t label) const {
  const MatchCounts& counts = labels[label].bases;
  return share_of(bases - (counts.truth + counts.predicted - 2 * counts.matched), bases);
}

std::optional<double> Evaluation::macro_f1() const {
  double sum = 0;
  int present = 0;
  for (const LabelEvaluation& label : labels) {
    if (label.bases.truth == 0) continue;
    sum += *label.bases.f1();
    ++present;
  }
  return share_of(sum, present);
}

std::optional<double> Evaluation::label_error_rate() const {
  return share_of(edit_distance, over_labels().segment_exact.truth);
}

std::optional<double> Evaluation::adjusted_rand_index() const {
  LabelOverlaps overlaps;
  for (std::size_t cell = 0; cell < confusion.size(); ++cell) {
    const std::size_t truth = cell / (num_labels() + 1), predicted = cell % (num_labels() + 1);
    if (confusion[cell] > 0 && predicted < num_labels())
      overlaps[{static_cast<int>(truth), static_cast<int>(predicted)}] = confusion[cell];
  }
  return semicrf::adjusted_rand_index(overlaps);
}

Evaluator::Evaluator(std::size_t num_labels, std::int64_t tolerance) {
  result_.tolerance = tolerance;
  result_.labels.resize(num_labels);
  result_.confusion.assign(num_labels * (num_labels + 1), 0);
}

void Evaluator::add(const Stretch& stretch) {
  ++result_.stretches;
  result_.bases += stretch.end - stretch.begin;
  add_bases(stretch);
  add_boundaries(stretch);
  add_segments(stretch);
  add_label_sequences(stretch);
}

void Evaluator::add_bases(const Stretch& stretch) {
  const std::size_t columns = result_.num_labels() + 1;
  const auto cell = [&](int truth, std::size_t column) -> std::int64_t& {
    return result_.confusion[truth * columns + column];
  };
  for (const Segment& segment : stretch.truth) {
    of(segment.label).bases.truth += segment.end - segment.begin;
    cell(segment.label, columns - 1) += segment.end - segment.begin;
  }
  for (const Segment& segment : stretch.predicted)
    of(segment.label).bases.predicted += segment.end - segment.begin;
  for_each_overlap(stretch, [&](const Segment& truth, const Segment& predicted, std::int64_t shared) {
    cell(truth.label, columns - 1) -= shared;
    cell(truth.label, predicted.label) += shared;
    if (truth.label == predicted.label) of(truth.label).bases.matched += shared;
  });
}

void Evaluator::add_boundaries(const Stretch& stretch) {
  std::vector<LabelledBoundary> truth = inner_starts(stretch.truth, stretch.begin);
  std::vector<LabelledBoundary> predicted = inner_starts(stretch.predicted, stretch.begin);
  const std::vector<std::int64_t> all_truth = positions(truth), all_predicted = positions(predicted);
  result_.boundary_exact += match_boundaries(all_truth, all_predicted, 0);
  result_.boundary_within += match_boundaries(all_truth, all_predicted, result_.tolerance);

  std::sort(truth.begin(), truth.end());
  std::sort(predicted.begin(), predicted.end());
  for (std::size_t i = 0, j = 0; i < truth.size() || j < predicted.size();) {
    const int label = j == predicted.size() || (i < truth.size() && truth[i].first < predicted[j].first)
                          ? truth[i].first
                          : predicted[j].first;
    const std::vector<std::int64_t> a = take_label(truth, i, label), b = take_label(predicted, j, label);
    of(label).boundary_exact += match_boundaries(a, b, 0);
    of(label).boundary_within += match_boundaries(a, b, result_.tolerance);
  }
}

void Evaluator::add_segments(const Stretch& stretch) {
  for (const Segment& segment : stretch.truth) {
    ++of(segment.label).segment_exact.truth;
    ++of(segment.label).segment_overlap.truth;
  }
  for (const Segment& segment : stretch.predicted) {
    ++of(segment.label).segment_exact.predicted;
    ++of(segment.label).segment_overlap.predicted;
  }
  for (const int label : match_exact_segments(stretch.truth, stretch.predicted))
    ++of(label).segment_exact.matched;
  for (const int label : match_overlapping_segments(stretch.truth, stretch.predicted))
    ++of(label).segment_overlap.matched;
}

void Evaluator::add_label_sequences(const Stretch& stretch) {
  result_.edit_distance += edit_distance(labels_of(stretch.truth), labels_of(stretch.predicted));
}

const StatisticList<EvaluatedLabel>& evaluated_label_statistics() {
  using enum StatisticUnit;
  using L = EvaluatedLabel;
  const auto of = [](MatchCounts LabelEvaluation::*what, auto number) {
    return [what, number](const L& label) -> StatisticValue { return std::invoke(number, label.*what); };
  };
  using M = MatchCounts;
  constexpr auto kFour = "%.4f";
  constexpr auto kNone = JsonPart::kNone;  // JSON has all that is matched
  static const StatisticList<L> list = {
      {"truth", "bases", kCount, of(&L::bases, &M::truth), kFour, kNone},
      {"accuracy", "accuracy", kNumber, &L::accuracy, kFour, JsonPart::kFirst, false},
      {"precision", "precision", kNumber, of(&L::bases, &M::precision), kFour, kNone},
      {"recall", "recall", kNumber, of(&L::bases, &M::recall), kFour, kNone},
      {"f1", "F1", kNumber, of(&L::bases, &M::f1), kFour, kNone},
      {"boundary_f1", "boundary F1", kNumber, of(&L::boundary_exact, &M::f1), kFour, kNone},
      {"boundary_f1_within", "within", kNumber, of(&L::boundary_within, &M::f1), kFour, kNone},
      {"segments", "segments", kCount, of(&L::segment_exact, &M::truth), kFour, kNone, false},
      {"predicted", "predicted", kCount, of(&L::segment_exact, &M::predicted), kFour, kNone, false},
      {"segment_f1", "segment F1", kNumber, of(&L::segment_exact, &M::f1), kFour, kNone},
      {"segment_f1_overlap", "overlap", kNumber, of(&L::segment_overlap, &M::f1), kFour, kNone},
  };
  return list;
}

const StatisticList<Evaluation>& evaluation_statistics() {
  using enum StatisticUnit;
  using E = Evaluation;
  static const StatisticList<E> all = {
      {"accuracy", "accuracy over all bases", kShare, "bases with the label of the truth",
       [](const E& e) { return e.over_labels().bases.recall(); }},
      {"accuracy_predicted", "accuracy over predicted bases", kShare,
       [](const E& e) { return e.over_labels().bases.precision(); }},
      {"adjusted_rand_index", "adjusted Rand index", kNumber,
       "adjusted Rand index of the bases, whatever the names of the labels", &E::adjusted_rand_index},
      {"macro_f1", "mean F1 of the labels", kNumber, "F1 of the bases, mean over the labels", &E::macro_f1},
      {"boundary_f1", "", kNumber, "F1 of boundaries within the tolerance",
       [](const E& e) { return e.boundary_within.f1(); }, JsonPart::kNone},
      {"segment_f1", "", kNumber, "F1 of segments that overlap by half of their union, with their label",
       [](const E& e) { return e.over_labels().segment_overlap.f1(); }, JsonPart::kNone},
      {"error_rate", "label error rate", kNumber, &E::label_error_rate},
      {"edit_distance", "label edits", kCount, &E::edit_distance},
  };
  static const auto list = in_format("%.4f", all);
  return list;
}

std::vector<std::pair<std::string, MatchCounts>> overall_matches(const Evaluation& evaluation) {
  const LabelEvaluation sum = evaluation.over_labels();
  const std::string near = fmt::format(", within {}", evaluation.tolerance);
  return {{units().many, sum.bases},
          {"boundaries, exact", evaluation.boundary_exact},
          {"boundaries" + near, evaluation.boundary_within},
          {"boundaries and label, exact", sum.boundary_exact},
          {"boundaries and label" + near, sum.boundary_within},
          {"segments, exact", sum.segment_exact},
          {"segments, overlap", sum.segment_overlap}};
}

}  // namespace semicrf
