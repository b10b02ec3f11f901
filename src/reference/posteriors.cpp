#include "reference/posteriors.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "reference/semiring.h"

namespace semicrf {

namespace {

double clamped(double probability) { return std::clamp(probability, 0.0, 1.0); }

double plogp(double probability) { return probability > 0 ? probability * std::log(probability) : 0.0; }

class PosteriorPass {
 public:
  PosteriorPass(const ReferenceModel& model, const ReferenceScores& scores, const ForwardMessages& forward,
                const BackwardMessages& backward)
      : model_(model),
        scores_(scores),
        forward_(forward),
        backward_(backward),
        labels_(model.num_labels),
        cover_(labels_, 0.0),
        starts_(labels_, 0.0),
        ends_(labels_, 0.0) {}

  ChunkReport run(const PosteriorArrays& out) {
    const std::int64_t anchor_step = std::max<std::int64_t>(model_.max_duration, 64);
    ChunkReport report;
    std::optional<CountsPass> counts;
    if (out.counts != nullptr) counts.emplace(model_, scores_, forward_, backward_, *out.counts);
    for (std::int64_t t = 0; t < scores_.length(); ++t) {
      if (t == 0) {
        normalise_at_start();
      } else if (t % anchor_step == 0) {
        anchor_at(t);
      }
      for (int c = 0; c < model_.num_labels; ++c) {
        const std::size_t label = c;
        starts_[label] = start_posterior(t, c);
        if (t > 0) cover_[label] -= end_posterior(t - 1, c);
        cover_[label] += starts_[label];
        ends_[label] = end_posterior(t, c);
      }
      if (counts) counts->add_position(t, log_partition_);
      add_position(report);
      write_position(t, out);
    }
    return report;
  }

 private:
  std::size_t index(std::int64_t t, int c) const { return t * labels_ + c; }

  // The sum of the levels of both passes at t, relative to that of the log Z in use. Exact: levels are
  // integers.
  double level_at(std::int64_t t) const {
    const std::size_t row = t;
    return (forward_.level[row] + backward_.level[row]) - log_partition_.level;
  }

  double probability(double log_mass) const {
    return log_mass == kNegativeInfinity ? 0.0 : std::exp(log_mass - log_partition_.log_mass);
  }

  double start_posterior(std::int64_t t, int c) const { return probability(level_at(t) + start_mass(t, c)); }

  // Log of the sum over all segments of c that start at t, relative to both levels there.
  double start_mass(std::int64_t t, int c) const {
    if (!model_.by_duration()) return forward_.gamma[index(t, c)] + backward_.delta[index(t, c)];
    std::vector<double> terms;
    for_each_duration(model_, scores_, backward_, t, c, backward_.level[t],
                      [&](std::int64_t k, double after) {
                        terms.push_back(start_message(model_, scores_, forward_, t, c, k) + after);
                      });
    return combine(terms, Semiring::kLog);
  }

  double end_posterior(std::int64_t t, int c) const {
    return probability(level_at(t + 1) + forward_.alpha[index(t + 1, c)] + backward_.beta[index(t + 1, c)]);
  }

  void set_normaliser(std::int64_t t, std::span<const double> masses) {
    log_partition_.level = forward_.level[t] + backward_.level[t];
    log_partition_.log_mass = combine(masses, Semiring::kLog);
  }

  // A segment of some label starts at 0.
  void normalise_at_start() {
    std::vector<double> masses;
    masses.reserve(model_.num_labels);
    for (int c = 0; c < model_.num_labels; ++c) {
      masses.push_back(start_mass(0, c));
    }
    set_normaliser(0, masses);
  }

  // Sets cover_ to P(.|b-1): some segment covers position b-1.
  void anchor_at(std::int64_t b) {
    std::vector<double> masses;
    masses.reserve(model_.num_labels);
    for (int c = 0; c < model_.num_labels; ++c) masses.push_back(mass_over(b, c));
    set_normaliser(b, masses);
    for (std::size_t c = 0; c < labels_; ++c) cover_[c] = probability(masses[c]);
  }

  // Log of the sum over all segments [s, e) of label c with s < b <= e, relative to both levels at b.
  double mass_over(std::int64_t b, int c) const {
    const std::int64_t durations = model_.max_duration;
    const double right_level = backward_.level[b];
    // What follows when the segment ends at b + i, and when it ends anywhere from there on as a tail.
    std::vector<double> ending{scores_.end(b - 1, c) + backward_.beta[index(b, c)]};
    std::vector<double> in_tail;
    if (model_.has_tail()) in_tail.push_back(backward_.tail[index(b, c)]);
    for_each_extension(scores_, backward_, b, c, durations, right_level, [&](std::int64_t k, double content) {
      ending.push_back(content + (scores_.end(b + k - 1, c) + backward_.beta[index(b + k, c)]));
      if (model_.has_tail()) in_tail.push_back(content + backward_.tail[index(b + k, c)]);
    });

    std::vector<double> by_start;
    std::vector<double> terms;
    const double left_level = forward_.level[b];
    for_each_content(
        scores_, forward_, b, c, durations, left_level, [&](std::int64_t before, double content) {
          const auto open = [&](std::int64_t duration) {
            return start_message(model_, scores_, forward_, b - before, c, duration) + content;
          };
          const double shared = model_.by_duration() ? 0.0 : open(before);  // the same for every duration
          const auto own = [&](std::int64_t duration) { return model_.by_duration() ? open(duration) : 0.0; };
          terms.clear();
          const std::int64_t reach = durations - before;
          for (std::int64_t i = 0; i < std::ssize(ending) && i <= reach; ++i) {
            const std::int64_t duration = before + i;
            terms.push_back(model_.duration_score(duration, c) + ending[i] + own(duration));
          }
          if (reach + 1 < std::ssize(in_tail)) {
            terms.push_back(model_.duration_score(durations + 1, c) + in_tail[reach + 1] +
                            own(durations + 1));
          }
          by_start.push_back(shared + combine(terms, Semiring::kLog));
        });
    if (model_.has_tail()) by_start.push_back(forward_.tail[index(b, c)] + backward_.tail[index(b, c)]);
    return combine(by_start, Semiring::kLog);
  }

  void add_position(ChunkReport& report) const {
    double covered = 0;
    double boundary = 0;
    for (std::size_t c = 0; c < labels_; ++c) {
      covered += cover_[c];
      boundary += starts_[c];
      report.label_entropy -= plogp(clamped(cover_[c]));
    }
    report.max_normalization_error = std::max(report.max_normalization_error, std::fabs(covered - 1));
    report.boundary_mass += clamped(boundary);
    report.boundary_plogp += plogp(clamped(boundary));
  }

  void write_position(std::size_t t, const PosteriorArrays& out) const {
    double boundary = 0;
    for (std::size_t c = 0; c < labels_; ++c) {
      boundary += starts_[c];
      if (out.labels != nullptr) out.labels[t * labels_ + c] = clamped(cover_[c]);
      if (out.starts != nullptr) out.starts[t * labels_ + c] = clamped(starts_[c]);
      if (out.ends != nullptr) out.ends[t * labels_ + c] = clamped(ends_[c]);
    }
    if (out.boundary != nullptr) out.boundary[t] = clamped(boundary);
  }

  const ReferenceModel& model_;
  const ReferenceScores& scores_;
  const ForwardMessages& forward_;
  const BackwardMessages& backward_;
  const std::size_t labels_;
  LogPartition log_partition_;         // as the messages around the position have it
  std::vector<double> cover_;          // (C) P(c|t), not clamped
  std::vector<double> starts_, ends_;  // (C) of the current position
};

}  // namespace

ChunkReport posteriors(const ReferenceModel& model, const ReferenceScores& scores,
                       const ForwardMessages& forward, const BackwardMessages& backward,
                       const PosteriorArrays& out) {
  return PosteriorPass(model, scores, forward, backward).run(out);
}

CountsPass::CountsPass(const ReferenceModel& model, const ReferenceScores& scores,
                       const ForwardMessages& forward, const BackwardMessages& backward,
                       ExpectedCounts& counts)
    : model_(model),
      scores_(scores),
      forward_(forward),
      backward_(backward),
      counts_(counts),
      labels_(model.num_labels) {
  counts_.shape_for(model);
  if (model.by_duration()) counts_.transition.resize(model.transition_by_duration.size());
}

void CountsPass::add_position(std::int64_t t, const LogPartition& log_partition) {
  if (log_partition.log_mass == kNegativeInfinity) return;
  const std::size_t row = t;
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
  const std::size_t right = t + 1;
  const double shift =
      (forward_.level[right] + backward_.level[right] - log_partition.level) - log_partition.log_mass;
  for (int c = 0; c < model_.num_labels; ++c) {
    counts_.tail[c] += std::exp(forward_.tail[index(t + 1, c)] + backward_.tail[index(t + 1, c)] + shift);
  }
}

}  // namespace semicrf
