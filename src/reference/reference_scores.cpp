#include "reference/reference_scores.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/row_view.h"

namespace semicrf {

namespace {

std::vector<double> copy_of(const ScoreArray& array, std::size_t size) {
  std::vector<double> copy;
  if (array.empty()) return copy;
  copy.reserve(size);
  for (std::size_t i = 0; i < size; ++i) copy.push_back(array.at(i));
  return copy;
}

}  // namespace

ReferenceScores::ReferenceScores(const ChainModel& model, const ScoreWindow& whole)
    : length_(whole.length),
      num_labels_(model.num_labels),
      first_start_(model.start_scores),
      last_end_(model.end_scores) {
  if (whole.begin != 0 || whole.end != whole.length || whole.length < 1) {
    throw std::logic_error("the reference engine needs the scores of a whole, non-empty sequence");
  }
  const std::size_t size = length_ * num_labels_;
  emissions_ = copy_of(whole.emissions, size);
  starts_ = copy_of(whole.start_scores, size);
  ends_ = copy_of(whole.end_scores, size);
  const RowView emissions(emissions_, num_labels_);
  for (std::int64_t t = 0; t < length_; ++t) {
    const std::span<double> row = emissions.row(t);
    double top = 0;
    if (whole.subtract_position_max) {
      top = *std::ranges::max_element(row);
      if (top == kNegativeInfinity) top = 0;
    }
    for (int c = 0; c < num_labels_; ++c) {
      if (!whole.baseline.empty()) row[c] -= whole.baseline[c];
      row[c] -= top;
    }
  }
}

double ReferenceScores::typical_step(std::int64_t t) const {
  double top = kNegativeInfinity;
  for (int c = 0; c < num_labels_; ++c) top = std::max(top, emission(t, c));
  return top == kNegativeInfinity ? 0.0 : std::rint(top);
}

}  // namespace semicrf
