#include "reference/forward_backward.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference/semiring.h"

namespace semicrf {

namespace {

class ForwardPass {
 public:
  ForwardPass(const ReferenceModel& model, const ReferenceScores& scores, Semiring semiring)
      : model_(model), scores_(scores), semiring_(semiring), labels_(model.num_labels) {
    const std::size_t length = scores.length();
    out_.level.assign(length + 1, 0.0);
    out_.alpha.assign((length + 1) * labels_, 0.0);
    out_.semiring = semiring;
    if (!model.by_duration()) out_.gamma.assign(length * labels_, kNegativeInfinity);
    if (model.has_tail()) out_.tail.assign((length + 1) * labels_, kNegativeInfinity);
  }

  ForwardMessages run() {
    for (std::int64_t t = 0; t <= scores_.length(); ++t) {
      if (t > 0) end_segments_at(t);
      if (t < scores_.length() && !model_.by_duration()) start_segments_at(t);
    }
    return std::move(out_);
  }

 private:
  // gamma_t(c), the same for every duration
  void start_segments_at(std::int64_t t) {
    const std::size_t row = t * labels_;
    for (int c = 0; c < model_.num_labels; ++c)
      out_.gamma[row + c] = sum_of_sources(model_, scores_, out_, t, c, 1);
  }

  // alpha_t(c) = Pe[t-1,c] + LSE_k( gamma_{t-k}(c) + content + B[k,c] ), the tail being one more term
  void end_segments_at(std::int64_t t) {
    const std::size_t now = t;
    const double level = out_.level[now - 1] + scores_.typical_step(t - 1);
    const std::int64_t longest = model_.max_duration + (model_.has_tail() ? 1 : 0);
    double top = kNegativeInfinity;
    for (int c = 0; c < model_.num_labels; ++c) {
      const std::size_t entry = now * labels_ + c;
      double opened = kNegativeInfinity;
      terms_.clear();
      for_each_open_segment(model_, scores_, out_, t, c, longest, level, [&](std::int64_t k, double open) {
        top = std::max(top, open);
        if (k <= model_.max_duration) {
          terms_.push_back(open + model_.duration_score(k, c));
        } else {
          opened = open;
        }
      });
      if (model_.has_tail()) {
        const TailEntries tail = tail_entries(model_, scores_, out_, t, c, opened, level);
        out_.tail[entry] = combine(std::array{tail.entering, tail.continuing}, semiring_);
        terms_.push_back(out_.tail[entry]);
        top = std::max(top, out_.tail[entry]);
      }
      out_.alpha[entry] = combine(terms_, semiring_) + scores_.end(t - 1, c);
      top = std::max(top, out_.alpha[entry]);
    }
    set_level(now, level, top == kNegativeInfinity ? 0.0 : std::rint(top));
  }

  void set_level(std::size_t now, double level, double rise) {
    out_.level[now] = level + rise;
    for (std::size_t entry = now * labels_; entry < (now + 1) * labels_; ++entry) {
      out_.alpha[entry] -= rise;
      if (model_.has_tail()) out_.tail[entry] -= rise;
    }
  }

  const ReferenceModel& model_;
  const ReferenceScores& scores_;
  const Semiring semiring_;
  const std::size_t labels_;
  ForwardMessages out_;
  std::vector<double> terms_;
};

}  // namespace

ForwardMessages forward(const ReferenceModel& model, const ReferenceScores& scores, Semiring semiring) {
  return ForwardPass(model, scores, semiring).run();
}

double sum_of_sources(const ReferenceModel& model, const ReferenceScores& scores,
                      const ForwardMessages& messages, std::int64_t s, int c, std::int64_t duration) {
  if (s == 0 && model.initial != InitialTerm::kUniform) return scores.start(s, c);
  const RowView alpha(messages.alpha, model.num_labels);
  const auto term = [&](int from) { return alpha(s, from) + model.transition_into(duration, from, c); };
  return combine(model.num_labels, term, messages.semiring) + scores.start(s, c);
}

TailEntries tail_entries(const ReferenceModel& model, const ReferenceScores& scores,
                         const ForwardMessages& messages, std::int64_t t, int c, double opened,
                         double level) {
  const double decay = model.log_tail[c];
  TailEntries entries;
  entries.entering = opened + model.duration_score(model.max_duration, c) + decay;
  // The step of the level comes first: where it is as large as the emission (a mask on all labels) nothing is
  // lost.
  entries.continuing = RowView(messages.tail, model.num_labels)(t - 1, c) +
                       (scores.emission(t - 1, c) + (messages.level[t - 1] - level)) + decay;
  return entries;
}

BoundaryState forward_state(const ReferenceModel& model, const ReferenceScores& scores,
                            const ForwardMessages& messages, std::int64_t t) {
  const std::size_t labels = model.num_labels;
  BoundaryState state;
  state.boundary = t;
  state.offset = messages.level[t];
  state.ring.assign(model.max_duration * labels, kNegativeInfinity);
  const RowView ring(state.ring, labels);
  for (int c = 0; c < model.num_labels && !model.by_duration(); ++c) {
    for_each_open_segment(model, scores, messages, t, c, model.max_duration, state.offset,
                          [&](std::int64_t k, double open) { ring(k - 1, c) = open; });
  }
  const auto row_of = [&](const std::vector<double>& table) {
    const std::span row = RowView(table, labels).row(t);
    return std::vector(row.begin(), row.end());
  };
  state.message = row_of(messages.alpha);
  if (model.has_tail()) state.tail = row_of(messages.tail);
  return state;
}

namespace {

class BackwardPass {
 public:
  BackwardPass(const ReferenceModel& model, const ReferenceScores& scores)
      : model_(model), scores_(scores), labels_(model.num_labels) {
    const std::size_t length = scores.length();
    out_.level.assign(length + 1, 0.0);
    out_.beta.assign((length + 1) * labels_, 0.0);
    if (!model.by_duration()) out_.delta.assign(length * labels_, kNegativeInfinity);
    if (model.has_tail()) out_.tail.assign((length + 1) * labels_, kNegativeInfinity);
  }

  BackwardMessages run() {
    const std::int64_t length = scores_.length();
    if (model_.has_tail()) {
      for (int c = 0; c < model_.num_labels; ++c) out_.tail[index(length, c)] = scores_.end(length - 1, c);
    }
    for (std::int64_t t = length - 1; t >= 0; --t) start_segments_at(t);
    return std::move(out_);
  }

 private:
  std::size_t index(std::int64_t t, int c) const { return t * labels_ + c; }

  void start_segments_at(std::int64_t t) {
    const double level = out_.level[t + 1] + scores_.typical_step(t);
    double top = kNegativeInfinity;
    if (model_.by_duration())
      beta_by_duration(t, level, top);
    else
      beta(t, level, top);
    if (model_.has_tail()) {
      for (int c = 0; c < model_.num_labels; ++c) out_.tail[index(t, c)] = tail(t, c, level);
    }
    set_level(t, level, top == kNegativeInfinity ? 0.0 : std::rint(top));
  }

  // delta_t(c) = LSE_k( content + Pe[t+k-1,c] + beta_{t+k}(c) + B[k,c] ), the tail being one more term;
  // beta_t(c') = LSE_c( T[c',c] + Ps[t,c] + delta_t(c) )
  void beta(std::int64_t t, double level, double& top) {
    for (int c = 0; c < model_.num_labels; ++c) out_.delta[index(t, c)] = delta(t, c, level, top);
    for (int from = 0; from < model_.num_labels; ++from) {
      terms_.clear();
      for (int c = 0; c < model_.num_labels; ++c) {
        terms_.push_back(model_.transition_at(from, c) + scores_.start(t, c) + out_.delta[index(t, c)]);
      }
      out_.beta[index(t, from)] = combine(terms_, Semiring::kLog);
      top = std::max(top, out_.beta[index(t, from)]);
    }
  }

  // beta_t(c') = LSE_c( Ps[t,c] + LSE_k( T_k[c',c] + B[k,c] + content + Pe[t+k-1,c] + beta_{t+k}(c) ) )
  void beta_by_duration(std::int64_t t, double level, double& top) {
    std::vector<std::vector<double>> after(labels_);  // [c][k-1]: a segment of k positions and all after it
    for (int c = 0; c < model_.num_labels; ++c)
      for_each_duration(model_, scores_, out_, t, c, level, [&](std::int64_t, double score) {
        after[c].push_back(score + scores_.start(t, c));
        top = std::max(top, score);
      });
    for (int from = 0; from < model_.num_labels; ++from) {
      terms_.clear();
      for (int c = 0; c < model_.num_labels; ++c) {
        std::int64_t k = 0;
        for (const double score : after[c]) terms_.push_back(model_.transition_into(++k, from, c) + score);
      }
      out_.beta[index(t, from)] = combine(terms_, Semiring::kLog);
      top = std::max(top, out_.beta[index(t, from)]);
    }
  }

  // Raises `top` to the largest message of an open segment.
  double delta(std::int64_t t, int c, double level, double& top) {
    terms_.clear();
    const std::int64_t longest = model_.max_duration + (model_.has_tail() ? 1 : 0);
    for_each_extension(scores_, out_, t, c, longest, level, [&](std::int64_t k, double content) {
      if (k <= model_.max_duration) {
        const double open = content + (scores_.end(t + k - 1, c) + out_.beta[index(t + k, c)]);
        terms_.push_back(open + model_.duration_score(k, c));
        top = std::max(top, open);
      } else {
        terms_.push_back(content + out_.tail[index(t + k, c)] + model_.duration_score(k, c));
        top = std::max(top, terms_.back());
      }
    });
    return combine(terms_, Semiring::kLog);
  }

  // LSE( Pe[t-1,c] + beta_t(c), fbar[t,c] + log q_c + tail_{t+1}(c) ); no segment ends at boundary 0.
  double tail(std::int64_t t, int c, double level) const {
    const double ending = t > 0 ? scores_.end(t - 1, c) + out_.beta[index(t, c)] : kNegativeInfinity;
    const double step = scores_.emission(t, c) + (out_.level[t + 1] - level);
    const double going_on = step + model_.log_tail[c] + out_.tail[index(t + 1, c)];
    return combine(std::array{ending, going_on}, Semiring::kLog);
  }

  void set_level(std::int64_t t, double level, double rise) {
    out_.level[t] = level + rise;
    for (int c = 0; c < model_.num_labels; ++c) {
      if (!model_.by_duration()) out_.delta[index(t, c)] -= rise;
      out_.beta[index(t, c)] -= rise;
      if (model_.has_tail()) out_.tail[index(t, c)] -= rise;
    }
  }

  const ReferenceModel& model_;
  const ReferenceScores& scores_;
  const std::size_t labels_;
  BackwardMessages out_;
  std::vector<double> terms_;
};

}  // namespace

BackwardMessages backward(const ReferenceModel& model, const ReferenceScores& scores) {
  return BackwardPass(model, scores).run();
}

BoundaryState backward_state(const ReferenceModel& model, const ReferenceScores& scores,
                             const BackwardMessages& messages, std::int64_t t) {
  const std::size_t labels = model.num_labels;
  BoundaryState state;
  state.boundary = t;
  state.offset = messages.level[t];
  state.ring.assign(model.max_duration * labels, kNegativeInfinity);
  state.message.resize(labels);
  if (model.has_tail()) state.tail.assign(labels, kNegativeInfinity);
  const RowView beta(messages.beta, labels), tail(messages.tail, labels);
  const RowView ring(state.ring, labels);
  for (int c = 0; c < model.num_labels; ++c) {
    const std::int64_t longest = model.max_duration + (model.has_tail() ? 1 : 0);
    state.message[c] = beta(t, c);
    for_each_extension(scores, messages, t, c, longest, state.offset, [&](std::int64_t k, double content) {
      if (k <= model.max_duration) {
        ring(k - 1, c) = content + (scores.end(t + k - 1, c) + beta(t + k, c));
      } else {
        state.tail[c] = content + tail(t + k, c) + model.duration_score(k, c);
      }
    });
  }
  return state;
}

}  // namespace semicrf
