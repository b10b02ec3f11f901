#include "reference/reference_engine.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/batch.h"
#include "engine/boundary_state.h"
#include "reference/forward_backward.h"
#include "reference/posteriors.h"
#include "reference/reference_scores.h"
#include "reference/viterbi.h"

namespace semicrf {
namespace {

// Covers any sequence and leaves room for callers to multiply.
constexpr std::int64_t kWholeSequence = std::numeric_limits<std::int64_t>::max() / 4;

class ReferenceViterbiMessages : public ViterbiMessages {
 public:
  ReferenceViterbiMessages(const ReferenceModel& model, ReferenceScores scores, ForwardMessages messages)
      : model_(model), scores_(std::move(scores)), messages_(std::move(messages)) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    trace_best_path(model_, scores_, messages_, cursor, reversed);
    return false;
  }

 private:
  ReferenceModel model_;
  ReferenceScores scores_;
  ForwardMessages messages_;
};

class ReferenceEngine : public Engine {
 public:
  ReferenceEngine(ChainModel model, std::vector<double> by_duration)
      : Engine({"reference", "reference, scalar log domain, double, one thread", std::move(model),
                Precision::kDouble, ChunkGrid{kWholeSequence, 0, 0.0}, false, true},
               nullptr, one_by_one_),
        model_(this->model(), std::move(by_duration)) {}

  std::size_t viterbi_bytes(std::int64_t positions, bool) const override {
    return score_bytes(positions) + table_bytes(positions, model_.has_tail() ? 3 : 2) + state_bytes();
  }
  std::size_t posterior_bytes(std::int64_t positions, bool) const override {
    return score_bytes(positions) + table_bytes(positions, model_.has_tail() ? 6 : 4) + 2 * state_bytes();
  }

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override {
    check_whole(scores, range, left, nullptr);
    ReferenceScores sequence(model_, scores);
    ForwardMessages messages = semicrf::forward(model_, sequence, Semiring::kMax);
    ViterbiWindow window;
    window.right = normalised(forward_state(model_, sequence, messages, range.end));
    window.chunks.resize(1);
    if (keep_messages) {
      window.messages =
          std::make_unique<ReferenceViterbiMessages>(model_, std::move(sequence), std::move(messages));
    }
    return window;
  }

  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override {
    check_whole(scores, range, left, right);
    const ReferenceScores sequence(model_, scores);
    const ForwardMessages ahead = semicrf::forward(model_, sequence, Semiring::kLog);
    const BackwardMessages back = backward(model_, sequence);
    PosteriorWindow window;
    window.right_forward = normalised(forward_state(model_, sequence, ahead, range.end));
    window.left_backward = normalised(backward_state(model_, sequence, back, range.begin));
    window.right_warmed.boundary = range.end;
    window.chunks.push_back(semicrf::posteriors(model_, sequence, ahead, back, out));
    return window;
  }

  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    return forward_in(Semiring::kLog, scores, range, left, out);
  }
  ForwardWindow best_forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const ForwardArrays& out) override {
    return forward_in(Semiring::kMax, scores, range, left, out);
  }

 private:
  ForwardWindow forward_in(Semiring semiring, const ScoreWindow& scores, PositionRange range,
                           const BoundaryState* left, const ForwardArrays& out) const {
    check_whole(scores, range, left, nullptr);
    if (out.starts != nullptr && model_.by_duration())
      throw std::logic_error("start messages depend on durations where transitions do");
    const ReferenceScores sequence(model_, scores);
    const ForwardMessages messages = semicrf::forward(model_, sequence, semiring);
    ForwardWindow window;
    window.right = normalised(forward_state(model_, sequence, messages, range.end));
    window.chunks.resize(1);
    const std::size_t labels = model_.num_labels;
    for (std::int64_t t = 0; t < range.end; ++t) {
      const auto write = [&](double* to, const double* levels, const std::vector<double>& from,
                             std::int64_t row) {
        if (to == nullptr) return;
        const double level = levels != nullptr ? 0.0 : messages.level[row];
        for (std::size_t c = 0; c < labels; ++c) {
          to[t * labels + c] = from.empty() ? kNegativeInfinity : from[row * labels + c] + level;
        }
      };
      write(out.starts, out.start_levels, messages.gamma, t);
      write(out.ends, out.end_levels, messages.alpha, t + 1);
      write(out.tails, out.end_levels, messages.tail, t + 1);
      if (out.start_levels != nullptr) out.start_levels[t] = messages.level[t];
      if (out.end_levels != nullptr) out.end_levels[t] = messages.level[t + 1];
    }
    return window;
  }

  static void check_whole(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                          const BoundaryState* right) {
    if (range.begin != 0 || range.end != scores.length || left != nullptr || right != nullptr) {
      throw std::logic_error("the reference engine takes a sequence as one window");
    }
  }

  // (positions, C) tables of doubles, with one row more and a level each.
  std::size_t table_bytes(std::int64_t positions, std::size_t tables) const {
    const std::size_t labels = model_.num_labels;
    return tables * (positions + 1) * (labels + 1) * sizeof(double);
  }
  // Emissions, start and end scores in double; the last two only where a window has them.
  std::size_t score_bytes(std::int64_t positions) const { return table_bytes(positions, 3); }
  std::size_t state_bytes() const {
    const std::size_t labels = model_.num_labels;
    return (model_.max_duration + 2) * labels * sizeof(double);
  }

  const ReferenceModel model_;
  OneByOne one_by_one_{*this};
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(ChainModel model) {
  return std::make_unique<ReferenceEngine>(std::move(model), std::vector<double>{});
}

std::unique_ptr<Engine> make_reference_engine(ChainModel model, std::vector<double> transition_by_duration) {
  const std::size_t labels = model.num_labels;
  if (transition_by_duration.size() != model.max_duration * labels * labels)
    throw std::logic_error("transitions that depend on the duration have K C C entries");
  return std::make_unique<ReferenceEngine>(std::move(model), std::move(transition_by_duration));
}

double log_partition(const ChainModel& model, const ScoreWindow& scores) {
  const ReferenceModel chain(model);
  const ReferenceScores sequence(chain, scores);
  const ForwardMessages messages = forward(chain, sequence, Semiring::kLog);
  return log_sum(forward_state(chain, sequence, messages, sequence.length()));
}

}  // namespace semicrf
