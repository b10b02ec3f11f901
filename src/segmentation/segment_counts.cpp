#include "segmentation/segment_counts.h"

#include <algorithm>
#include <cmath>

namespace semicrf {
namespace {

using Lengths = std::map<std::int64_t, std::int64_t>;  // bases: segments

// The smallest length that a share of the segments does not exceed.
std::int64_t length_quantile(const Lengths& lengths, std::int64_t segments, double share) {
  const auto wanted =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(segments))));
  std::int64_t seen = 0;
  for (const auto& [length, count] : lengths)
    if ((seen += count) >= wanted) return length;
  return lengths.rbegin()->first;
}

// Statistics of the lengths of at least one segment.
LengthStats length_stats(const Lengths& lengths, std::int64_t segments, std::int64_t bases) {
  const auto quantile = [&](double share) { return length_quantile(lengths, segments, share); };
  return {static_cast<double>(bases) / static_cast<double>(segments),
          lengths.begin()->first,
          quantile(0.05),
          quantile(0.25),
          quantile(0.5),
          quantile(0.75),
          quantile(0.95),
          lengths.rbegin()->first};
}

}  // namespace

SegmentCounts::SegmentCounts(std::size_t labels, const ChainModel* model)
    : max_duration_(model == nullptr ? 0 : model->max_duration),
      labels_(labels),
      transitions_(labels * labels) {
  for (std::size_t c = 0; c < labels; ++c)
    has_tail_.push_back(model != nullptr && model->has_tail() && model->log_tail[c] > kNegativeInfinity);
}

void SegmentCounts::add(std::size_t label, std::int64_t bases, std::int64_t bins) {
  Counts& counts = labels_[label];
  counts.lengths[bases] += 1;
  counts.bases += bases;
  counts.segments += 1;
  counts.at_cap += bins == max_duration_ ? 1 : 0;
  counts.in_tail += bins > max_duration_ ? 1 : 0;
}

void SegmentCounts::add(const SegmentCounts& other) {
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    Counts& to = labels_[c];
    const Counts& from = other.labels_[c];
    for (const auto& [length, count] : from.lengths) to.lengths[length] += count;
    to.bases += from.bases;
    to.segments += from.segments;
    to.at_cap += from.at_cap;
    to.in_tail += from.in_tail;
  }
  for (std::size_t i = 0; i < transitions_.size(); ++i) transitions_[i] += other.transitions_[i];
}

std::vector<DecodedLabelStats> SegmentCounts::stats() const {
  std::int64_t all = 0;
  for (const Counts& counts : labels_) all += counts.bases;
  std::vector<DecodedLabelStats> stats;
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    const Counts& counts = labels_[c];
    DecodedLabelStats one;
    one.segments = counts.segments;
    one.bases = counts.bases;
    one.share = all > 0 ? static_cast<double>(counts.bases) / static_cast<double>(all) : 0;
    const auto row = transitions_.begin() + static_cast<std::ptrdiff_t>(c * labels_.size());
    one.followed_by.assign(row, row + static_cast<std::ptrdiff_t>(labels_.size()));
    if (counts.segments > 0) {
      const auto segments = static_cast<double>(counts.segments);
      one.length = length_stats(counts.lengths, counts.segments, counts.bases);
      if (max_duration_ > 0 && has_tail_[c]) one.in_tail = static_cast<double>(counts.in_tail) / segments;
      if (max_duration_ > 0 && !has_tail_[c]) one.at_cap = static_cast<double>(counts.at_cap) / segments;
    }
    stats.push_back(std::move(one));
  }
  return stats;
}

std::optional<LengthStats> SegmentCounts::lengths() const {
  Counts all;
  for (const Counts& counts : labels_) {
    for (const auto& [length, count] : counts.lengths) all.lengths[length] += count;
    all.segments += counts.segments;
    all.bases += counts.bases;
  }
  if (all.segments == 0) return std::nullopt;
  return length_stats(all.lengths, all.segments, all.bases);
}

}  // namespace semicrf
