#include "analyses/draws/forward_rows.h"

#include <algorithm>
#include <stdexcept>

namespace semicrf {

ForwardRows::ForwardRows(const ChainModel& model, std::int64_t reach)
    : labels_(static_cast<std::size_t>(model.num_labels)), has_tail_(model.has_tail()), reach_(reach) {}

std::size_t ForwardRows::bytes_per_position(const ChainModel& model) {
  const auto labels = static_cast<std::size_t>(model.num_labels);
  return sizeof(double) * (2 + labels * (model.has_tail() ? 3 : 2));
}

ForwardArrays ForwardRows::prepare(PositionRange range) {
  range_ = range;
  const auto n = static_cast<std::size_t>(range.size());
  const auto reach = static_cast<std::size_t>(reach_);
  starts_.resize((reach + n) * labels_);
  start_levels_.resize(reach + n);
  ends_.resize((1 + n) * labels_);
  tails_.resize(has_tail_ ? (1 + n) * labels_ : 0);
  end_levels_.resize(1 + n);
  ForwardArrays out;
  out.starts = starts_.data() + reach * labels_;
  out.start_levels = start_levels_.data() + reach;
  out.ends = ends_.data() + labels_;
  if (has_tail_) out.tails = tails_.data() + labels_;
  out.end_levels = end_levels_.data() + 1;
  return out;
}

void ForwardRows::finish(const ForwardWindow& window, const ForwardEdge* before) {
  const auto reach = static_cast<std::ptrdiff_t>(reach_);
  for (auto level = start_levels_.begin() + reach; level != start_levels_.end(); ++level)
    *level += window.whole;
  for (auto level = end_levels_.begin() + 1; level != end_levels_.end(); ++level) *level += window.whole;
  if (before != nullptr) {
    std::copy(before->starts.begin(), before->starts.end(), starts_.begin());
    std::copy(before->start_levels.begin(), before->start_levels.end(), start_levels_.begin());
    std::copy(before->tails.begin(), before->tails.end(), tails_.begin());
    end_levels_.front() = before->end_level;
    return;
  }
  std::fill_n(starts_.begin(), static_cast<std::size_t>(reach) * labels_, kNegativeInfinity);
  std::fill_n(start_levels_.begin(), reach, 0.0);
  std::fill_n(tails_.begin(), has_tail_ ? labels_ : 0, kNegativeInfinity);
  end_levels_.front() = 0;
}

ForwardEdge ForwardRows::edge() const {
  if (range_.size() < reach_) throw std::logic_error("a window is shorter than its segments may be");
  const auto reach = static_cast<std::ptrdiff_t>(reach_);
  const auto labels = static_cast<std::ptrdiff_t>(labels_);
  ForwardEdge edge;
  edge.starts.assign(starts_.end() - reach * labels, starts_.end());
  edge.start_levels.assign(start_levels_.end() - reach, start_levels_.end());
  if (has_tail_) edge.tails.assign(tails_.end() - labels, tails_.end());
  edge.end_level = end_levels_.back();
  return edge;
}

}  // namespace semicrf
