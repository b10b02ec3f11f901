// Every engine that can run here, in every precision, instruction set and number of threads, against the
// reference; the CUDA engine emulated, where cases are small.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/engine.h"
#include "engine/masks.h"
#include "engine/options.h"
#include "parity/all_engines.h"
#include "parity/engine_parity.h"
#include "support/catch.h"
#include "support/models/harder.h"
#include "support/models/shrink.h"
#include "support/seeds.h"
#include "support/slow_build.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr std::array<std::int64_t, 12> kLengths{1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 257, 1000};
constexpr std::array<int, 11> kDurations{1, 2, 3, 15, 16, 17, 31, 32, 33, 100, 300};
constexpr std::array<int, 16> kLabels{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40};

// Walks through all values of each list in a random order, so that a small sample covers every value.
template <class Value, std::size_t N>
class Cover {
 public:
  Cover(std::array<Value, N> values, std::mt19937_64& random) : values_(values), random_(random) {}
  Value next() {
    if (at_ % N == 0) std::shuffle(values_.begin(), values_.end(), random_);
    return values_[at_++ % N];
  }

 private:
  std::array<Value, N> values_;
  std::mt19937_64& random_;
  std::size_t at_ = 0;
};

// A covering sample of shapes; large ones are kept few.
std::vector<CaseShape> covering_shapes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Cover lengths(kLengths, random);
  Cover durations(kDurations, random);
  Cover labels(kLabels, random);
  std::vector<CaseShape> shapes;
  for (std::size_t i = 0; i < count; ++i) shapes.push_back({lengths.next(), durations.next(), labels.next()});
  return shapes;
}

}  // namespace

TEST_CASE("every engine equals the reference over lengths, durations and labels") {
  std::uint64_t seed = 1;
  for (const CaseShape& shape : covering_shapes(static_cast<std::size_t>(of_long_test(48)), 20)) {
    check_all_engines(
        make_case(seed % 2 == 0 ? CaseKind::kPlain : CaseKind::kEverything, shape, test_seed(seed)));
    ++seed;
  }
}

// Models as users have them: no segment may be short, which is forbidden or just costs 1e5, starts and ends
// have scores, and the sequence ends one position into a block.
TEST_CASE("every engine equals the reference where segments have a shortest duration") {
  const std::uint64_t first = test_seed(700);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(of_long_test(24)); ++seed) {
    std::mt19937_64 random(seed);
    const auto between = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    // Every second case is small enough for the emulated device.
    const bool small = seed % 2 == 0;
    const CaseShape shape{16 * between(1, small ? 8 : 20) + 1, between(2, small ? 150 : 300),
                          small ? between(1, 9) : between(1, 33)};
    ModelCase sample = make_case(CaseKind::kBoundaryScores, shape, seed);
    // So that every length from the shortest on is a sum of durations that are allowed.
    const int most = static_cast<int>(std::min<std::int64_t>((shape.max_duration + 1) / 2, shape.length));
    const auto rows = static_cast<std::size_t>(between(1, most) - 1);
    const double score = seed % 4 < 2 ? kNegativeInfinity : -1e5;
    std::fill_n(sample.model.duration_bias.begin(), rows * static_cast<std::size_t>(shape.num_labels), score);
    sample.description += "; durations up to " + std::to_string(rows) + " score " + std::to_string(score);
    check_these_engines(all_engines(), sample, {});
  }
}

TEST_CASE("every engine equals the reference on every kind of model, easy and hard") {
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      std::uint64_t seed = 100;
      const auto shapes = static_cast<std::size_t>(of_long_test(5));
      for (const CaseShape& shape : covering_shapes(shapes, 30 + static_cast<std::uint64_t>(kind))) {
        check_all_engines(make_case(kind, shape, seed++));
      }
      check_all_engines(make_case(kind, {6, 4, 3}, 200));
      check_all_engines(make_case(kind, {of_long_test(700), 24, 6}, 201));
      // One position into a block, K beyond T, the fewest and many labels.
      check_all_engines(make_case(kind, {17, 300, 33}, 202));
      check_all_engines(make_case(kind, {257, 300, 1}, 203));
      check_all_engines(make_case(kind, {257, 60, 3}, 204));
      if (!kSlowBuild) check_all_engines(make_case(kind, {257, 300, 33}, 205));
    }
  }
}

// Long enough for several chunks and windows of any grid that is a small multiple of K.
TEST_CASE("every engine equals the reference over many chunks and windows") {
  constexpr std::int64_t kChunks = kSlowBuild ? 2 : 5;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kMasks,
        CaseKind::kDyadic, CaseKind::kPeriodic, CaseKind::kPeriodicLate, CaseKind::kPeriodicEndScores,
        CaseKind::kRareSource, CaseKind::kLargeScores, CaseKind::kMixedSizes, CaseKind::kLeftBehind,
        CaseKind::kSteepTables, CaseKind::kLargeTransitions, CaseKind::kMinimumDurationsMasked}) {
    DYNAMIC_SECTION(name_of(kind)) {
      std::int64_t chunk = 0;
      for (const EngineOptions& options : cpu_engines()) {
        const ModelCase small = make_case(kind, {20, 5, 3}, 301);
        chunk = std::max(chunk, make_engine(options, small.model)->info().grid.chunk);
      }
      check_all_engines(make_case(kind, {kChunks * chunk + 3, 5, 3}, 301));
    }
  }
}

TEST_CASE("threads do not change a digit") {
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kPeriodicLate}) {
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      EngineOptions options;
      options.backend = EngineOptions::Backend::kCpu;
      options.precision = precision;
      const CaseShape small{20, 4, 5};
      const std::int64_t chunk = make_engine(options, make_case(kind, small, 401).model)->info().grid.chunk;
      const ModelCase sample = make_case(kind, {5 * chunk + 1, small.max_duration, small.num_labels}, 401);
      INFO(sample.description);
      const std::vector<std::int64_t> whole{0, sample.length};
      const auto alone = make_engine(options, sample.model);
      const DecodedCase decoded = decode_case(*alone, sample, whole);
      const PosteriorCase posteriors = posterior_case(*alone, sample, whole);
      for (const int threads : {2, 3, 8}) {
        options.threads = threads;
        const auto together = make_engine(options, sample.model);
        INFO(together->description());
        const DecodedCase decoded_again = decode_case(*together, sample, whole);
        CHECK((decoded_again.path == decoded.path));
        CHECK(decoded_again.score == decoded.score);
        const PosteriorCase again = posterior_case(*together, sample, whole);
        CHECK(again.log_partition == posteriors.log_partition);
        CHECK((again.boundary == posteriors.boundary));
        CHECK((again.labels == posteriors.labels));
        CHECK((again.starts == posteriors.starts));
        CHECK((again.ends == posteriors.ends));
      }
    }
  }
}

// The defaults of the contract, which the reference and cpu engines keep.
TEST_CASE("several sequences at once are what they are one by one") {
  const ModelCase all = make_case(CaseKind::kTails, {300, 12, 3}, 451);
  std::vector<ModelCase> parts;
  for (const auto& [begin, end] : {std::pair{0, 100}, {100, 101}, {101, 134}, {134, 300}})
    parts.push_back(part_of_case(all, begin, end));
  ScoreTable& forbidden = parts[2].emissions;  // a sequence without a path
  for (std::size_t c = 0; c < 3; ++c) {
    if (!forbidden.f32.empty()) forbidden.f32[30 + c] = -std::numeric_limits<float>::infinity();
    if (!forbidden.f64.empty()) forbidden.f64[30 + c] = kNegativeInfinity;
  }
  std::vector<ScoreWindow> sequences;
  for (const ModelCase& part : parts) sequences.push_back(part.whole());

  for (const EngineOptions& options : all_engines()) {
    const auto engine = make_engine(options, all.model);
    INFO(engine->description());
    CHECK((engine->batches().batch_positions() > 0) == (options.backend == EngineOptions::Backend::kCuda));
    const std::vector<SequencePath> paths = engine->batches().viterbi_of(sequences);
    const std::vector<SequenceResult> partitions = engine->batches().log_partitions(sequences);
    std::vector<std::vector<double>> labels;
    std::vector<PosteriorArrays> out(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      out[i].labels = labels.emplace_back(static_cast<std::size_t>(parts[i].length) * 3).data();
    const std::vector<SequenceResult> results = engine->batches().posteriors_of(sequences, out, nullptr);
    REQUIRE(paths.size() == parts.size());
    REQUIRE(partitions.size() == parts.size());
    REQUIRE(results.size() == parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::vector<std::int64_t> whole{0, parts[i].length};
      const auto alone = make_engine(options, all.model);
      std::vector<Segment> path = decode_case(*alone, parts[i], whole).path;
      std::reverse(path.begin(), path.end());
      const PosteriorCase posteriors = posterior_case(*alone, parts[i], whole);
      CHECK(paths[i].feasible == (i != 2));
      CHECK(paths[i].reversed == path);
      CHECK(partitions[i].log_partition == posteriors.log_partition);
      CHECK(results[i].log_partition == posteriors.log_partition);
      CHECK((i == 2 || labels[i] == posteriors.labels));
    }
    CHECK(engine->batches().viterbi_of({}).empty());
    CHECK(engine->batches().log_partitions({}).empty());
    CHECK(engine->batches().posteriors_of({}, {}, nullptr).empty());
  }
}

TEST_CASE("models that do not forget are repaired") {
  for (const CaseKind kind : {CaseKind::kPeriodicLate, CaseKind::kPeriodicEndScores}) {
    for (const EngineOptions& options : cpu_engines()) {
      const ModelCase small = make_case(kind, {20, 5, 4}, 501);
      const std::int64_t chunk = make_engine(options, small.model)->info().grid.chunk;
      const ModelCase sample = make_case(kind, {6 * chunk + 35, 5, 4}, 501);
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description() << ", " << sample.description);
      const PosteriorCase windows = posterior_case(*engine, sample, window_edges(*engine, sample.length, 1));
      CHECK(windows.redone_windows > 0);
      const PosteriorCase whole = posterior_case(*engine, sample, {0, sample.length});
      std::int64_t repaired = 0;
      for (const ChunkReport& chunk_report : whole.chunks) repaired += chunk_report.repaired ? 1 : 0;
      CHECK(repaired > 0);
    }
  }
}

// What the exact path of the fast engines is for, so that the cases above run through it.
TEST_CASE("masks on single labels reach the exact path of the fast engines") {
  for (const EngineOptions& options : fast_engines()) {
    const std::int64_t length = options.backend == EngineOptions::Backend::kCuda ? 100 : 300;
    std::int64_t fallbacks = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      ModelCase sample = make_case(CaseKind::kMasks, {length, 30, 6}, seed);
      sample.model.duration_bias.front() = kNegativeInfinity;
      const auto engine = make_engine(options, sample.model);
      for (const ChunkReport& chunk : posterior_case(*engine, sample, {0, sample.length}).chunks)
        fallbacks += chunk.fallbacks;
    }
    INFO(options.instruction_set);
    CHECK(fallbacks > 0);
  }
}

TEST_CASE("masks count as forbidden where every segment can go round them") {
  std::uint64_t seed = 391;
  for (const CaseShape& shape : {CaseShape{700, 30, 6}, {400, 5, 2}, {300, 1, 4}, {257, 40, 34}}) {
    for (const bool repeats : {true, false}) {
      ModelCase sample = make_case(CaseKind::kMasks, shape, seed++);
      ChainModel& model = sample.model;
      const auto labels = static_cast<std::size_t>(shape.num_labels);
      for (double& bias : model.duration_bias) bias = std::max(bias, -5.0);
      if (!repeats) {
        for (std::size_t c = 0; c < labels; ++c) model.transition[c * labels + c] = kNegativeInfinity;
        CHECK(!masks_forbid(model));
        model.log_tail.assign(labels, -0.3);
      }
      INFO(sample.description);
      REQUIRE(masks_forbid(model));
      check_all_engines(sample);
      for (const EngineOptions& options : cpu_engines()) {
        std::int64_t fallbacks = 0;
        for (const ChunkReport& chunk :
             posterior_case(*make_engine(options, model), sample, {0, sample.length}).chunks)
          fallbacks += chunk.fallbacks;
        CHECK(fallbacks == 0);
      }
    }
  }
}

// Segments that would be long if they could go on: from any block to any later one.
TEST_CASE("paths do not go over forbidden positions") {
  std::uint64_t seed = 401;
  for (const CaseShape& shape : {CaseShape{700, 100, 3}, {257, 200, 2}, {500, 12, 2}, {400, 300, 34}}) {
    for (const float score : {-std::numeric_limits<float>::infinity(), -1e9F}) {
      ModelCase sample = make_case(CaseKind::kPlain, shape, seed++);
      for (double& transition : sample.model.transition) transition -= 8;
      for (double& bias : sample.model.duration_bias) bias *= 0.1;
      std::mt19937_64 random(seed);
      std::bernoulli_distribution forbidden(0.03);
      for (float& x : sample.emissions.f32) x = forbidden(random) ? score : 0.1F * x;
      for (double& x : sample.emissions.f64) x = forbidden(random) ? double{score} : 0.1 * x;
      INFO(sample.description);
      check_all_engines(sample);
    }
  }
}

// Where a mask may be all that is left, it is not forbidden: every way leads over one here.
TEST_CASE("masks that cannot be gone round are kept") {
  ModelCase sample = make_case(CaseKind::kPlain, {200, 20, 2}, 395);
  ChainModel& model = sample.model;
  SECTION("by short segments") {
    for (std::size_t i = 0; i < 2 * 2; ++i) model.duration_bias[i] = kNegativeInfinity;
  }
  SECTION("by returning") { model.transition[2] = kNegativeInfinity; }
  SECTION("by a score that is no better") { model.transition[2] = -1e9; }
  CHECK(!masks_forbid(model));
  for (std::size_t t = 100; t < 104; ++t) add_to_emission(sample, t, t % 2, -1e9);
  check_all_engines(sample);
}

// No certificate depends on the size of scores: neither in posteriors nor in the best path is any block
// exact.
TEST_CASE("scores of every size stay on the fast path of the cpu engine") {
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kLargeScores, CaseKind::kMixedSizes,
                              CaseKind::kSteps, CaseKind::kLeftBehind, CaseKind::kForbiddenPositions}) {
    for (const EngineOptions& options : cpu_engines()) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const ModelCase sample = make_case(kind, {1600, 30, 6}, seed);
        const auto engine = make_engine(options, sample.model);
        INFO(sample.description << ", " << engine->description());
        std::int64_t fallbacks = 0;
        for (const ChunkReport& chunk : posterior_case(*engine, sample, {0, sample.length}).chunks)
          fallbacks += chunk.fallbacks;
        CHECK(fallbacks == 0);
      }
    }
  }
}

TEST_CASE("tails far below their label stay on the fast path of the cpu engine") {
  const ModelCase sample = sinking_tails_case({2000, 120, 3}, 371);
  const auto reference = make_reference_engine(sample.model);
  const ExpectedCase expected = expected_case(*reference, sample);
  for (const EngineOptions& options : cpu_engines()) {
    const auto engine = make_engine(options, sample.model);
    INFO(engine->description());
    expect_none(compare_with(expected, *engine, sample, tolerances_of(options.precision)));
    CHECK(exact_blocks(*engine, sample) <= 3);  // of 375
  }
}

TEST_CASE("a forced engine that cannot run is refused") {
  const ModelCase sample = make_case(CaseKind::kPlain, {5, 2, 2}, 1);
  EngineOptions options;
  options.instruction_set = "no such set";
  CHECK_THROWS_AS(make_engine(options, sample.model), DeviceError);
  options.backend = EngineOptions::Backend::kReference;
  CHECK_THROWS_AS(make_engine(options, sample.model), DeviceError);
  options.instruction_set.clear();
  CHECK(make_engine(options, sample.model)->name() == "reference");
  options.backend = EngineOptions::Backend::kCudaPlain;
  if (plain_engines().empty()) {
    CHECK_THROWS_AS(make_engine(options, sample.model), DeviceError);
  } else {
    CHECK(make_engine(options, sample.model)->name() == "cuda-plain");
  }
  options.backend = EngineOptions::Backend::kAuto;
  // A GPU, also an emulated one, is preferred.
  CHECK(make_engine(options, sample.model)->name() == (cuda_engines().empty() ? "cpu" : "cuda"));
}
