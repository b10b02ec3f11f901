#include "reference/expected_counts.h"

#include <algorithm>
#include <cmath>

namespace semicrf {

CountsPass::CountsPass(const ReferenceModel& model, const ReferenceScores& scores,
                       const ForwardMessages& forward, const BackwardMessages& backward,
                       ExpectedCounts& counts)
    : model_(model),
      scores_(scores),
      forward_(forward),
      backward_(backward),
      counts_(counts),
      labels_(static_cast<std::size_t>(model.num_labels)) {
  counts_.shape_for(model);
  if (model.by_duration()) counts_.transition.resize(model.transition_by_duration.size());
}

void CountsPass::add_position(std::int64_t t, const LogPartition& log_partition) {
  if (log_partition.log_mass == kNegativeInfinity) return;
  const auto row = static_cast<std::size_t>(t);
  const double shift =
      (forward_.level[row] + backward_.level[row] - log_partition.level) - log_partition.log_mass;
  if (model_.by_duration())
    add_transitions_by_duration(t, shift);
  else
    add_transitions(t, shift);
  add_durations(t, shift);
  if (model_.has_tail()) add_tails(t, log_partition);
}

// exp( alpha_t(from) + T[from,to] + Ps[t,to] + delta_t(to) - log Z ); alpha_0 is 0.
void CountsPass::add_transitions(std::int64_t t, double shift) {
  if (t == 0 && model_.initial != InitialTerm::kUniform) return;
  for (int from = 0; from < model_.num_labels; ++from) {
    for (int to = 0; to < model_.num_labels; ++to) {
      const double after = scores_.start(t, to) + backward_.delta[index(t, to)];
      counts_.transition[index(from, to)] +=
          std::exp(forward_.alpha[index(t, from)] + model_.transition_at(from, to) + after + shift);
    }
  }
}

// exp( alpha_t(from) + T_k[from,to] + Ps[t,to] + all after a segment of k positions - log Z )
void CountsPass::add_transitions_by_duration(std::int64_t t, double shift) {
  if (t == 0 && model_.initial != InitialTerm::kUniform) return;
  const double level = backward_.level[t];
  for (int to = 0; to < model_.num_labels; ++to)
    for_each_duration(model_, scores_, backward_, t, to, level, [&](std::int64_t k, double after) {
      for (int from = 0; from < model_.num_labels; ++from) {
        const std::size_t entry = model_.transition_index(k, from, to);
        const double before = forward_.alpha[index(t, from)] + model_.transition_by_duration[entry];
        counts_.transition[entry] += std::exp(before + scores_.start(t, to) + after + shift);
      }
    });
}

// exp( gamma_t(c) + B[k,c] + content + Pe[t+k-1,c] + beta_{t+k}(c) - log Z ); what is longer than K counts
// as K.
void CountsPass::add_durations(std::int64_t t, double shift) {
  const std::int64_t duration = model_.max_duration;
  const std::int64_t longest = duration + (model_.has_tail() ? 1 : 0);
  const double level = backward_.level[t];
  for (int c = 0; c < model_.num_labels; ++c) {
    for_each_extension(scores_, backward_, t, c, longest, level, [&](std::int64_t k, double content) {
      const double after = k <= duration ? scores_.end(t + k - 1, c) + backward_.beta[index(t + k, c)]
                                         : backward_.tail[index(t + k, c)];
      const double before = start_message(model_, scores_, forward_, t, c, k) + shift;
      counts_.duration[index(std::min(k, duration) - 1, c)] +=
          std::exp(before + model_.duration_score(k, c) + content + after);
    });
  }
}

// exp( tail_{t+1}(c) + what follows a tail that covers t - log Z )
void CountsPass::add_tails(std::int64_t t, const LogPartition& log_partition) {
  const auto right = static_cast<std::size_t>(t + 1);
  const double shift =
      (forward_.level[right] + backward_.level[right] - log_partition.level) - log_partition.log_mass;
  for (int c = 0; c < model_.num_labels; ++c) {
    counts_.tail[c] += std::exp(forward_.tail[index(t + 1, c)] + backward_.tail[index(t + 1, c)] + shift);
  }
}

}  // namespace semicrf
