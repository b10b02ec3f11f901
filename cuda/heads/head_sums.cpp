#include "cuda/heads/head_sums.h"

#include <algorithm>
#include <map>

#include "core/sizes.h"
#include "cuda/counts/counts_launch.h"
#include "cuda/engine/device_needs.h"

namespace semicrf::cuda {
namespace {

using HeadMember = ExpectedFeatures::Head ExpectedFeatures::*;

// A head whose sums are wanted, and where they lie in a row of sums.
struct PlacedHead {
  HeadMember member;
  const HeadTable* table;
  std::size_t at;
};

// `ends`: where the posteriors of the first and the last position lie, behind the heads.
std::vector<PlacedHead> placed_heads(const HeadRequest& request, int labels, std::size_t* ends) {
  std::vector<PlacedHead> heads;
  std::size_t at = 0;
  const auto add = [&](HeadMember member, const HeadTable* table) {
    if (table == nullptr || !request.wants(member)) return;
    heads.push_back({member, table, at});
    at += table->weights.size() + wide(labels);
  };
  add(&ExpectedFeatures::emission, request.heads->emission);
  add(&ExpectedFeatures::start, request.heads->start);
  add(&ExpectedFeatures::finish, request.heads->finish);
  *ends = at;
  return heads;
}

// Calls visit(array, where it lies in a row of sums) for all arrays that the target wants.
template <class Visit>
void for_each_array(const HeadRequest& request, int labels, ExpectedFeatures& target, Visit visit) {
  std::size_t ends = 0;
  for (const PlacedHead& head : placed_heads(request, labels, &ends)) {
    ExpectedFeatures::Head& sums = target.*head.member;
    if (sums.bias.empty()) continue;
    visit(sums.weights, head.at);
    visit(sums.bias, head.at + head.table->weights.size());
  }
  visit(target.first, ends);
  visit(target.last, ends + wide(labels));
}

}  // namespace

HeadRequest head_request(std::span<const ScoreWindow> windows, std::span<const PosteriorArrays> out) {
  HeadRequest request;
  const auto wants = [](const PosteriorArrays& arrays) { return arrays.features != nullptr; };
  if (std::none_of(out.begin(), out.end(), wants)) return request;
  for (const PosteriorArrays& arrays : out) request.targets.push_back(arrays.features);
  request.heads = &windows.front().features;
  return request;
}

bool HeadRequest::wants(ExpectedFeatures::Head ExpectedFeatures::*head) const {
  return std::any_of(targets.begin(), targets.end(), [&](const ExpectedFeatures* target) {
    return target != nullptr && !(target->*head).bias.empty();
  });
}

std::size_t head_sum_entries(const HeadRequest& request, int labels) {
  std::size_t ends = 0;
  placed_heads(request, labels, &ends);
  return ends + 2 * wide(labels);
}

// Stretches begin with the chunks of the grid, so that windows, which do as well, do not change them.
template <class Real>
void HeadSums<Real>::plan(const HeadRequest& request, const SequenceLayout& layout) {
  targets_.clear();
  std::map<ExpectedFeatures*, std::size_t> numbers;
  std::vector<std::vector<Stretch>> of_target;
  for (std::size_t i = 0; i < request.targets.size(); ++i) {
    if (request.targets[i] == nullptr) continue;
    const auto [known, is_new] = numbers.try_emplace(request.targets[i], targets_.size());
    if (is_new) {
      targets_.push_back(request.targets[i]);
      of_target.emplace_back();
    }
    std::vector<Stretch>& stretches = of_target[known->second];
    const PlacedSequence& placed = layout.sequences[i];
    std::int64_t edge = placed.range.begin + placed.cut.chunk;  // where the chunk ends
    for (std::int64_t begin = placed.range.begin; begin < placed.range.end;) {
      if (begin == edge) edge += placed.cut.chunk;
      const std::int64_t end = std::min({begin + kHeadStretch, edge, placed.range.end});
      stretches.push_back({begin, end, placed.length, placed.first_row + begin - placed.range.begin,
                           placed.first_row - request.features.begin});
      begin = end;
    }
  }
  stretches_.clear();
  begins_.assign(1, 0);
  for (const std::vector<Stretch>& stretches : of_target) {
    stretches_.insert(stretches_.end(), stretches.begin(), stretches.end());
    begins_.push_back(static_cast<std::int64_t>(stretches_.size()));
  }
}

// Stretches, and what the targets begin with.
template <class Real>
void HeadSums<Real>::send(const HeadRequest& request, int labels, cudaStream_t stream) {
  host_stretches_.reserve(stretches_.size());
  std::copy(stretches_.begin(), stretches_.end(), host_stretches_.get());
  device_stretches_.upload(host_stretches_.get(), stretches_.size(), stream);
  host_begins_.reserve(begins_.size());
  std::copy(begins_.begin(), begins_.end(), host_begins_.get());
  device_begins_.upload(host_begins_.get(), begins_.size(), stream);
  const std::size_t count = targets_.size() * entries_;
  host_totals_.reserve(count);
  std::fill_n(host_totals_.get(), count, 0.0);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    double* const row = host_totals_.get() + i * entries_;
    for_each_array(request, labels, *targets_[i], [&](const std::vector<double>& array, std::size_t at) {
      std::copy(array.begin(), array.end(), row + at);
    });
  }
  totals_.upload(host_totals_.get(), count, stream);
}

template <class Real>
void HeadSums<Real>::sum_stretches(std::size_t first, std::size_t count, const HeadRequest& request,
                                   const HeadPosteriors<Real>& posteriors, int labels, cudaStream_t stream) {
  HeadSumsJob<Real> job{};
  job.stretches = device_stretches_.get() + first;
  job.features = request.features;
  job.parts = parts_.get();
  job.entries = static_cast<std::int64_t>(entries_);
  job.num_stretches = static_cast<int>(count);
  job.labels = labels;
  std::size_t ends = 0;
  for (const PlacedHead& head : placed_heads(request, labels, &ends)) {
    job.posteriors = posteriors.labels;
    if (head.member == &ExpectedFeatures::start) job.posteriors = posteriors.starts;
    if (head.member == &ExpectedFeatures::finish) job.posteriors = posteriors.ends;
    job.at = static_cast<std::int64_t>(head.at);
    job.first = head.table->first;
    job.inputs = static_cast<int>(head.table->weights.size() / wide(labels));
    sum_head(job, stream);
  }
  job.posteriors = posteriors.labels;
  job.at = static_cast<std::int64_t>(ends);
  copy_ends(job, stream);
}

// To the totals of the targets they belong to.
template <class Real>
void HeadSums<Real>::add_parts(std::size_t first, std::size_t count, cudaStream_t stream) {
  const auto begin = static_cast<std::int64_t>(first);
  const auto target_of = [&](std::int64_t stretch) {
    return std::upper_bound(begins_.begin(), begins_.end(), stretch) - begins_.begin() - 1;
  };
  const std::int64_t first_target = target_of(begin);
  const std::int64_t last_target = target_of(begin + static_cast<std::int64_t>(count) - 1);
  add_rows({device_begins_.get(), begin, static_cast<std::int64_t>(count), first_target,
            last_target - first_target + 1},
           parts_.get(), static_cast<std::int64_t>(entries_), totals_.get(), stream);
}

template <class Real>
void HeadSums<Real>::begin(const HeadRequest& request, const SequenceLayout& layout,
                           const HeadPosteriors<Real>& posteriors, int labels, cudaStream_t stream) {
  entries_ = head_sum_entries(request, labels);
  plan(request, layout);
  if (stretches_.empty()) return;
  send(request, labels, stream);
  const std::size_t most = std::max<std::size_t>(1, kMostHeadSums / (entries_ * sizeof(double)));
  parts_.reserve(std::min(most, stretches_.size()) * entries_);
  for (std::size_t first = 0; first < stretches_.size(); first += most) {
    const std::size_t count = std::min(most, stretches_.size() - first);
    sum_stretches(first, count, request, posteriors, labels, stream);
    add_parts(first, count, stream);
  }
  totals_.download(host_totals_.get(), 0, targets_.size() * entries_, stream);
}

template <class Real>
void HeadSums<Real>::write_to_targets(const HeadRequest& request, int labels) const {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double* const row = host_totals_.get() + i * entries_;
    for_each_array(request, labels, *targets_[i], [&](std::vector<double>& array, std::size_t at) {
      std::copy_n(row + at, array.size(), array.begin());
    });
  }
}

template class HeadSums<float>;
template class HeadSums<double>;

}  // namespace semicrf::cuda
