#include "train/true_path.h"

#include <algorithm>
#include <cmath>

#include "io/json_document.h"

namespace semicrf {
namespace {

// Adds numbers without losing digits (Neumaier).
class ExactSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    lost_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

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

// What centring subtracts from every score of row `row`.
double row_maximum(const ScoreArray& emissions, std::size_t row, std::size_t labels) {
  double best = kNegativeInfinity;
  for (std::size_t c = 0; c < labels; ++c) best = std::max(best, emissions.at(row * labels + c));
  return best == kNegativeInfinity ? 0 : best;
}

double content(const ScoreWindow& scores, const Segment& segment, std::size_t labels) {
  const std::size_t c = at(segment.label);
  const double baseline = scores.baseline.empty() ? 0 : scores.baseline[c];
  double sum = 0;
  for (std::int64_t t = segment.begin; t < segment.end; ++t) {
    const auto row = static_cast<std::size_t>(t);
    const double centre =
        baseline + (scores.subtract_position_max ? row_maximum(scores.emissions, row, labels) : 0);
    sum += scores.emissions.at(row * labels + c) - centre;
  }
  return sum;
}

}  // namespace

double true_score(const ChainModel& model, const ScoreWindow& scores, const TrainingPiece& piece) {
  const auto labels = at(model.num_labels);
  ExactSum sum;
  int before = -1;
  for (const Segment& segment : piece.segments) {
    const std::size_t c = at(segment.label);
    const auto first = static_cast<std::size_t>(segment.begin) * labels + c;
    const auto last = static_cast<std::size_t>(segment.end - 1) * labels + c;
    if (before >= 0) {
      sum.add(model.transition_at(before, segment.label));
    } else if (model.initial == InitialTerm::kUniform) {
      sum.add(initial_term(model, segment.label, nullptr));
    }
    sum.add(model.duration_score(segment.end - segment.begin, segment.label));
    if (!scores.start_scores.empty()) sum.add(scores.start_scores.at(first));
    if (!scores.end_scores.empty()) sum.add(scores.end_scores.at(last));
    sum.add(content(scores, segment, labels));
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
      return problem("the segment of " + name(segment.label) + " follows one of " + name(before) +
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
