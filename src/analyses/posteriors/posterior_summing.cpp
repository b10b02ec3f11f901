#include "analyses/posteriors/posterior_summing.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/sizes.h"
#include "core/threads/parallel.h"

namespace semicrf {
namespace {

void add_rows(std::span<const double> rows, std::vector<double>& sums) {
  for (std::size_t first = 0; first < rows.size(); first += sums.size())
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += rows[first + c];
}

}  // namespace

PosteriorSumming::PosteriorSumming(const ChainModel& model, Precision precision, ScoreSource* scored,
                                   const EdgeRoles* roles, int threads)
    : labels_(wide(model.num_labels)),
      roles_(roles),
      threads_(threads),
      score_(model, model, precision, threads) {
  constexpr std::size_t kSlabBytes = std::size_t{1} << 20;
  if (scored != nullptr) cross_.emplace(model, model, *scored, precision, threads, kSlabBytes);
  sums_.counts.shape_for(model);
  sums_.label_bins.resize(labels_);
  sums_.label_segments.resize(labels_);
  sums_.label_entropies.resize(labels_ / wide(roles ? roles->count() : 1));
}

void PosteriorSumming::add(const PosteriorBlock& block, const ScoreWindow& scores) {
  if (cross_) {
    cross_->add(block, scores);
  } else {
    score_.add(block, scores, scores);
  }
  add_rows(block.labels, sums_.label_bins);
  add_rows(block.starts, sums_.label_segments);
  // Positions whose terms are kept until they are added in their order.
  constexpr std::size_t kTerms = 1 << 14;
  for (std::size_t first = 0; first < block.labels.size(); first += kTerms * labels_)
    add_entropies(block.labels.subspan(first, std::min(kTerms * labels_, block.labels.size() - first)));
  const std::span<const double> last = block.labels.last(labels_);
  sums_.last_bin.assign(last.begin(), last.end());
}

void PosteriorSumming::add_entropies(std::span<const double> rows) {
  entropies_.assign(rows.begin(), rows.end());
  if (roles_ != nullptr) roles_->fold_rows(entropies_);
  constexpr std::size_t kPart = 1 << 12;
  parallel_for(threads_, (entropies_.size() + kPart - 1) / kPart, [&](std::size_t part, int) {
    const std::size_t end = std::min(entropies_.size(), (part + 1) * kPart);
    for (std::size_t i = part * kPart; i < end; ++i)
      entropies_[i] = entropies_[i] > 0 ? -entropies_[i] * std::log(entropies_[i]) : 0;
  });
  add_rows(entropies_, sums_.label_entropies);
}

PosteriorSums PosteriorSumming::finish(double log_partition) {
  // One segmentation alone has no entropy; rounding may leave less than nothing.
  const ExpectedScore& score = cross_ ? cross_->score() : score_;
  sums_.entropy = std::max(0.0, score.minus_expectation(log_partition, sums_.counts));
  sums_.entropy_uncertainty = score.uncertainty(sums_.counts);
  return std::move(sums_);
}

}  // namespace semicrf
