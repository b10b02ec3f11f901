#include "train/data/true_path.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/compensated_sum.h"
#include "core/parallel.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

std::size_t at(int a) { return static_cast<std::size_t>(a); }

// LSE over c' of transition[c'][to]; with `shares`, also each term's share of it.
double initial_term(const ChainModel& model, int to, std::vector<double>* shares) {
  const int labels = model.num_labels;
  double best = kNegativeInfinity;
  for (int from = 0; from < labels; ++from) best = std::max(best, model.transition_at(from, to));
  if (best == kNegativeInfinity) return best;
  double sum = 0;
  for (int from = 0; from < labels; ++from) sum += std::exp(model.transition_at(from, to) - best);
  if (shares != nullptr) {
    shares->clear();
    for (int from = 0; from < labels; ++from)
      shares->push_back(std::exp(model.transition_at(from, to) - best) / sum);
  }
  return best + std::log(sum);
}

// Scores of a window that covers its sequence: what it holds, or what heads make of its features.
class SequenceScores {
 public:
  SequenceScores(const ScoreWindow& window, std::size_t labels) : window_(window), labels_(labels) {
    if (features().empty()) return;
    const std::vector<double>& weights = features().emission->weights;
    inputs_ = weights.size() / labels;
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights_of_label_.push_back(weights[i % inputs_ * labels + i / inputs_]);
  }

  // Centred scores of the segment's positions, added up. `row`: (C) to work on.
  double content(const Segment& segment, std::span<double> row) const {
    if (window_.subtract_position_max) return content_below_maximum(segment, row);
    const std::size_t c = at(segment.label);
    if (features().empty())
      return add_up(segment, [&](std::int64_t t) { return window_.emissions.at(index(t, c)); });
    const auto projected = [&](const auto* rows) {
      return add_up(segment, [&](std::int64_t t) { return projection(rows, t, c); });
    };
    return features().rows.f32 != nullptr ? projected(features().rows.f32) : projected(features().rows.f64);
  }
  // Whether there are start scores; and the one of a position.
  bool has_starts() const { return features().start != nullptr || !window_.start_scores.empty(); }
  double start(std::int64_t t, std::size_t c) const {
    return boundary(features().start, window_.start_scores, t, c);
  }
  bool has_ends() const { return features().finish != nullptr || !window_.end_scores.empty(); }
  double end(std::int64_t t, std::size_t c) const {
    return boundary(features().finish, window_.end_scores, t, c);
  }

 private:
  const FeatureRows& features() const { return window_.features; }
  std::size_t index(std::int64_t t, std::size_t c) const { return static_cast<std::size_t>(t) * labels_ + c; }
  double baseline(std::size_t c) const { return window_.baseline.empty() ? 0 : window_.baseline[c]; }

  template <class ScoreAt>
  double add_up(const Segment& segment, ScoreAt score_at) const {
    const double centre = baseline(at(segment.label));
    double sum = 0;
    for (std::int64_t t = segment.begin; t < segment.end; ++t) sum += score_at(t) - centre;
    return sum;
  }
  double content_below_maximum(const Segment& segment, std::span<double> row) const {
    const std::size_t c = at(segment.label);
    double sum = 0;
    for (std::int64_t t = segment.begin; t < segment.end; ++t) {
      emissions(t, row);
      sum += row[c] - (baseline(c) + position_maximum({nullptr, row.data()}, 0, labels_));
    }
    return sum;
  }

  void emissions(std::int64_t t, std::span<double> row) const {
    if (!features().empty()) return features().emission_scores(t, window_.length, row);
    for (std::size_t c = 0; c < labels_; ++c) row[c] = window_.emissions.at(index(t, c));
  }
  // FeatureRows::emission_score, several times as fast, as the label's weights lie side by side.
  template <class Feature>
  double projection(const Feature* rows, std::int64_t t, std::size_t c) const {
    const HeadTable& head = *features().emission;
    if (t + head.first < 0 || t + head.last >= window_.length)
      return features().emission_score(t, window_.length, c, labels_);
    const Feature* const x = rows + (t + head.first - features().begin) * features().tracks;
    const double* const weights = weights_of_label_.data() + c * inputs_;
    double sum = head.bias[c];
    for (std::size_t j = 0; j < inputs_; ++j) sum += static_cast<double>(x[j]) * weights[j];
    return features().less_margin(features().rounded(sum), t, c);
  }
  double boundary(const HeadTable* head, const ScoreArray& scores, std::int64_t t, std::size_t c) const {
    return head != nullptr ? features().score(*head, t, window_.length, c, labels_) : scores.at(index(t, c));
  }

  const ScoreWindow& window_;
  std::size_t labels_, inputs_ = 0;
  std::vector<double> weights_of_label_;  // (C, inputs) of the emissions
};

// What positions give to the scores of all segments.
std::vector<double> contents(const SequenceScores& scores, const TrainingPiece& piece, std::size_t labels,
                             int threads) {
  constexpr std::size_t kTasks = 64;  // per piece
  const std::size_t count = piece.segments.size();
  const std::size_t per_task = count / kTasks + 1;
  std::vector<double> sums(count);
  parallel_for(threads, (count + per_task - 1) / per_task, [&](std::size_t task, int) {
    std::vector<double> row(labels);
    for (std::size_t i = task * per_task; i < std::min(count, (task + 1) * per_task); ++i)
      sums[i] = scores.content(piece.segments[i], row);
  });
  return sums;
}

}  // namespace

double true_score(const ChainModel& model, const ScoreWindow& window, const TrainingPiece& piece,
                  int threads) {
  const auto labels = at(model.num_labels);
  const SequenceScores scores(window, labels);
  const std::vector<double> inside = contents(scores, piece, labels, threads);
  CompensatedSum sum;
  int before = -1;
  for (std::size_t i = 0; i < piece.segments.size(); ++i) {
    const Segment& segment = piece.segments[i];
    const std::size_t c = at(segment.label);
    if (before >= 0) {
      sum.add(model.transition_at(before, segment.label));
    } else if (model.initial == InitialTerm::kUniform) {
      sum.add(initial_term(model, segment.label, nullptr));
    }
    sum.add(model.duration_score(segment.end - segment.begin, segment.label));
    if (scores.has_starts()) sum.add(scores.start(segment.begin, c));
    if (scores.has_ends()) sum.add(scores.end(segment.end - 1, c));
    sum.add(inside[i]);
    before = segment.label;
  }
  if (!model.start_scores.empty()) sum.add(model.start_scores[at(piece.segments.front().label)]);
  if (!model.end_scores.empty()) sum.add(model.end_scores[at(piece.segments.back().label)]);
  return sum.value();
}

void add_true_counts(const ChainModel& model, const TrainingPiece& piece, double weight,
                     ParameterGradient& gradient) {
  const auto labels = at(model.num_labels);
  const std::int64_t longest = model.max_duration;
  int before = -1;
  for (const Segment& segment : piece.segments) {
    const std::size_t c = at(segment.label);
    if (before >= 0) {
      gradient.transition[at(before) * labels + c] += weight;
    } else if (model.initial == InitialTerm::kUniform) {
      std::vector<double> shares;
      initial_term(model, segment.label, &shares);
      for (std::size_t from = 0; from < labels; ++from)
        gradient.transition[from * labels + c] += weight * shares[from];
    }
    const std::int64_t duration = segment.end - segment.begin;
    gradient.duration[static_cast<std::size_t>(std::min(duration, longest) - 1) * labels + c] += weight;
    if (duration > longest) gradient.tail[c] += weight * static_cast<double>(duration - longest);
    before = segment.label;
  }
  gradient.start[at(piece.segments.front().label)] += weight;
  gradient.end[at(piece.segments.back().label)] += weight;
}

PathProblem find_problem(const Parameters& parameters, const TrainingPiece& piece) {
  const ChainModel& model = parameters.chain;
  const auto name = [&](int label) { return in_quotes(parameters.labels[at(label)].name); };
  for (std::size_t i = 0; i < piece.segments.size(); ++i) {
    const Segment& segment = piece.segments[i];
    const std::int64_t duration = segment.end - segment.begin;
    const auto problem = [&](const std::string& what) {
      return PathProblem{piece.place(segment.begin, segment.end), what, piece.lines[i]};
    };
    const std::string bins = std::to_string(duration) + (duration == 1 ? " bin" : " bins");
    if (model.duration_score(duration, segment.label) == kNegativeInfinity) {
      if (duration > model.max_duration)
        return problem("the segment of " + name(segment.label) + " has " + bins + ", but the longest is " +
                       std::to_string(model.max_duration) + " and there is no tail");
      return problem("the segment of " + name(segment.label) + " has " + bins +
                     ", a duration that the parameters forbid");
    }
    const int before = i == 0 ? -1 : piece.segments[i - 1].label;
    if (before >= 0 && model.transition_at(before, segment.label) == kNegativeInfinity)
      return problem("the segment of " + name(segment.label) + " follows a segment of " + name(before) +
                     ", a transition that the parameters forbid");
    if (before < 0 && (model.start_scores[at(segment.label)] == kNegativeInfinity ||
                       (model.initial == InitialTerm::kUniform &&
                        initial_term(model, segment.label, nullptr) == kNegativeInfinity)))
      return problem("a piece begins with " + name(segment.label) + ", which the parameters forbid");
    if (i + 1 == piece.segments.size() && model.end_scores[at(segment.label)] == kNegativeInfinity)
      return problem("a piece ends with " + name(segment.label) + ", which the parameters forbid");
  }
  return {};
}

}  // namespace semicrf
