// Expected counts and forward messages of every engine in all its forms against the reference.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/engine.h"
#include "engine/options.h"
#include "parity/all_engines.h"
#include "parity/gradient_case.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/slow_build.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

void check(const ModelCase& sample) {
  // Counts of a sequence without a path mean nothing; the cpu engine adds 0, a device what comes out.
  const auto reference = make_reference_engine(sample.model);
  const bool feasible =
      forward_case(*reference, sample, {0, sample.length}).log_partition != kNegativeInfinity;
  std::vector<EngineOptions> engines = feasible ? fast_engines() : cpu_engines();
  for (const EngineOptions& options : plain_engines()) engines.push_back(options);
  check_these_engines(engines, sample, {.inference = false, .gradient = true});
}

// Rows stay the same for `hold` positions, so that segments of several positions fit such scores.
void scale_emissions(ModelCase& sample, double by, std::size_t hold) {
  const auto labels = static_cast<std::size_t>(sample.model.num_labels);
  const auto scale = [&](auto& scores) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::size_t from = i / labels / hold * hold * labels + i % labels;
      scores[i] = from < i ? scores[from] : static_cast<std::decay_t<decltype(scores[i])>>(by * scores[i]);
    }
  };
  scale(sample.emissions.f32);
  scale(sample.emissions.f64);
  sample.description += ", times " + std::to_string(by) + ", held for " + std::to_string(hold);
}

std::int64_t chunk_of(const EngineOptions& options, const ChainModel& model) {
  return make_engine(options, model)->info().grid.chunk;
}

}  // namespace

TEST_CASE("counts and forward messages equal the reference over shapes that cross the blocks") {
  std::uint64_t seed = 1;
  for (const int duration : {1, 2, 3, 15, 16, 17, 31, 32, 33, 48, 49, 100}) {
    for (const std::int64_t length : {1, 2, 15, 16, 17, 32, 33, 100, 257}) {
      const int labels = 1 + static_cast<int>(seed * 7 % 19);
      check(make_case(seed % 3 == 0   ? CaseKind::kPlain
                      : seed % 3 == 1 ? CaseKind::kEverything
                                      : CaseKind::kTails,
                      {length, duration, labels}, seed));
      ++seed;
    }
  }
}

TEST_CASE("counts and forward messages equal the reference on every kind of model") {
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      check(make_case(kind, {6, 4, 3}, 200));
      check(make_case(kind, {of_long_test(700), 24, 6}, 201));
      check(make_case(kind, {of_long_test(333), 40, 9}, 202));
      check(make_case(kind, {90, 150, 3}, 203));
      check(make_case(kind, {17, 300, 33}, 204));
      check(make_case(kind, {257, 300, 1}, 205));
      if (!kSlowBuild) check(make_case(kind, {257, 300, 33}, 206));
    }
  }
}

// The largest start and the largest end of a block are far apart then, with the ends before the starts.
TEST_CASE("counts and forward messages equal the reference where scores are large") {
  std::uint64_t seed = 801;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kBoundaryScores,
                              CaseKind::kEverything, CaseKind::kMinimumDurations}) {
    for (const double by : {10.0, 30.0, 100.0, 1000.0}) {
      for (const std::size_t hold : {1, 4}) {
        DYNAMIC_SECTION(name_of(kind) << ", times " << by << ", held for " << hold) {
          ModelCase sample = make_case(kind, {of_long_test(210), 30, 5}, seed);
          scale_emissions(sample, by, hold);
          check(sample);
        }
        ++seed;
      }
    }
  }
}

TEST_CASE("counts and forward messages equal the reference over many chunks and windows") {
  constexpr std::int64_t kChunks = kSlowBuild ? 2 : 4;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kMasks,
        CaseKind::kPeriodicLate, CaseKind::kPeriodicEndScores, CaseKind::kSteps, CaseKind::kMixedSizes,
        CaseKind::kLeftBehind, CaseKind::kSteepTables, CaseKind::kMinimumDurationsMasked}) {
    DYNAMIC_SECTION(name_of(kind)) {
      const CaseShape small{20, 5, 3};
      const std::int64_t chunk = chunk_of(cpu_engines().front(), make_case(kind, small, 301).model);
      check(make_case(kind, {kChunks * chunk + 3, small.max_duration, small.num_labels}, 301));
    }
  }
}

TEST_CASE("threads do not change a digit of counts and forward messages") {
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails, CaseKind::kPeriodicLate}) {
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      EngineOptions options;
      options.backend = EngineOptions::Backend::kCpu;
      options.precision = precision;
      const CaseShape small{20, 4, 5};
      const std::int64_t chunk = chunk_of(options, make_case(kind, small, 401).model);
      const ModelCase sample = make_case(kind, {5 * chunk + 1, small.max_duration, small.num_labels}, 401);
      INFO(sample.description);
      const std::vector<std::int64_t> whole{0, sample.length};
      const auto alone = make_engine(options, sample.model);
      const ExpectedCounts counts = counts_case(*alone, sample, whole);
      const ForwardCase forward = forward_case(*alone, sample, whole);
      if (kind == CaseKind::kPeriodicLate) CHECK(forward.repaired > 0);
      for (const int threads : {2, 3, 8}) {
        options.threads = threads;
        const auto together = make_engine(options, sample.model);
        const ExpectedCounts again = counts_case(*together, sample, whole);
        CHECK((again.transition == counts.transition));
        CHECK((again.duration == counts.duration));
        CHECK((again.tail == counts.tail));
        const ForwardCase messages = forward_case(*together, sample, whole);
        CHECK((messages.starts == forward.starts));
        CHECK((messages.ends == forward.ends));
        CHECK((messages.tails == forward.tails));
        CHECK((messages.start_levels == forward.start_levels));
      }
    }
  }
}

// The counts of half a million segments: digits must not wear off along the sequence.
TEST_CASE("counts of a million positions agree with the sums of posteriors") {
  const ModelCase sample = make_case(CaseKind::kTails, {of_long_test(1'000'000), 3, 2}, 501);
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    EngineOptions options;
    options.backend = EngineOptions::Backend::kCpu;
    options.precision = precision;
    const auto engine = make_engine(options, sample.model);
    std::vector<double> starts(static_cast<std::size_t>(sample.length) * 2);
    ExpectedCounts counts;
    PosteriorArrays out;
    out.starts = starts.data();
    out.counts = &counts;
    engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, out);
    const double allowed = precision == Precision::kFloat ? 1e-6 : 1e-11;
    for (std::size_t c = 0; c < 2; ++c) {
      double started = 0;
      for (std::size_t t = 0; t < starts.size() / 2; ++t) started += starts[t * 2 + c];
      double lasted = 0;
      for (std::size_t k = 0; k < 3; ++k) lasted += counts.duration[k * 2 + c];
      double entered = counts.transition[c] + counts.transition[2 + c];
      if (sample.model.initial == InitialTerm::kNone) entered += starts[c];
      CHECK(lasted == Approx(started).epsilon(allowed));
      CHECK(entered == Approx(started).epsilon(allowed));
    }
  }
}
