#include "pipeline/analyses/posteriors/posterior_summing.h"

#include <algorithm>
#include <utility>

namespace semicrf {
namespace {

void add_rows(std::span<const double> rows, std::vector<double>& sums) {
  for (std::size_t first = 0; first < rows.size(); first += sums.size())
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += rows[first + c];
}

}  // namespace

PosteriorSumming::PosteriorSumming(const ChainModel& model, ScoreSource* scored, int threads)
    : labels_(static_cast<std::size_t>(model.num_labels)), score_(model, model, threads) {
  constexpr std::size_t kSlabBytes = std::size_t{1} << 20;
  if (scored != nullptr) cross_.emplace(model, model, *scored, threads, kSlabBytes);
  sums_.counts.shape_for(model);
  sums_.label_bins.resize(labels_);
  sums_.label_segments.resize(labels_);
}

void PosteriorSumming::add(const PosteriorBlock& block, const ScoreWindow& scores) {
  if (cross_) {
    cross_->add(block, scores);
  } else {
    score_.add(block, scores, scores);
  }
  add_rows(block.labels, sums_.label_bins);
  add_rows(block.starts, sums_.label_segments);
  const std::span<const double> last = block.labels.last(labels_);
  sums_.last_bin.assign(last.begin(), last.end());
}

PosteriorSums PosteriorSumming::finish(double log_partition) {
  // One segmentation alone has no entropy; rounding may leave less than nothing.
  const ExpectedScore& score = cross_ ? cross_->score() : score_;
  sums_.entropy = std::max(0.0, score.minus_expectation(log_partition, sums_.counts));
  return std::move(sums_);
}

}  // namespace semicrf
