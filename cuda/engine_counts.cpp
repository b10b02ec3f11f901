// Expected counts of a window whose posteriors were just computed.
#include <algorithm>

#include "cuda/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

std::size_t wide(std::int64_t n) { return static_cast<std::size_t>(n); }

}  // namespace

// Counts are added to what the caller has, interval by interval in their order, so that windows do not change
// a digit.
template <class Real>
void CudaEngine<Real>::count_all(const std::vector<AnchorTask>& tasks, std::int64_t mark,
                                 ExpectedCounts& counts) {
  constexpr std::size_t kMostWorkspace = std::size_t(1) << 30;
  counts.shape_for(model_);
  const std::size_t labels = wide(model_.num_labels);
  const std::size_t rows = wide(mark + 1) * labels;
  const std::size_t durations = wide(model_.max_duration) * labels;
  const std::size_t parts = durations + labels * labels + labels;
  const std::size_t batch =
      std::clamp<std::size_t>(kMostWorkspace / ((6 * rows + parts) * sizeof(double)), 1, tasks.size());
  count_rows_.reserve(batch * rows * 5);
  count_forbidden_.reserve(batch * rows);
  count_parts_.reserve(batch * parts);
  std::vector<double> totals = counts.duration;
  totals.insert(totals.end(), counts.transition.begin(), counts.transition.end());
  totals.insert(totals.end(), counts.tail.begin(), counts.tail.end());
  totals.resize(parts, 0.0);
  count_totals_.upload(totals, stream_);

  CountsParameters<Real> p{};
  p.forward = forward_store_.view();
  p.backward = backward_store_.view();
  p.forward_states = log_forward().states();
  p.backward_states = log_backward().states();
  p.sequence = window_->on_device();
  p.backward_reports = log_backward().reports();
  p.tasks = anchor_buffer_.get();
  p.z_whole = z_whole_.get();
  p.z_offset = z_offset_.get();
  p.z_log = z_log_.get();
  const TablesView<Real> tables = log_forward().chain().view();
  p.bias = tables.bias;
  p.transition_log = tables.transition_log;
  p.log_tail = tables.log_tail;
  p.last_bias = tables.last_bias;
  p.first_scores = tables.first_scores;
  p.last_scores = tables.last_scores;
  p.starts = count_rows_.get();
  p.ends = p.starts + batch * rows;
  p.alpha = p.ends + batch * rows;
  p.delta = p.alpha + batch * rows;
  p.tail_rows = p.delta + batch * rows;
  p.forbidden = count_forbidden_.get();
  p.durations = count_parts_.get();
  p.transitions = p.durations + batch * durations;
  p.tails = p.transitions + batch * labels * labels;
  p.mark = mark;
  p.labels = model_.num_labels;
  p.width = tables.width;
  p.duration = model_.max_duration;
  p.tail = model_.has_tail() ? 1 : 0;
  p.uniform = model_.initial == InitialTerm::kUniform ? 1 : 0;
  double* const totals_at = count_totals_.get();
  for (std::size_t first = 0; first < tasks.size(); first += batch) {
    p.first_task = static_cast<int>(first);
    const int count = static_cast<int>(std::min(batch, tasks.size() - first));
    count_intervals(p, count, stream_);
    add_partials(p.durations, count, static_cast<std::int64_t>(durations), totals_at, stream_);
    add_partials(p.transitions, count, static_cast<std::int64_t>(labels * labels), totals_at + durations,
                 stream_);
    add_partials(p.tails, count, static_cast<std::int64_t>(labels), totals_at + durations + labels * labels,
                 stream_);
  }
  totals = count_totals_.download(parts, stream_);
  const auto at = totals.begin();
  const auto end_of_durations = at + static_cast<std::ptrdiff_t>(durations);
  const auto end_of_transitions = end_of_durations + static_cast<std::ptrdiff_t>(labels * labels);
  std::copy(at, end_of_durations, counts.duration.begin());
  std::copy(end_of_durations, end_of_transitions, counts.transition.begin());
  if (!counts.tail.empty()) std::copy(end_of_transitions, totals.end(), counts.tail.begin());
}

template void CudaEngine<float>::count_all(const std::vector<AnchorTask>&, std::int64_t, ExpectedCounts&);
template void CudaEngine<double>::count_all(const std::vector<AnchorTask>&, std::int64_t, ExpectedCounts&);

}  // namespace semicrf::cuda
