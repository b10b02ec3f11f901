#include "train/data/true_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "core/row_view.h"
#include "core/sizes.h"
#include "core/text/text.h"
#include "core/threads/parallel.h"
#include "io/json/json_document.h"
#include "model/durations/duration.h"
#include "model/scores/linear_heads.h"

namespace semicrf {
namespace {

// With the labels of the chain.
std::vector<Segment> with_roles(const TrainingPiece& piece, const EdgeRoles& roles) {
  std::vector<Segment> segments = piece.segments;
  for (Segment& segment : segments) segment.label = roles.with_role(segment, piece.length);
  return segments;
}

// Adds to the transitions, durations and tails of `sums`.
template <class Sums>
void count_segments(const ChainModel& model, const std::vector<Segment>& segments, double weight,
                    Sums& sums) {
  const RowView transition(sums.transition, model.num_labels), durations(sums.duration, model.num_labels);
  const std::int64_t longest = model.max_duration;
  int before = -1;
  for (const Segment& segment : segments) {
    const int c = segment.label;
    if (before >= 0) {
      transition(before, c) += weight;
    } else if (model.initial == InitialTerm::kUniform) {
      const TransitionsInto all = transitions_into(model, c);
      for (int from = 0; from < model.num_labels; ++from)
        transition(from, c) += weight * (std::exp(model.transition_at(from, c) - all.largest) / all.sum);
    }
    const std::int64_t duration = segment.end - segment.begin;
    durations(std::min(duration, longest) - 1, c) += weight;
    if (duration > longest) sums.tail[c] += weight * static_cast<double>(duration - longest);
    before = c;
  }
}

// What positions give to the scores of all segments.
std::vector<double> contents(const CentredScores& scores, const std::vector<Segment>& segments, int threads) {
  constexpr std::size_t kTasks = 64;  // per piece
  const std::size_t count = segments.size();
  const std::size_t per_task = count / kTasks + 1;
  std::vector<double> sums(count);
  parallel_for(threads, (count + per_task - 1) / per_task, [&](std::size_t task, int) {
    for (std::size_t i = task * per_task; i < std::min(count, (task + 1) * per_task); ++i) {
      const Segment& segment = segments[i];
      sums[i] = scores.of_label(segment.label, [&](const auto& score) {
        double sum = 0;
        for (std::int64_t t = segment.begin; t < segment.end; ++t) sum += score(t);
        return sum;
      });
    }
  });
  return sums;
}

// Whether a duration is possible; where a segment is known in part, any longer one will do, too.
bool is_possible(const ChainModel& model, std::int64_t duration, int label, bool is_part) {
  if (model.duration_score(duration, label) > kNegativeInfinity) return true;
  for (std::int64_t k = duration + 1; is_part && k <= model.max_duration; ++k)
    if (model.duration_score(k, label) > kNegativeInfinity) return true;
  return false;
}

// Whether a score that is given for the start or end of this label's segments rules it out at bin t.
bool is_ruled_out(const std::vector<float>& scores, std::int64_t t, int label, int num_labels) {
  return !scores.empty() && scores[t * num_labels + label] == -std::numeric_limits<float>::infinity();
}

// What transitions, durations and the edges give to the scores of the segments, with the labels of `model`.
void add_chain_scores(const ChainModel& model, const std::vector<Segment>& segments, CompensatedSum& sum) {
  int before = -1;
  for (const Segment& segment : segments) {
    sum.add(before >= 0 ? model.transition_at(before, segment.label) : initial_term(model, segment.label));
    sum.add(model.duration_score(segment.end - segment.begin, segment.label));
    before = segment.label;
  }
  if (!model.start_scores.empty()) sum.add(model.start_scores[segments.front().label]);
  if (!model.end_scores.empty()) sum.add(model.end_scores[segments.back().label]);
}

// What the scores of their positions give, with the labels of the window.
void add_position_scores(const CentredScores& scores, const std::vector<Segment>& segments, int threads,
                         CompensatedSum& sum) {
  const std::vector<double> inside = contents(scores, segments, threads);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    sum.add(scores.start_score(segments[i].begin, segments[i].label));
    sum.add(scores.end_score(segments[i].end - 1, segments[i].label));
    sum.add(inside[i]);
  }
}

}  // namespace

double true_score(const ChainModel& model, const ScoreWindow& window, const TrainingPiece& piece,
                  int threads) {
  CompensatedSum sum;
  add_chain_scores(model, piece.segments, sum);
  add_position_scores(CentredScores(model, window), piece.segments, threads, sum);
  return sum.value();
}

double true_score(const EdgeRoles& roles, const ScoreWindow& window, bool has_roles,
                  const TrainingPiece& piece, int threads) {
  const std::vector<Segment> segments = with_roles(piece, roles);
  CompensatedSum sum;
  add_chain_scores(roles.chain(), segments, sum);
  if (has_roles) {
    add_position_scores(CentredScores(roles.chain(), window), segments, threads, sum);
    return sum.value();
  }
  ChainModel model = roles.base();
  model.cut = roles.cut();
  add_position_scores(CentredScores(model, window), piece.segments, threads, sum);
  if (segments.size() == 1) sum.add(roles.whole_piece(piece.length, piece.segments.front().label));
  return sum.value();
}

void add_true_counts(const ChainModel& model, const TrainingPiece& piece, double weight,
                     ParameterGradient& gradient) {
  count_segments(model, piece.segments, weight, gradient);
  gradient.start[piece.segments.front().label] += weight;
  gradient.end[piece.segments.back().label] += weight;
}

void add_true_counts(const EdgeRoles& roles, const TrainingPiece& piece, double weight,
                     ExpectedCounts& counts) {
  counts.shape_for(roles.chain());
  count_segments(roles.chain(), with_roles(piece, roles), weight, counts);
}

PathProblem find_problem(const Parameters& parameters, const TrainingPiece& piece) {
  const ChainModel& model = parameters.chain;
  const auto name = [&](int label) { return in_quotes(parameters.labels[label].name); };
  for (std::size_t i = 0; i < piece.segments.size(); ++i) {
    const Segment& segment = piece.segments[i];
    const std::int64_t duration = segment.end - segment.begin;
    const auto problem = [&](const std::string& what) {
      return PathProblem{piece.place(segment.begin, segment.end), what, piece.lines[i]};
    };
    const std::string bins = plural(duration, "bin");
    const Segment* before =
        i > 0 && piece.segments[i - 1].end == segment.begin ? &piece.segments[i - 1] : nullptr;
    const bool is_last = segment.end == piece.length;
    const bool ends_here = is_last
                               ? !piece.cut.right
                               : i + 1 < piece.segments.size() && piece.segments[i + 1].begin == segment.end;
    const bool starts_here = segment.begin == 0 ? !piece.cut.left : before != nullptr;
    if (!is_possible(model, duration, segment.label, !starts_here || !ends_here)) {
      if (duration > model.max_duration)
        return problem(fmt::format("the segment of {} has {}, but the longest is {} and there is no tail",
                                   name(segment.label), bins, model.max_duration));
      if (const int shortest = summarize_durations(model, segment.label).shortest; duration < shortest)
        return problem(fmt::format("the segment of {} has {}, but the shortest has {}", name(segment.label),
                                   bins, shortest));
      return problem("the segment of " + name(segment.label) + " has " + bins +
                     ", a duration that the parameters forbid");
    }
    if (starts_here && is_ruled_out(piece.start_scores, segment.begin, segment.label, model.num_labels))
      return problem("the segment of " + name(segment.label) +
                     " begins where its score of --start-scores is -inf");
    if (ends_here && is_ruled_out(piece.end_scores, segment.end - 1, segment.label, model.num_labels))
      return problem("the segment of " + name(segment.label) +
                     " ends where its score of --end-scores is -inf");
    if (before != nullptr && model.transition_at(before->label, segment.label) == kNegativeInfinity)
      return problem("the segment of " + name(segment.label) + " follows a segment of " +
                     name(before->label) + ", a transition that the parameters forbid");
    if (segment.begin == 0 && (model.start_scores[segment.label] == kNegativeInfinity ||
                               (starts_here && initial_term(model, segment.label) == kNegativeInfinity)))
      return problem("a piece begins with " + name(segment.label) + ", which the parameters forbid");
    if (is_last && model.end_scores[segment.label] == kNegativeInfinity)
      return problem("a piece ends with " + name(segment.label) + ", which the parameters forbid");
  }
  return {};
}

}  // namespace semicrf
