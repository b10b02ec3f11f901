#include "analyses/draws/draw_tracer.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace semicrf {

using Phase = TraceCursor::Phase;

void DrawTracer::choose_last_label(const BoundaryState& state, DrawCursor& cursor) {
  logs_ = state.message;
  cursor.at.phase = Phase::kFindStart;
  cursor.at.boundary = cursor.at.segment_end = state.boundary;
  cursor.at.label = static_cast<int>(choose(uniforms(state.boundary)[1], cursor));
}

bool DrawTracer::trace(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed,
                       std::size_t stretch) {
  while (cursor.at.phase != Phase::kDone && cursor.at.boundary > window.range.begin) {
    if (reversed.size() >= stretch) return true;
    switch (cursor.at.phase) {
      case Phase::kFindStart:
        choose_start(window, cursor, reversed);
        break;
      case Phase::kInTail:
        follow_tail(window, cursor, reversed);
        break;
      default:
        choose_source(window, cursor);
    }
  }
  return false;
}

// A segment of c ends at boundary e: its start is e-k with a weight of start + content + B[k] for k <= K;
// else it is in the tail.
void DrawTracer::choose_start(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed) {
  const std::int64_t e = cursor.at.boundary;
  const int c = cursor.at.label;
  const std::int64_t longest = model_->max_duration;
  const double base = window.rows->alpha(e, c).level;
  CompensatedSum content;
  const auto extend = [&](std::int64_t t) {
    const double score = t < 0 ? kNegativeInfinity : window.scores.emission(t, c);
    if (score > kNegativeInfinity) content.add(score);
    return score > kNegativeInfinity;
  };
  logs_.clear();
  std::int64_t k = 1;
  for (; k <= longest && extend(e - k); ++k) {
    const LogMessage before = window.rows->start(e - k, c);
    logs_.push_back(content.plus(before.level - base) + (before.value + model_->duration_score(k, c)));
  }
  const bool may_be_longer = k > longest && model_->has_tail() && extend(e - longest - 1);
  if (may_be_longer) {
    logs_.push_back(entering(window, e, c, content, base));
    logs_.push_back(continuing(window, e, c, base));
  }
  const auto choice = static_cast<std::int64_t>(choose(uniforms(e)[0], cursor));
  if (choice <= longest) return found(e - choice - 1, cursor, reversed);
  content.add(-window.scores.emission(e - 1, c));
  cursor.tail_content = content;
  cursor.at.phase = Phase::kInTail;
  cursor.at.boundary = e - 1;
}

void DrawTracer::follow_tail(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed) {
  const std::int64_t b = cursor.at.boundary;
  const int c = cursor.at.label;
  const std::int64_t start = b - model_->max_duration - 1;
  const double base = window.rows->tail(b, c).level;
  const double first = window.scores.emission(start, c);
  if (first > kNegativeInfinity) cursor.tail_content.add(first);
  logs_.assign({first > kNegativeInfinity ? entering(window, b, c, cursor.tail_content, base) : first,
                continuing(window, b, c, base)});
  if (choose(uniforms(b)[0], cursor) == 0) return found(start, cursor, reversed);
  cursor.tail_content.add(-window.scores.emission(b - 1, c));
  cursor.at.boundary = b - 1;
}

double DrawTracer::entering(const DrawWindow& window, std::int64_t b, int c, const CompensatedSum& content,
                            double base) const {
  const LogMessage before = window.rows->start(b - model_->max_duration - 1, c);
  return content.plus(before.level - base) +
         (before.value + model_->duration_score(model_->max_duration + 1, c));
}

double DrawTracer::continuing(const DrawWindow& window, std::int64_t b, int c, double base) const {
  if (b - 1 <= model_->max_duration) return kNegativeInfinity;
  const LogMessage open = window.rows->tail(b - 1, c);
  return (window.scores.emission(b - 1, c) + (open.level - base)) + (open.value + model_->log_tail[c]);
}

void DrawTracer::choose_source(const DrawWindow& window, DrawCursor& cursor) {
  const std::int64_t s = cursor.at.boundary;
  logs_.clear();
  for (int from = 0; from < model_->num_labels; ++from)
    logs_.push_back(window.rows->alpha(s, from).value + model_->transition_at(from, cursor.at.label));
  cursor.at.label = static_cast<int>(choose(uniforms(s)[1], cursor));
  cursor.at.phase = Phase::kFindStart;
  cursor.at.segment_end = s;
}

void DrawTracer::found(std::int64_t start, DrawCursor& cursor, std::vector<Segment>& reversed) {
  reversed.push_back({start, cursor.at.segment_end, cursor.at.label});
  cursor.at.phase = start == 0 ? Phase::kDone : Phase::kFindSource;
  cursor.at.boundary = start;
}

// Samples index i with probability exp(logs_[i]) / sum.
std::size_t DrawTracer::choose(double uniform, DrawCursor& cursor) {
  const auto best = std::max_element(logs_.begin(), logs_.end());
  if (best == logs_.end() || *best == kNegativeInfinity)
    throw std::logic_error("a draw has no way on: the forward messages contradict each other");
  const double top = *best;
  double sum = 0;
  for (double& log : logs_) {
    log = std::exp(log - top);
    sum += log;
  }
  const double target = uniform * sum;
  double reached = 0;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < logs_.size() && reached <= target; ++i) {
    reached += logs_[i];
    if (logs_[i] > 0) chosen = i;
  }
  cursor.log_likelihood.add(std::log(logs_[chosen] / sum));
  return chosen;
}

}  // namespace semicrf
