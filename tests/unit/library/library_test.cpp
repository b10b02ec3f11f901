// The C interface through its C++ face: against an enumeration, layouts, batches, threads, forks, errors.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "library/semicrf.hpp"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/seeds.h"
#include "support/truth/all_paths.h"
#include "support/truth/enumerate.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

std::vector<double> doubles(const ScoreTable& table) {
  if (table.f32.empty()) return table.f64;
  return {table.f32.begin(), table.f32.end()};
}

// A case whose baseline is taken from its scores, as no model has one.
struct LibraryCase {
  explicit LibraryCase(ModelCase given) : sample(std::move(given)) {
    scores = doubles(sample.emissions);
    for (std::size_t i = 0; i < scores.size() && !sample.baseline.empty(); ++i)
      scores[i] -= sample.baseline[i % static_cast<std::size_t>(labels())];
    starts = doubles(sample.start_scores);
    ends = doubles(sample.end_scores);
  }

  std::int64_t labels() const { return sample.model.num_labels; }
  lib::Model model() const {
    std::vector<double> tail;
    for (const double log_q : sample.model.log_tail) tail.push_back(std::exp(log_q));
    semicrf_tables tables{};
    tables.num_labels = sample.model.num_labels;
    tables.max_duration = sample.model.max_duration;
    tables.transition = sample.model.transition.data();
    tables.duration = sample.model.duration_bias.data();
    tables.tail = tail.empty() ? nullptr : tail.data();
    tables.start = sample.model.start_scores.empty() ? nullptr : sample.model.start_scores.data();
    tables.end = sample.model.end_scores.empty() ? nullptr : sample.model.end_scores.data();
    tables.initial = sample.model.initial == InitialTerm::kUniform ? "uniform" : "none";
    tables.centering = sample.subtract_position_max ? "position-max" : "none";
    return lib::Model(tables);
  }
  semicrf_sequence sequence() const {
    semicrf_sequence sequence{};
    sequence.scores = lib::array_of(scores.data(), sample.length, labels());
    if (!starts.empty()) sequence.start_scores = lib::array_of(starts.data(), sample.length, labels());
    if (!ends.empty()) sequence.end_scores = lib::array_of(ends.data(), sample.length, labels());
    return sequence;
  }

  ModelCase sample;
  std::vector<double> scores, starts, ends;
};

struct Posteriors {
  Posteriors(std::int64_t length, std::int64_t labels)
      : boundary(static_cast<std::size_t>(length)),
        labels_at(static_cast<std::size_t>(length * labels)),
        starts(labels_at.size()),
        ends(labels_at.size()) {}
  void ask(semicrf_sequence& sequence) {
    const std::int64_t length = sequence.scores.rows, columns = sequence.scores.columns;
    sequence.boundary = lib::output_of(boundary.data(), length, 1);
    sequence.labels = lib::output_of(labels_at.data(), length, columns);
    sequence.starts = lib::output_of(starts.data(), length, columns);
    sequence.ends = lib::output_of(ends.data(), length, columns);
  }
  bool operator==(const Posteriors&) const = default;

  std::vector<double> boundary, labels_at, starts, ends;
};

void check_near(const std::vector<double>& found, const std::vector<double>& truth, double tolerance) {
  REQUIRE(found.size() >= truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) CHECK(std::fabs(found[i] - truth[i]) <= tolerance);
}

std::vector<Segment> segments_of(const std::vector<semicrf_segment>& given) {
  std::vector<Segment> segments;
  for (const semicrf_segment& one : given)
    segments.push_back({one.begin, one.end, static_cast<int>(one.label)});
  return segments;
}

semicrf_options options_of(const char* backend, bool wide, int threads = 1) {
  semicrf_options options{};
  options.backend = backend;
  options.double_precision = wide ? 1 : 0;
  options.threads = threads;
  return options;
}

constexpr semicrf_request kEverything = {1, 1, 1, 1, 1000, 20, 7};

double entropy_of(const std::vector<PathProbability>& paths) {
  double sum = 0;
  for (const PathProbability& one : paths)
    if (one.probability > 0) sum -= one.probability * std::log(one.probability);
  return sum;
}

const PathProbability& find_path(const std::vector<PathProbability>& all, const std::vector<Segment>& path) {
  const auto found = std::ranges::find(all, path, &PathProbability::path);
  REQUIRE(found != all.end());
  return *found;
}

void compare_with_enumeration(const LibraryCase& one, const lib::Engine& engine, double tolerance) {
  const ModelCase& sample = one.sample;
  const Enumeration truth = enumerate_segmentations(sample);
  const std::vector<PathProbability> paths = all_paths(sample);
  semicrf_sequence sequence = one.sequence();
  Posteriors posteriors(sample.length, one.labels());
  posteriors.ask(sequence);
  std::vector<semicrf_segment> given;
  if (!paths.empty())
    for (const Segment& part : paths.back().path) given.push_back({part.begin, part.end, part.label});
  sequence.segments = given.empty() ? nullptr : given.data();
  sequence.num_segments = given.size();
  const lib::Result result = engine.compute({&sequence, 1}, kEverything);
  const double log_z = result.number(0, SEMICRF_LOG_PARTITION);
  if (truth.feasible == 0) {
    CHECK(log_z == kNegativeInfinity);
    CHECK(result.paths(0, SEMICRF_BEST_PATH) + result.paths(0, SEMICRF_RANKED) +
              result.paths(0, SEMICRF_SAMPLED) ==
          0);
    CHECK(std::isnan(result.number(0, SEMICRF_ENTROPY)));
    return;
  }
  const double relative = tolerance * std::max(1.0, std::fabs(truth.log_partition));
  CHECK(std::fabs(log_z - truth.log_partition) <= relative);
  check_near(posteriors.boundary, truth.boundary, tolerance);
  check_near(posteriors.labels_at, truth.labels, tolerance);
  check_near(posteriors.starts, truth.starts, tolerance);
  check_near(posteriors.ends, truth.ends, tolerance);
  std::vector<double> transition(truth.transition.size()), duration(truth.duration.size()),
      tail(static_cast<std::size_t>(one.labels()));
  result.counts(0, transition.data(), duration.data(), tail.data());
  check_near(transition, truth.transition, 10 * tolerance);
  check_near(duration, truth.duration, 10 * tolerance);
  check_near(tail, truth.tail, 10 * tolerance);
  CHECK(std::fabs(result.number(0, SEMICRF_ENTROPY) - entropy_of(paths)) <= 100 * tolerance);
  CHECK(std::fabs(std::exp(result.number(0, SEMICRF_GIVEN_SCORE) - log_z) - paths.back().probability) <=
        10 * tolerance);
  CHECK(std::fabs(result.path(0, SEMICRF_BEST_PATH).score - truth.best_score) <=
        tolerance * std::max(1.0, std::fabs(truth.best_score)));
  if (truth.runner_up_gap > 1e-3 || sample.exact_sums)
    CHECK(segments_of(result.segments(0, SEMICRF_BEST_PATH)) == truth.best_path);
  const std::size_t ranks = result.paths(0, SEMICRF_RANKED);
  CHECK(ranks == std::min<std::size_t>(1000, paths.size()));
  for (std::size_t rank = 0; rank < ranks; ++rank)
    CHECK(std::fabs(std::exp(result.path(0, SEMICRF_RANKED, rank).log_probability) -
                    find_path(paths, segments_of(result.segments(0, SEMICRF_RANKED, rank))).probability) <=
          10 * tolerance);
  REQUIRE(result.paths(0, SEMICRF_SAMPLED) == 20);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(std::fabs(std::exp(result.path(0, SEMICRF_SAMPLED, i).log_probability) -
                    find_path(paths, segments_of(result.segments(0, SEMICRF_SAMPLED, i))).probability) <=
          10 * tolerance);
}

// Moderate kinds, of which single precision has five digits.
constexpr std::array kKinds = {CaseKind::kPlain,
                               CaseKind::kEverything,
                               CaseKind::kForbiddenTransitions,
                               CaseKind::kForbiddenDurations,
                               CaseKind::kTails,
                               CaseKind::kBoundaryScores,
                               CaseKind::kForbiddenPositions,
                               CaseKind::kInfeasible,
                               CaseKind::kTies};

LibraryCase long_case(std::int64_t length, std::uint64_t seed) {
  return LibraryCase(make_case(CaseKind::kBoundaryScores, {length, 9, 4}, test_seed(seed)));
}

// The text of the error that `body` fails with.
template <class Body>
std::string failure_of(semicrf_status status, Body body) {
  try {
    body();
  } catch (const lib::Failure& failure) {
    CHECK(failure.status() == status);
    return failure.what();
  }
  FAIL("nothing was refused");
  return "";
}

}  // namespace

TEST_CASE("the library equals the enumeration") {
  const auto backend = GENERATE(0, 1, 2);
  const std::uint64_t first = test_seed(1);
  for (const CaseKind kind : kKinds) {
    for (std::uint64_t seed = first; seed < first + 6; ++seed) {
      const auto length = static_cast<std::int64_t>(1 + seed % 5);
      const LibraryCase one(make_case(
          kind, {length, static_cast<int>(1 + (seed + 1) % 4), static_cast<int>(1 + seed % 3)}, seed));
      INFO(one.sample.description << ", backend " << backend);
      const lib::Model model = one.model();
      if (backend == 0)
        compare_with_enumeration(one, lib::Engine(model, options_of("reference", true)), 1e-10);
      if (backend == 1) compare_with_enumeration(one, lib::Engine(model, options_of("cpu", true)), 1e-10);
      if (backend == 2) compare_with_enumeration(one, lib::Engine(model, options_of("cpu", false)), 1e-5);
    }
  }
}

TEST_CASE("a library model reads back what it writes") {
  const LibraryCase one(make_case(CaseKind::kTails, {5, 6, 3}, test_seed(3)));
  const lib::Model model = one.model(), again = lib::Model::parse(model.json());
  CHECK(model.json() == again.json());
  const semicrf_tables tables = again.tables();
  CHECK(
      std::equal(one.sample.model.transition.begin(), one.sample.model.transition.end(), tables.transition));
  CHECK(std::equal(one.sample.model.duration_bias.begin(), one.sample.model.duration_bias.end(),
                   tables.duration));
  CHECK(std::string(tables.labels[2]) == "2");
  CHECK(std::string(tables.initial) == (one.sample.model.initial == InitialTerm::kNone ? "none" : "uniform"));
  CHECK(model.columns() == 3);
}

TEST_CASE("the library reads scores in every layout, with the same digits") {
  const LibraryCase one = long_case(300, 11);
  const lib::Model model = one.model();
  const lib::Engine engine(model);
  const std::int64_t rows = one.sample.length, columns = one.labels();
  semicrf_sequence sequence = one.sequence();
  Posteriors truth(rows, columns);
  truth.ask(sequence);
  engine.compute({&sequence, 1}, {});

  const auto wide = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const std::size_t count = wide(rows * columns);
  std::vector<double> by_column(count), apart(2 * count), reversed(count);
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t c = 0; c < columns; ++c) {
      const double value = one.scores[wide(t * columns + c)];
      by_column[wide(c * rows + t)] = apart[wide(2 * (t * columns + c))] = value;
      reversed[wide((rows - 1 - t) * columns + c)] = value;
    }
  const semicrf_array layouts[] = {
      {by_column.data(), SEMICRF_FLOAT64, rows, columns, 8, 8 * rows},
      {apart.data(), SEMICRF_FLOAT64, rows, columns, 16 * columns, 16},
      {reversed.data() + (rows - 1) * columns, SEMICRF_FLOAT64, rows, columns, -8 * columns, 8}};
  for (const semicrf_array& layout : layouts) {
    sequence.scores = layout;
    Posteriors found(rows, columns);
    found.ask(sequence);
    engine.compute({&sequence, 1}, {});
    CHECK(found == truth);
  }

  // Outputs by columns, in float: the values have the precision of the engine.
  sequence = one.sequence();
  std::vector<float> labels(count);
  sequence.labels = {labels.data(), SEMICRF_FLOAT32, rows, columns, 4, 4 * rows};
  engine.compute({&sequence, 1}, {});
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t c = 0; c < columns; ++c)
      REQUIRE(static_cast<double>(labels[wide(c * rows + t)]) == truth.labels_at[wide(t * columns + c)]);
}

TEST_CASE("neither batches nor threads nor memory change a digit of the library") {
  std::vector<LibraryCase> cases;
  for (const std::int64_t length : {1, 40, 7000, 3, 400, 60000}) cases.push_back(long_case(length, 21));
  for (LibraryCase& one : cases) {
    one.sample.model = cases.front().sample.model;  // one model, several sequences
  }
  const lib::Model model = cases.front().model();
  std::vector<semicrf_sequence> sequences;
  std::vector<Posteriors> truths, founds;
  for (const LibraryCase& one : cases) {
    sequences.push_back(one.sequence());
    sequences.back().name = "the same";  // which samples depend on
    founds.emplace_back(one.sample.length, one.labels());
  }
  truths = founds;
  const semicrf_request request = {1, 1, 1, 1, 3, 2, 99};
  const lib::Engine engine(model);
  std::vector<lib::Result> alone;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    truths[i].ask(sequences[i]);
    alone.push_back(engine.compute({&sequences[i], 1}, request));
  }
  const auto check_all = [&](const lib::Engine& other) {
    for (std::size_t i = 0; i < cases.size(); ++i) founds[i].ask(sequences[i]);
    const lib::Result together = other.compute(sequences, request);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CHECK(founds[i] == truths[i]);
      for (const semicrf_number which : {SEMICRF_LOG_PARTITION, SEMICRF_ENTROPY, SEMICRF_EXPECTED_SEGMENTS})
        CHECK(together.number(i, which) == alone[i].number(0, which));
      for (const semicrf_path_kind kind : {SEMICRF_BEST_PATH, SEMICRF_RANKED, SEMICRF_SAMPLED}) {
        REQUIRE(together.paths(i, kind) == alone[i].paths(0, kind));
        for (std::size_t n = 0; n < together.paths(i, kind); ++n)
          CHECK(segments_of(together.segments(i, kind, n)) == segments_of(alone[i].segments(0, kind, n)));
      }
    }
  };
  check_all(lib::Engine(model, options_of("cpu", false, 3)));
  semicrf_options little = options_of("cpu", false, 2);
  little.max_memory = 16 << 20;
  check_all(lib::Engine(model, little));
  // log Z by forward messages alone is the one beside posteriors.
  const lib::Result forward = engine.compute(sequences, {1, 0, 0, 0, 0, 0, 0});
  for (std::size_t i = 0; i < cases.size(); ++i)
    CHECK(forward.number(i, SEMICRF_LOG_PARTITION) ==
          Approx(alone[i].number(0, SEMICRF_LOG_PARTITION)).epsilon(1e-12));
}

TEST_CASE("an engine of the library may be called from several threads, and after a fork") {
  const LibraryCase one = long_case(60000, 31);  // several chunks, which threads share
  const lib::Model model = one.model();
  const lib::Engine engine(model, options_of("cpu", false, 2));
  const auto ask = [&] {
    semicrf_sequence sequence = one.sequence();
    Posteriors found(one.sample.length, one.labels());
    found.ask(sequence);
    engine.compute({&sequence, 1}, {});
    return found;
  };
  const Posteriors truth = ask();
  std::array<std::optional<Posteriors>, 4> founds;
  {
    std::vector<std::jthread> threads;
    for (auto& found : founds)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) found = ask();
      });
  }
  for (const auto& found : founds) CHECK((found && *found == truth));
#if !defined(__SANITIZE_THREAD__)  // which ends processes that start threads after a fork
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // ends a child that waits for threads that it has not
    _exit(ask() == truth ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
#endif
}

TEST_CASE("every part of the library may be used from several threads") {
  const LibraryCase one = long_case(3000, 32);
  const lib::Model model = one.model();
  const lib::Engine engine(model, options_of("cpu", false, 2));
  const auto ask = [&] {
    std::vector<double> numbers;
    std::vector<std::string> texts{model.json()};
    const semicrf_sequence sequence = one.sequence();
    const lib::Result result = engine.compute({&sequence, 1}, {1, 1, 1, 1, 4, 3, 7});
    for (const semicrf_number which : {SEMICRF_LOG_PARTITION, SEMICRF_ENTROPY})
      numbers.push_back(result.number(0, which));
    numbers.push_back(result.path(0, SEMICRF_BEST_PATH).score);
    for (const semicrf_path_kind kind : {SEMICRF_RANKED, SEMICRF_SAMPLED})
      for (std::size_t i = 0; i < result.paths(0, kind); ++i)
        numbers.push_back(result.path(0, kind, i).log_probability);
    std::vector<double> along = one.scores, product(one.scores.size());
    const semicrf_variation direction{along.data(), nullptr, nullptr, nullptr, nullptr, nullptr},
        change{product.data(), nullptr, nullptr, nullptr, nullptr, nullptr};
    lib::hessian_product(one.model(), {&sequence, 1}, {&direction, 1}, {&change, 1}, 2);
    numbers.insert(numbers.end(), product.begin(), product.end());
    semicrf_learning how{};
    how.num_labels = 2;
    how.max_duration = 4;
    how.max_iterations = 2;
    const semicrf_array values = lib::array_of(one.scores.data(), 600, one.labels());
    texts.push_back(lib::Model::learn({&values, 1}, how, nullptr, options_of("cpu", false, 2)).json());
    try {
      lib::Model::parse("{}");
    } catch (const lib::Failure& failure) {
      texts.emplace_back(failure.what());
    }
    return std::pair(numbers, texts);
  };
  const auto truth = ask();
  std::array<decltype(ask()), 4> founds;
  {
    std::vector<std::jthread> threads;
    for (auto& found : founds) threads.emplace_back([&] { found = ask(); });
  }
  for (const auto& found : founds) CHECK((found == truth));
}

TEST_CASE("constraints of the library hold, with their probability") {
  const std::uint64_t first = test_seed(41);
  for (std::uint64_t seed = first; seed < first + 12; ++seed) {
    const LibraryCase one(make_case(CaseKind::kPlain, {5, 4, 3}, seed));
    INFO(one.sample.description);
    const lib::Model model = one.model();
    const lib::Engine engine(model, options_of("cpu", true));
    const std::int32_t some[] = {0, 2}, last[] = {2};
    const semicrf_constraint constraints[] = {{SEMICRF_ONLY, 1, 3, some, 2},
                                              {SEMICRF_NOT, 4, 5, last, 1},
                                              {SEMICRF_BOUNDARY, 3, 4, nullptr, 0},
                                              {SEMICRF_NO_BOUNDARY, 4, 5, nullptr, 0},
                                              {SEMICRF_BOUNDARY, 0, 1, nullptr, 0}};
    const auto meets = [](const std::vector<Segment>& path) {
      bool boundary = false;
      for (const Segment& part : path) {
        boundary = boundary || part.begin == 3;
        if (part.begin == 4) return false;
        for (std::int64_t t = part.begin; t < part.end; ++t)
          if ((part.label == 1 && t >= 1 && t < 3) || (part.label == 2 && t == 4)) return false;
      }
      return boundary;
    };
    double truth = 0;
    std::size_t count = 0;
    for (const PathProbability& path : all_paths(one.sample)) {
      if (!meets(path.path)) continue;
      truth += path.probability;
      ++count;
    }
    semicrf_sequence sequence = one.sequence();
    sequence.constraints = constraints;
    sequence.num_constraints = std::size(constraints);
    const lib::Result result = engine.compute({&sequence, 1}, kEverything);
    CHECK(std::exp(result.number(0, SEMICRF_LOG_CONSTRAINTS)) == Approx(truth).margin(1e-9));
    CHECK(result.paths(0, SEMICRF_RANKED) == std::min<std::size_t>(1000, count));
    for (const semicrf_path_kind kind : {SEMICRF_BEST_PATH, SEMICRF_RANKED, SEMICRF_SAMPLED})
      for (std::size_t n = 0; n < result.paths(0, kind); ++n)
        CHECK(meets(segments_of(result.segments(0, kind, n))));
  }
}

TEST_CASE("the library refuses what is wrong with one line that names it") {
  const LibraryCase one = long_case(50, 51);
  const lib::Model model = one.model();
  const lib::Engine engine(model);
  const auto refused = [&](auto change, semicrf_status status = SEMICRF_BAD_ARGUMENT,
                           semicrf_request request = {1, 0, 0, 0, 0, 0, 0}) {
    std::vector<semicrf_sequence> sequences = {one.sequence(), one.sequence()};
    change(sequences[1]);
    return failure_of(status, [&] { engine.compute(sequences, request); });
  };
  CHECK(refused([](auto& s) { s.scores.columns = 3; }) ==
        "scores of sequence 1: the shape is (50, 3), expected (50, 4): positions, labels");
  CHECK(refused([](auto& s) { s.scores.data = nullptr; }) == "scores of sequence 1 is a null pointer");
  CHECK(refused([](auto& s) { s.scores.rows = 0; }).find("scores of sequence 1") == 0);
  CHECK(refused([](auto& s) { s.scores.type = static_cast<semicrf_type>(3); }).find("type 3") !=
        std::string::npos);
  CHECK(refused([](auto& s) { s.start_scores.rows = 49; }).find("start_scores of sequence 1") == 0);
  CHECK(refused([](auto& s) {
          s.name = "chr7";
          s.end_scores.columns = 1;
        }).find("end_scores of sequence chr7") == 0);
  std::vector<double> bad = one.scores;
  bad[9] = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused([&](auto& s) { s.scores.data = bad.data(); }, SEMICRF_BAD_INPUT) ==
        "scores of sequence 1:row 2, column 1: the value is NaN; scores are finite or -Inf (which forbids)");
  std::vector<double> few(50);
  CHECK(refused([&](auto& s) { s.labels = lib::output_of(few.data(), 50, 1); }) ==
        "labels of sequence 1: the shape is (50, 1), expected (50, 4)");
  const semicrf_segment gap[] = {{0, 10, 0}, {11, 50, 1}}, unknown[] = {{0, 50, 4}}, early[] = {{0, 49, 1}};
  const auto with = [](const semicrf_segment* segments, std::size_t count) {
    return [=](semicrf_sequence& s) {
      s.segments = segments;
      s.num_segments = count;
    };
  };
  CHECK(refused(with(gap, 2)).find("segment 1 of sequence 1: [11, 50), expected one that begins at 10") == 0);
  CHECK(refused(with(unknown, 1)).find("there is no label 4") != std::string::npos);
  CHECK(refused(with(early, 1)) == "segments of sequence 1 end at 49, the sequence at 50");
  const std::int32_t label = 9, all[] = {0, 1, 2, 3};
  const auto under = [](const semicrf_constraint& constraint) {
    return [&constraint](semicrf_sequence& s) {
      s.constraints = &constraint;
      s.num_constraints = 1;
    };
  };
  CHECK(refused(under({SEMICRF_ONLY, 0, 1, &label, 1})).find("there is no label 9") != std::string::npos);
  CHECK(refused(under({SEMICRF_NOT, 4, 60, &label, 1})).find("[4, 60) is no range") != std::string::npos);
  CHECK(refused(under({SEMICRF_NO_BOUNDARY, 0, 2, nullptr, 0})).find("position 0") != std::string::npos);
  CHECK(refused(under({SEMICRF_NOT, 4, 5, all, 4}), SEMICRF_BAD_INPUT).find("constraint 0 of sequence 1") ==
        0);
  CHECK(refused([](auto&) {}, SEMICRF_BAD_ARGUMENT, {0, 0, 0, 0, 1001, 0, 0}) ==
        "best is 1001; it is 0 to 1000");
  // The engine goes on.
  const semicrf_sequence sequence = one.sequence();
  const lib::Result result = engine.compute({&sequence, 1}, {1, 1, 0, 0, 0, 0, 0});
  CHECK(std::isfinite(result.number(0, SEMICRF_LOG_PARTITION)));
  CHECK(engine.compute({}, kEverything).get() != nullptr);

  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] {
          result.number(1, SEMICRF_ENTROPY);
        }).find("there is no sequence 1") == 0);
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] { result.path(0, SEMICRF_SAMPLED); }).find("there is no path") ==
        0);
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] {
          result.counts(0, few.data(), nullptr, nullptr);
        }).find("there are no counts") == 0);
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] { lib::Engine(model, options_of("gpu", false)); }) ==
        R"(backend is "gpu"; it is "cpu", "reference", "cuda" or "auto")");
  CHECK(failure_of(SEMICRF_BAD_INPUT, [] { lib::Model::parse("{}"); }).find("json") == 0);
  CHECK(failure_of(SEMICRF_CANNOT_READ, [] {
          lib::Model::read("/nowhere/p.json");
        }).find("/nowhere/p.json") == 0);
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [] {
          lib::call(semicrf_model_json, nullptr, nullptr, std::size_t{0}, nullptr);
        }) == "model is a null pointer");
  semicrf_tables tables = model.tables();
  const char* const twice[] = {"a", "b", "c", "a"};
  tables.labels = twice;
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] { lib::Model{tables}; }).find("labels") != std::string::npos);
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] {
          engine.compute_on_device({}, {1, 0, 0, 0, 0, 0, 0}, nullptr);
        }) == "arrays on a device: the engine computes in memory of the host");
  const semicrf_sequence nothing{};
  const semicrf_variation along{};
  CHECK(failure_of(SEMICRF_BAD_ARGUMENT, [&] {
          lib::hessian_product(model, {&nothing, 1}, {&along, 1}, {&along, 1});
        }) == "scores of sequence 0 is a null pointer");
}
