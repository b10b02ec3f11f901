// The reference engine with transitions that depend on the duration, T[k,c',c], against the enumeration of
// all segmentations and the laboratory's streaming algorithm.
#include <string>

#include "lab/backends/all_backends.h"
#include "lab/product.h"
#include "lab/semirings/max.h"
#include "lab/tests/enumerate_edges.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;
using namespace semicrf::lab;

namespace {

Problem by_duration_problem(const Shape& shape, std::uint64_t seed) {
  Problem problem = random_problem(shape, seed, true);
  problem.by_duration = true;
  problem.transition = random_problem({1, shape.K * shape.C, shape.C}, seed + 1, true).duration;
  return problem;
}

std::unique_ptr<Engine> engine_of(const Problem& problem) {
  Problem chain = problem;
  chain.transition.resize(problem.shape.C * problem.shape.C);  // not read
  return make_reference_engine(chain_of(chain), problem.transition);
}

struct Scores {
  explicit Scores(const Problem& problem) : problem_(problem), emissions_(emissions_of(problem)) {}
  ScoreWindow window() const {
    ScoreWindow scores;
    scores.end = scores.length = static_cast<std::int64_t>(problem_.shape.T);
    scores.emissions.f64 = emissions_.data();
    if (!problem_.start.empty()) {
      scores.start_scores.f64 = problem_.start.data();
      scores.end_scores.f64 = problem_.end.data();
    }
    return scores;
  }

 private:
  const Problem& problem_;
  std::vector<double> emissions_;
};

struct Found {
  double log_partition;
  std::vector<double> labels, starts, ends;
  ExpectedCounts counts;
};

Found posteriors_of(Engine& engine, const ScoreWindow& scores) {
  Found found;
  const auto entries = static_cast<Index>(scores.length * engine.model().num_labels);
  for (auto* array : {&found.labels, &found.starts, &found.ends}) array->resize(entries);
  const PosteriorWindow window = engine.posteriors(scores, {0, scores.length}, nullptr, nullptr,
                                                   {.labels = found.labels.data(),
                                                    .starts = found.starts.data(),
                                                    .ends = found.ends.data(),
                                                    .counts = &found.counts});
  found.log_partition = log_sum(window.right_forward);
  CHECK(window.chunks.front().max_normalization_error <= 1e-11);
  return found;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (Index i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]));
  return largest;
}

void check_gradients(const Found& found, const Gradients& expected) {
  CHECK(largest_difference(found.labels, expected.labels()) <= 1e-10);
  CHECK(largest_difference(found.starts, expected.start) <= 1e-10);
  CHECK(largest_difference(found.ends, expected.end) <= 1e-10);
  CHECK(largest_difference(found.counts.transition, expected.transition) <= 1e-10);
  CHECK(largest_difference(found.counts.duration, expected.duration) <= 1e-10);
}

std::vector<Segment> best_path_of(Engine& engine, const ScoreWindow& scores) {
  const ViterbiWindow window = engine.viterbi(scores, {0, scores.length}, nullptr, true);
  TraceCursor cursor;
  cursor.phase = TraceCursor::Phase::kFindStart;
  cursor.boundary = cursor.segment_end = scores.length;
  best_final_score(window.right, &cursor.label);
  std::vector<Segment> segments;
  window.messages->trace(cursor, segments);
  std::reverse(segments.begin(), segments.end());
  return segments;
}

// The score of a path, its first source the best.
double score_of(const Problem& problem, const std::vector<Segment>& path) {
  double score = 0;
  for (Index i = 0; i < path.size(); ++i) {
    const auto end = static_cast<Index>(path[i].end), k = static_cast<Index>(path[i].end - path[i].begin);
    const auto to = static_cast<Index>(path[i].label);
    if (i > 0) {
      score += problem.edge(end, k, static_cast<Index>(path[i - 1].label), to);
      continue;
    }
    double best = kNegativeInfinity;
    for (Index from = 0; from < problem.shape.C; ++from)
      best = std::max(best, problem.edge(end, k, from, to));
    score += best;
  }
  return score;
}

}  // namespace

TEST_CASE("reference: transitions that depend on the duration equal the enumeration") {
  for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 3, 2}, Shape{4, 2, 2}, Shape{4, 4, 2}, Shape{5, 3, 2},
                             Shape{3, 7, 3}, Shape{9, 5, 1}}) {
    const std::uint64_t seed = testing::test_seed(shape.T * 10 + shape.K);
    INFO("T=" << shape.T << " K=" << shape.K << " C=" << shape.C << " seed=" << seed);
    const Problem problem = by_duration_problem(shape, seed);
    const std::vector<Path> paths = enumerate_paths(problem);
    if (paths.empty()) continue;
    Gradients expected(problem);
    for (const Path& path : paths)
      for (const Edge& edge : path.edges)
        expected.add(edge, static_cast<double>(path.score), static_cast<double>(log_sum(paths)));
    const auto engine = engine_of(problem);
    const Scores scores(problem);
    const Found found = posteriors_of(*engine, scores.window());
    CHECK(std::fabs(found.log_partition - static_cast<double>(log_sum(paths))) <= 1e-12);
    check_gradients(found, expected);
    CHECK(std::fabs(score_of(problem, best_path_of(*engine, scores.window())) - best_scores(paths).front()) <=
          1e-12);
  }
}

TEST_CASE("reference: transitions that depend on the duration equal the streaming algorithm") {
  for (const Shape& shape : {Shape{300, 70, 3}, Shape{150, 6, 4}}) {
    const std::uint64_t seed = testing::test_seed(shape.T);
    INFO("T=" << shape.T << " seed=" << seed);
    const Problem problem = by_duration_problem(shape, seed);
    Memory memory;
    const auto [log_partition, expected] = log_partition_and_gradients<StreamingBackend>(problem, memory);
    Max best;
    const double best_score = StreamingBackend::run(problem, best, memory, ForwardOnly{});
    const auto engine = engine_of(problem);
    const Scores scores(problem);
    const Found found = posteriors_of(*engine, scores.window());
    CHECK(std::fabs(found.log_partition - log_partition) <= 1e-12 * std::fabs(log_partition));
    check_gradients(found, expected);
    CHECK(std::fabs(score_of(problem, best_path_of(*engine, scores.window())) - best_score) <=
          1e-12 * std::fabs(best_score));
  }
}

// A tail is a geometric law beyond K with the transitions of K: the same as a larger K whose rows say so.
TEST_CASE("reference: tails have the transitions of the longest duration") {
  constexpr Index kLonger = 80;
  const Shape shape{80, 4, 3};
  const std::uint64_t seed = testing::test_seed(31);
  INFO("seed " << seed);
  const Problem problem = by_duration_problem(shape, seed);
  const std::vector<double> log_tail{-0.1, -0.5, kNegativeInfinity};
  Problem longer = problem;
  longer.shape.K = kLonger;
  for (Index k = shape.K; k < kLonger; ++k)
    for (Index c = 0; c < shape.C; ++c)
      longer.duration.push_back(longer.duration[(k - 1) * shape.C + c] + log_tail[c]);
  const auto row = static_cast<std::ptrdiff_t>(shape.C * shape.C);
  const std::vector<double> last(problem.transition.end() - row, problem.transition.end());
  for (Index k = shape.K; k < kLonger; ++k)
    longer.transition.insert(longer.transition.end(), last.begin(), last.end());

  Problem chain = problem;
  chain.transition.resize(shape.C * shape.C);
  ChainModel model = chain_of(chain);
  model.log_tail = log_tail;
  const auto with_tail = make_reference_engine(model, problem.transition), without = engine_of(longer);
  const Scores scores(problem);
  const Found a = posteriors_of(*with_tail, scores.window()), b = posteriors_of(*without, scores.window());
  CHECK(std::fabs(a.log_partition - b.log_partition) <= 1e-11);
  CHECK(largest_difference(a.labels, b.labels) <= 1e-10);
  CHECK(largest_difference(a.starts, b.starts) <= 1e-10);
  std::vector<double> folded = a.counts.transition;
  std::fill(folded.begin(), folded.end(), 0.0);
  for (Index i = 0; i < b.counts.transition.size(); ++i)
    folded[std::min<Index>(i / (shape.C * shape.C), shape.K - 1) * shape.C * shape.C +
           i % (shape.C * shape.C)] += b.counts.transition[i];
  CHECK(largest_difference(a.counts.transition, folded) <= 1e-10);
  CHECK(best_path_of(*with_tail, scores.window()) == best_path_of(*without, scores.window()));
}

TEST_CASE("reference: equal transitions for every duration are the usual transitions") {
  const Problem problem = random_problem({200, 7, 3}, testing::test_seed(5), true);
  std::vector<double> repeated;
  for (Index k = 0; k < problem.shape.K; ++k)
    repeated.insert(repeated.end(), problem.transition.begin(), problem.transition.end());
  const auto usual = make_reference_engine(chain_of(problem));
  const auto by_duration = make_reference_engine(chain_of(problem), repeated);
  const Scores scores(problem);
  const Found a = posteriors_of(*usual, scores.window()), b = posteriors_of(*by_duration, scores.window());
  CHECK(std::fabs(a.log_partition - b.log_partition) <= 1e-12 * std::fabs(a.log_partition));
  CHECK(largest_difference(a.labels, b.labels) <= 1e-10);
  CHECK(largest_difference(a.counts.duration, b.counts.duration) <= 1e-10);
  CHECK(best_path_of(*usual, scores.window()) == best_path_of(*by_duration, scores.window()));
  CHECK_THROWS_AS(make_reference_engine(chain_of(problem), problem.transition), std::logic_error);
}
