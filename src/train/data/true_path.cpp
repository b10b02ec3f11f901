#include "train/data/true_path.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/compensated_sum.h"
#include "core/initial_term.h"
#include "core/parallel.h"
#include "io/json/json_document.h"
#include "model/centred_scores.h"

namespace semicrf {
namespace {

std::size_t at(int a) { return static_cast<std::size_t>(a); }

// What positions give to the scores of all segments.
std::vector<double> contents(const CentredScores& scores, const TrainingPiece& piece, int threads) {
  constexpr std::size_t kTasks = 64;  // per piece
  const std::size_t count = piece.segments.size();
  const std::size_t per_task = count / kTasks + 1;
  std::vector<double> sums(count);
  parallel_for(threads, (count + per_task - 1) / per_task, [&](std::size_t task, int) {
    for (std::size_t i = task * per_task; i < std::min(count, (task + 1) * per_task); ++i) {
      const Segment& segment = piece.segments[i];
      sums[i] = scores.of_label(segment.label, [&](const auto& score) {
        double sum = 0;
        for (std::int64_t t = segment.begin; t < segment.end; ++t) sum += score(t);
        return sum;
      });
    }
  });
  return sums;
}

}  // namespace

double true_score(const ChainModel& model, const ScoreWindow& window, const TrainingPiece& piece,
                  int threads) {
  const CentredScores scores(model, window);
  const std::vector<double> inside = contents(scores, piece, threads);
  CompensatedSum sum;
  int before = -1;
  for (std::size_t i = 0; i < piece.segments.size(); ++i) {
    const Segment& segment = piece.segments[i];
    if (before >= 0) {
      sum.add(model.transition_at(before, segment.label));
    } else {
      sum.add(initial_term(model, segment.label));
    }
    sum.add(model.duration_score(segment.end - segment.begin, segment.label));
    sum.add(scores.start_score(segment.begin, segment.label));
    sum.add(scores.end_score(segment.end - 1, segment.label));
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
      const TransitionsInto all = transitions_into(model, segment.label);
      for (int from = 0; from < model.num_labels; ++from)
        gradient.transition[at(from) * labels + c] +=
            weight * (std::exp(model.transition_at(from, segment.label) - all.largest) / all.sum);
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
                       initial_term(model, segment.label) == kNegativeInfinity))
      return problem("a piece begins with " + name(segment.label) + ", which the parameters forbid");
    if (i + 1 == piece.segments.size() && model.end_scores[at(segment.label)] == kNegativeInfinity)
      return problem("a piece ends with " + name(segment.label) + ", which the parameters forbid");
  }
  return {};
}

}  // namespace semicrf
