#include "pipeline/path_score.h"

#include <algorithm>
#include <cmath>

namespace semicrf {
namespace {

constexpr std::int64_t kCell = 4096;  // content sums restart at multiples of this, which keeps them short

}  // namespace

// Knuth's two-sum: the exact rounding error, without a branch.
inline void PathScore::add(double value) {
  const double sum = total_ + value;
  const double added = sum - total_;
  compensation_ += (total_ - (sum - added)) + (value - added);
  total_ = sum;
}

inline void PathScore::flush_content() {
  add(content_);
  content_ = 0;
}

void PathScore::add_content(const ScoreWindow& scores, std::int64_t begin, std::int64_t end, int label) {
  const auto labels = static_cast<std::size_t>(model_->num_labels);
  const auto c = static_cast<std::size_t>(label);
  const double baseline = scores.baseline.empty() ? 0 : scores.baseline[c];
  const auto walk = [&](const auto* values) {
    for (std::int64_t t = end - 1; t >= begin; --t) {
      const auto row = static_cast<std::size_t>(t - scores.begin);
      const double centre = scores.subtract_position_max
                                ? baseline + position_maximum(scores.emissions, row * labels, labels)
                                : baseline;
      content_ += static_cast<double>(values[row * labels + c]) - centre;
      if (t % kCell == 0) flush_content();
    }
  };
  if (scores.emissions.f32 != nullptr) {
    walk(scores.emissions.f32);
  } else {
    walk(scores.emissions.f64);
  }
}

void PathScore::add_end(const ScoreWindow& scores, std::int64_t position, int label) {
  const auto c = static_cast<std::size_t>(label);
  const auto labels = static_cast<std::size_t>(model_->num_labels);
  if (position == length_ - 1 && !model_->end_scores.empty()) edges_ += model_->end_scores[c];
  if (!scores.end_scores.empty())
    edges_ += scores.end_scores.at(static_cast<std::size_t>(position - scores.begin) * labels + c);
}

void PathScore::add_start(const ScoreWindow& scores, std::int64_t position, int label) {
  const auto c = static_cast<std::size_t>(label);
  const auto labels = static_cast<std::size_t>(model_->num_labels);
  if (!scores.start_scores.empty())
    edges_ += scores.start_scores.at(static_cast<std::size_t>(position - scores.begin) * labels + c);
  if (position == 0 && !model_->start_scores.empty()) edges_ += model_->start_scores[c];
}

void PathScore::add_segment(const Segment& segment) {
  double chain = model_->duration_score(segment.end - segment.begin, segment.label);
  if (right_label_ >= 0) chain += model_->transition_at(segment.label, right_label_);
  right_label_ = segment.label;
  add(content_ + (edges_ + chain));
  content_ = 0;
  edges_ = 0;
}

void PathScore::add_segments(const ScoreWindow& scores, std::span<const Segment> reversed) {
  if (scores.emissions.f32 != nullptr && !scores.subtract_position_max && scores.start_scores.empty() &&
      scores.end_scores.empty()) {
    add_plain_segments(scores, reversed);
    return;
  }
  for (const Segment& segment : reversed) {
    add_end(scores, segment.end - 1, segment.label);
    add_content(scores, segment.begin, segment.end, segment.label);
    add_start(scores, segment.begin, segment.label);
    add_segment(segment);
  }
}

// The same additions for the usual kind of scores, with the sums in registers: paths may have as many
// segments as positions.
void PathScore::add_plain_segments(const ScoreWindow& scores, std::span<const Segment> reversed) {
  const auto labels = static_cast<std::size_t>(model_->num_labels);
  const double* transition = model_->transition.data();
  PathScore sums = *this;
  for (const Segment& segment : reversed) {
    const auto c = static_cast<std::size_t>(segment.label);
    const double centre = scores.baseline.empty() ? 0 : scores.baseline[c];
    if (segment.end == length_) sums.add_end(scores, segment.end - 1, segment.label);
    const float* row =
        scores.emissions.f32 + static_cast<std::size_t>(segment.end - 1 - scores.begin) * labels + c;
    for (std::int64_t t = segment.end - 1; t >= segment.begin; --t, row -= labels) {
      sums.content_ += static_cast<double>(*row) - centre;
      if (t % kCell == 0) sums.flush_content();
    }
    if (segment.begin == 0) sums.add_start(scores, 0, segment.label);
    double chain = model_->duration_score(segment.end - segment.begin, segment.label);
    if (sums.right_label_ >= 0) chain += transition[c * labels + static_cast<std::size_t>(sums.right_label_)];
    sums.right_label_ = segment.label;
    sums.add(sums.content_ + (sums.edges_ + chain));
    sums.content_ = sums.edges_ = 0;
  }
  *this = sums;
}

double PathScore::finish() {
  if (model_->initial == InitialTerm::kUniform) {
    double best = kNegativeInfinity;
    for (int from = 0; from < model_->num_labels; ++from)
      best = std::max(best, model_->transition_at(from, right_label_));
    add(best);
  }
  return total_ + compensation_;
}

}  // namespace semicrf
