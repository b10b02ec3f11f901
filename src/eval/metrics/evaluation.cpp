#include "eval/metrics/evaluation.h"

#include <algorithm>
#include <utility>

#include "eval/metrics/label_pairing.h"
#include "eval/metrics/text_table.h"

namespace semicrf {
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
  return {static_cast<std::int64_t>(truth.size()), static_cast<std::int64_t>(predicted.size()),
          count_pairs_within(truth, predicted, tolerance)};
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
  return ratio(bases - (counts.truth + counts.predicted - 2 * counts.matched), bases);
}

std::optional<double> Evaluation::macro_f1() const {
  double sum = 0;
  int present = 0;
  for (const LabelEvaluation& label : labels) {
    if (label.bases.truth == 0) continue;
    sum += *label.bases.f1();
    ++present;
  }
  return ratio(sum, present);
}

std::optional<double> Evaluation::label_error_rate() const {
  return ratio(edit_distance, over_labels().segment_exact.truth);
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
    return result_.confusion[static_cast<std::size_t>(truth) * columns + column];
  };
  for (const Segment& segment : stretch.truth) {
    of(segment.label).bases.truth += segment.end - segment.begin;
    cell(segment.label, columns - 1) += segment.end - segment.begin;
  }
  for (const Segment& segment : stretch.predicted)
    of(segment.label).bases.predicted += segment.end - segment.begin;
  for_each_overlap(stretch, [&](const Segment& truth, const Segment& predicted, std::int64_t shared) {
    cell(truth.label, columns - 1) -= shared;
    cell(truth.label, static_cast<std::size_t>(predicted.label)) += shared;
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

}  // namespace semicrf
