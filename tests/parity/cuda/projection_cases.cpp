#include "parity/cuda/projection_cases.h"

#include <algorithm>

#include "model/scores/linear_heads.h"
#include "parity/cuda/head_sequences.h"
#include "parity/engine_parity.h"
#include "parity/same_results.h"

namespace semicrf::testing {
namespace {

constexpr std::int64_t kLength = 8192 + 700;

template <class Value>
class ProjectionCheck {
 public:
  ProjectionCheck(const MakeEngine& make, Precision precision)
      : make_(make), precision_(precision), sample_({4, 3, 0, true, {kLength}}, 851) {}

  std::vector<std::string> run() {
    const Outcome expected = compute(false), found = compute(true);
    check(found.path == expected.path && !expected.path.empty(), "another path");
    check(same_numbers(found.state.message, expected.state.message) &&
              same_number(found.state.offset, expected.state.offset),
          "another state");
    check(same_numbers(found.boundary, expected.boundary), "other posteriors");
    check_single_positions();
    return std::move(problems_);
  }

 private:
  struct Outcome {
    std::vector<Segment> path;
    BoundaryState state;
    std::vector<double> boundary;
  };

  void check(bool right, const std::string& what) {
    if (!right) problems_.push_back(std::to_string(sizeof(Value)) + " bytes: " + what);
  }

  // Windows of a sequence that stays on the device.
  ScoreWindow window(bool projected, std::int64_t begin, std::int64_t end) const {
    ScoreWindow window = projected ? sample_.projected(0, begin, end) : sample_.stored(0, begin, end);
    window.sequence = 7;
    return window;
  }

  Outcome compute(bool projected) const {
    Outcome outcome;
    const auto engine = make_(sample_.model(), precision_);
    const std::int64_t cut = engine->grid(kLength).chunk, halo = engine->info().grid.warmup;
    const ViterbiWindow left = engine->viterbi(window(projected, 0, cut), {0, cut}, nullptr, false);
    const ViterbiWindow right =
        engine->viterbi(window(projected, cut - halo, kLength), {cut, kLength}, &left.right, true);
    outcome.state = right.right;
    TraceCursor cursor{TraceCursor::Phase::kFindStart, kLength, kLength, 0};
    best_final_score(right.right, &cursor.label);
    follow(*right.messages, cursor, outcome.path);
    outcome.boundary.resize(static_cast<std::size_t>(kLength));
    PosteriorArrays wanted;
    wanted.boundary = outcome.boundary.data();
    engine->posteriors(window(projected, 0, kLength), {0, kLength}, nullptr, nullptr, wanted);
    return outcome;
  }

  // What the host says of single positions.
  void check_single_positions() {
    const ScoreWindow whole = window(true, 0, kLength);
    const CentredScores scores(sample_.model(), whole);
    const auto& sequence = sample_.sequences().front();
    const auto labels = static_cast<std::size_t>(sample_.shape().labels);
    for (std::int64_t t = 0; t < kLength; t = t < 10 || t > kLength - 12 ? t + 1 : t + 97) {
      const auto row = static_cast<std::size_t>(t) * labels;
      double most = kNegativeInfinity;
      for (std::size_t c = 0; c < labels; ++c)
        most = std::max(most, static_cast<double>(sequence.emissions[row + c]));
      for (std::size_t c = 0; c < labels; ++c) {
        const int label = static_cast<int>(c);
        const double centred = static_cast<double>(sequence.emissions[row + c]) - (whole.baseline[c] + most);
        check(scores.emission(t, label) == centred &&
                  scores.start_score(t, label) == static_cast<double>(sequence.starts[row + c]) &&
                  scores.end_score(t, label) == static_cast<double>(sequence.ends[row + c]),
              "another score at " + std::to_string(t));
      }
    }
  }

  const MakeEngine& make_;
  Precision precision_;
  HeadCase<Value, Value> sample_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check_projection(const MakeEngine& make) {
  std::vector<std::string> problems = ProjectionCheck<float>(make, Precision::kFloat).run();
  append(problems, ProjectionCheck<double>(make, Precision::kDouble).run());
  return problems;
}

}  // namespace semicrf::testing
