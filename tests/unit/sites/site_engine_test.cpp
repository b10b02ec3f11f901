// Sites are what a row for every position says, with rows of 0 between them: the enumeration of all
// segmentations for tiny sequences, the reference engine for longer ones.
#include "sites/site_engine.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/truth/all_paths.h"
#include "support/truth/enumerate.h"
#include "support/truth/follow_path.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

struct Shape {
  int labels = 2;
  std::size_t sites = 3;
  std::uint32_t longest_gap = 3;
  bool tail = true;        // else labels follow themselves
  bool forbidden = false;  // some transitions
  double spread = 1;       // standard deviation of the scores
};

struct Sites {
  std::vector<std::uint32_t> at;
  ModelCase expanded;          // a row for every position
  std::vector<double> scores;  // (n, C)

  ScoreWindow window() const {
    ScoreWindow window;
    window.end = window.length = static_cast<std::int64_t>(at.size());
    window.emissions.f64 = scores.data();
    return window;
  }
};

Sites make_sites(const Shape& shape, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Sites sites;
  const auto labels = static_cast<std::size_t>(shape.labels);
  ChainModel& model = sites.expanded.model;
  model.num_labels = shape.labels;
  model.max_duration = 1;
  model.initial = seed % 2 == 0 ? InitialTerm::kUniform : InitialTerm::kNone;
  for (std::size_t i = 0; i < labels * labels; ++i) {
    const bool itself = i % (labels + 1) == 0;
    const bool never = (shape.tail && itself && seed % 3 != 0) ||
                       (shape.forbidden && !itself && i / labels + 1 != i % labels && i != labels);
    model.transition.push_back(never ? kNegativeInfinity : normal(random));
  }
  for (std::size_t c = 0; c < labels; ++c) {
    model.duration_bias.push_back(normal(random) - 2);
    if (shape.tail) model.log_tail.push_back(-std::exp(normal(random) - 3));
    model.start_scores.push_back(normal(random));
    model.end_scores.push_back(normal(random));
  }
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < shape.sites; ++i) {
    sites.at.push_back(1000 + at);
    at += 1 + static_cast<std::uint32_t>(random() % shape.longest_gap);
  }
  const std::size_t length = sites.at.back() - sites.at.front() + 1;
  sites.expanded.length = static_cast<std::int64_t>(length);
  sites.expanded.emissions.f64.assign(length * labels, 0.0);
  for (std::size_t t = 0; t < shape.sites; ++t)
    for (std::size_t c = 0; c < labels; ++c) {
      sites.scores.push_back(shape.spread * normal(random));
      sites.expanded.emissions.f64[(sites.at[t] - sites.at.front()) * labels + c] = sites.scores.back();
    }
  return sites;
}

struct Found {
  std::vector<double> boundary, labels, starts, ends;
  ExpectedCounts counts;
  double log_partition = 0;
};

Found posteriors(Engine& engine, const ScoreWindow& scores) {
  Found found;
  const auto n = static_cast<std::size_t>(scores.length);
  const std::size_t entries = n * static_cast<std::size_t>(engine.model().num_labels);
  found.boundary.resize(n);
  for (auto* rows : {&found.labels, &found.starts, &found.ends}) rows->resize(entries);
  PosteriorArrays out;
  out.boundary = found.boundary.data();
  out.labels = found.labels.data();
  out.starts = found.starts.data();
  out.ends = found.ends.data();
  out.counts = &found.counts;
  found.log_partition =
      log_sum(engine.posteriors(scores, {0, scores.length}, nullptr, nullptr, out).right_forward);
  return found;
}

void check_alike(const std::vector<double>& found, const std::vector<double>& wanted, double tolerance) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(i);
    CHECK(std::abs(found[i] - wanted[i]) <= tolerance * std::max(1.0, std::abs(wanted[i])));
  }
}

struct BestPath {
  double score = 0;
  std::vector<Segment> segments;  // left to right
};

BestPath best_path(Engine& engine, const ScoreWindow& scores) {
  ViterbiWindow window = engine.viterbi(scores, {0, scores.length}, nullptr, true);
  BestPath best;
  TraceCursor cursor{TraceCursor::Phase::kFindStart, scores.length, scores.length, 0};
  best.score = best_final_score(window.right, &cursor.label);
  follow(*window.messages, cursor, best.segments);
  std::ranges::reverse(best.segments);
  return best;
}

// What is seen of the segments of the expanded sequence at the sites.
std::vector<Segment> seen_at(const std::vector<std::uint32_t>& at, const std::vector<Segment>& path) {
  std::vector<Segment> seen;
  for (std::size_t t = 0; t < at.size(); ++t) {
    const std::int64_t position = at[t] - at.front();
    const auto here = std::ranges::find_if(path, [&](const Segment& one) { return one.end > position; });
    const auto i = static_cast<std::int64_t>(t);
    if (t > 0 && here->begin <= static_cast<std::int64_t>(at[t - 1] - at.front())) {
      seen.back().end = i + 1;
    } else {
      seen.push_back({i, i + 1, here->label});
    }
  }
  return seen;
}

const std::vector<Shape> kShapes = {{2, 3, 3, true},
                                    {2, 3, 2, false},
                                    {3, 3, 2, true},
                                    {3, 3, 2, true, true},
                                    {3, 2, 4, false, true},
                                    {2, 1, 1, true},
                                    {2, 3, 3, true, false, 300},
                                    {2, 4, 2, true, false, 0}};

}  // namespace

TEST_CASE("sites equal the enumeration of the sequence with a row for every position", "[sites]") {
  for (const Shape& shape : kShapes)
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      INFO(shape.labels << " labels, " << shape.sites << " sites, tail " << shape.tail << ", seed " << seed);
      const Sites sites = make_sites(shape, seed);
      const auto labels = static_cast<std::size_t>(shape.labels);
      const Enumeration truth = enumerate_segmentations(sites.expanded);
      const auto engine = make_site_engine(sites.expanded.model, sites.at, 1);
      const ForwardWindow ahead = engine->forward(sites.window(), {0, sites.window().length}, nullptr, {});
      if (truth.feasible == 0) {
        CHECK(log_sum(ahead.right) == kNegativeInfinity);
        CHECK(best_path(*engine, sites.window()).score == kNegativeInfinity);
        continue;
      }
      const Found found = posteriors(*engine, sites.window());
      check_alike({found.log_partition, log_sum(ahead.right)}, {truth.log_partition, truth.log_partition},
                  1e-12);
      // That a segment starts behind the site before, or goes on there.
      std::vector<double> at_sites, boundary(sites.at.size()), starts(found.starts.size()),
          ends(found.ends.size());
      for (const PathProbability& one : all_paths(sites.expanded))
        for (const Segment& segment : seen_at(sites.at, one.path)) {
          const std::size_t c = static_cast<std::size_t>(segment.label);
          boundary[static_cast<std::size_t>(segment.begin)] += one.probability;
          starts[static_cast<std::size_t>(segment.begin) * labels + c] += one.probability;
          ends[static_cast<std::size_t>(segment.end - 1) * labels + c] += one.probability;
        }
      for (const std::uint32_t at : sites.at)
        for (std::size_t c = 0; c < labels; ++c)
          at_sites.push_back(truth.labels[(at - sites.at.front()) * labels + c]);
      check_alike(found.labels, at_sites, 1e-12);
      check_alike(found.boundary, boundary, 1e-12);
      check_alike(found.starts, starts, 1e-12);
      check_alike(found.ends, ends, 1e-12);
      check_alike(found.counts.transition, truth.transition, 1e-11);
      check_alike(found.counts.duration, truth.duration, 1e-11);
      if (shape.tail) check_alike(found.counts.tail, truth.tail, 1e-11);
      const BestPath best = best_path(*engine, sites.window());
      check_alike({best.score}, {truth.best_score}, 1e-12);
      if (truth.runner_up_gap > 1e-9) CHECK(best.segments == seen_at(sites.at, truth.best_path));
    }
}

TEST_CASE("sites equal the reference engine where they lie far apart", "[sites]") {
  for (const Shape& shape : {Shape{4, 60, 40, true}, Shape{5, 30, 90, false}, Shape{6, 30, 50, true, true},
                             Shape{4, 40, 40, true, false, 1000}})
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      INFO(shape.labels << " labels, seed " << seed);
      const Sites sites = make_sites(shape, seed);
      const auto labels = static_cast<std::size_t>(shape.labels);
      const auto engine = make_site_engine(sites.expanded.model, sites.at, 2);
      const auto reference = make_reference_engine(sites.expanded.model);
      const Found found = posteriors(*engine, sites.window());
      const Found wanted = posteriors(*reference, sites.expanded.whole());
      check_alike({found.log_partition}, {wanted.log_partition}, 1e-12);
      std::vector<double> at_sites;
      for (const std::uint32_t at : sites.at)
        for (std::size_t c = 0; c < labels; ++c)
          at_sites.push_back(wanted.labels[(at - sites.at.front()) * labels + c]);
      check_alike(found.labels, at_sites, 1e-10);
      check_alike(found.counts.transition, wanted.counts.transition, 1e-9);
      check_alike(found.counts.duration, wanted.counts.duration, 1e-9);
      check_alike(found.counts.tail, wanted.counts.tail, 1e-9);
      const BestPath best = best_path(*engine, sites.window());
      const BestPath truth = best_path(*reference, sites.expanded.whole());
      check_alike({best.score}, {truth.score}, 1e-12);
      CHECK(best.segments == seen_at(sites.at, truth.segments));
    }
}

TEST_CASE("a gap of a hundred million positions costs nothing and loses no digits", "[sites]") {
  // Two labels that change with p and r: the powers are known in closed form.
  const double p = 1e-8, r = 3e-8;
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 1;
  model.initial = InitialTerm::kNone;
  // Durations pay for the end of a segment where it begins, and transitions make up for that.
  model.transition = {kNegativeInfinity, std::log(p / r), std::log(r / p), kNegativeInfinity};
  model.duration_bias = {std::log(p), std::log(r)};
  model.log_tail = {std::log1p(-p), std::log1p(-r)};
  model.start_scores = {-std::log(p), kNegativeInfinity};
  model.end_scores = {0, 0};
  const double n = 1e8;
  const std::vector<std::uint32_t> at = {5, 5 + 100'000'000};
  const std::vector<double> scores = {0, 0, 0, kNegativeInfinity};
  ScoreWindow window;
  window.end = window.length = 2;
  window.emissions.f64 = scores.data();
  const auto engine = make_site_engine(model, at, 1);
  const double stays = r / (p + r) + p / (p + r) * std::exp(n * std::log1p(-(p + r)));
  const double found = log_sum(engine->forward(window, {0, 2}, nullptr, {}).right);
  CHECK(std::abs(found - std::log(stays)) < 1e-7);
}

TEST_CASE("labels that nothing leads to again keep what sites far below them left", "[sites]") {
  // Two labels for the whole sequence: one is e^-2000 behind at the first site, and ahead in the end.
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 1;
  model.initial = InitialTerm::kNone;
  model.transition.assign(4, kNegativeInfinity);
  model.duration_bias = {-1, -2};
  model.log_tail = {-0.25, -0.5};
  model.start_scores = model.end_scores = {0, 0};
  const std::vector<std::uint32_t> at = {1, 3, 10};
  const std::vector<double> scores = {0, -2000, 0, 1500, 0, 1500};
  ScoreWindow window;
  window.end = window.length = 3;
  window.emissions.f64 = scores.data();
  const auto engine = make_site_engine(model, at, 1);
  const Found found = posteriors(*engine, window);
  check_alike({found.log_partition}, {1000 - 2 - 9 * 0.5}, 1e-12);
  check_alike(found.labels, {0, 1, 0, 1, 0, 1}, 1e-12);
}
