#include "engine/directed_model.h"

#include <algorithm>

#include "engine/masks.h"

namespace semicrf {
DirectedModel direct(const ChainModel& model, Direction direction) {
  DirectedModel out;
  out.direction = direction;
  out.num_labels = model.num_labels;
  out.max_duration = model.max_duration;
  out.duration_bias = model.duration_bias;
  out.log_tail = model.log_tail;
  out.masks_forbid = masks_forbid(model);
  const auto labels = static_cast<std::size_t>(model.num_labels);
  const std::vector<double> zeros(labels, 0.0);
  const std::vector<double>& start = model.start_scores.empty() ? zeros : model.start_scores;
  const std::vector<double>& end = model.end_scores.empty() ? zeros : model.end_scores;
  std::vector<double> into(labels, kNegativeInfinity);
  std::vector<double> out_of(labels, kNegativeInfinity);
  for (std::size_t to = 0; to < labels; ++to) {
    for (std::size_t from = 0; from < labels; ++from)
      into[to] = std::max(into[to], model.transition[from * labels + to]);
    if (into[to] == kNegativeInfinity) continue;
    for (std::size_t from = 0; from < labels; ++from) {
      out_of[from] = std::max(out_of[from], model.transition[from * labels + to] - into[to]);
    }
  }
  out.cut_begin = direction == Direction::kForward ? model.cut.left : model.cut.right;
  out.cut_end = direction == Direction::kForward ? model.cut.right : model.cut.left;
  out.from_bound = direction == Direction::kForward ? out_of : into;
  out.to_bound = direction == Direction::kForward ? into : out_of;
  if (direction == Direction::kForward) {
    out.transition = model.transition;
    out.first_scores = start;
    out.last_scores = end;
    out.initial_transition = model.initial == InitialTerm::kUniform && !model.cut.left;
    return out;
  }
  out.transition.resize(labels * labels);
  for (std::size_t from = 0; from < labels; ++from) {
    for (std::size_t to = 0; to < labels; ++to) {
      out.transition[to * labels + from] = model.transition[from * labels + to];
    }
  }
  out.first_scores = end;
  out.last_scores = start;
  out.initial_transition = false;
  return out;
}

}  // namespace semicrf
