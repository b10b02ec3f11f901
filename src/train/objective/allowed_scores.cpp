#include "train/objective/allowed_scores.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analyses/constraints/constrained_source.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

// Lines that touch, so that a segment ends between them.
bool are_lines_of_one_label(const LabelEvidence& left, const LabelEvidence& right) {
  return left.one_segment && right.one_segment && std::ranges::any_of(left.labels, [&](int label) {
           return std::ranges::find(right.labels, label) != right.labels.end();
         });
}

// Whether a segment with one of the labels can follow one with another, or itself.
bool may_change_within(const LabelEvidence& line, const ChainModel& model) {
  return std::ranges::any_of(line.labels, [&](int from) {
    return std::ranges::any_of(line.labels,
                               [&](int to) { return model.transition_at(from, to) > kNegativeInfinity; });
  });
}

std::vector<Constraint> constraints_of(std::span<const LabelEvidence> evidence, const ChainModel& model) {
  std::vector<Constraint> constraints;
  const LabelEvidence* before = nullptr;
  for (const LabelEvidence& one : evidence) {
    if (before != nullptr && are_lines_of_one_label(*before, one))
      constraints.push_back({Constraint::Kind::kBoundary, one.begin, one.begin + 1, {}, 0});
    if (!one.is_free()) {
      Constraint others{Constraint::Kind::kForbidden, one.begin, one.end, {}, 0};
      for (int c = 0; c < model.num_labels; ++c)
        if (std::ranges::find(one.labels, c) == one.labels.end()) others.forbidden.push_back(c);
      if (!others.forbidden.empty()) constraints.push_back(std::move(others));
    }
    if (one.one_segment && one.end - one.begin > 1 && may_change_within(one, model))
      constraints.push_back({Constraint::Kind::kNoBoundary, one.begin + 1, one.end, {}, 0});
    before = &one;
  }
  return constraints;
}

}  // namespace

bool needs_penalty(std::span<const LabelEvidence> evidence) {
  for (std::size_t i = 1; i < evidence.size(); ++i)
    if (are_lines_of_one_label(evidence[i - 1], evidence[i])) return true;
  return false;
}

ScoreWindow allowed_scores(const ScoreWindow& window, const ChainModel& model,
                           std::span<const LabelEvidence> evidence, int threads, double penalty,
                           ScoreBuffers& buffers) {
  const std::vector<Constraint> constraints = constraints_of(evidence, model);
  MemoryScoreSource source(window, model.num_labels);
  const ScoreWindow allowed =
      ConstrainedSource(source, model, constraints, threads, penalty).read(0, window.length, buffers);
  const std::size_t labels = model.num_labels;
  std::vector<double>& emissions = buffers.emissions.f64;
  for (const LabelEvidence& one : evidence)
    for (std::size_t i = 0; i < one.log_weights.size(); ++i) {
      // One segment counts once, single bins each.
      const std::int64_t end = one.one_segment ? one.begin + 1 : one.end;
      for (std::int64_t t = one.begin; t < end; ++t)
        emissions[t * labels + one.labels[i]] += one.log_weights[i];
    }
  return allowed;
}

}  // namespace semicrf
