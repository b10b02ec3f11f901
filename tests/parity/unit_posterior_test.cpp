// The forward-backward pass of K = 1 (cpu/simd/unit_posterior-inl.h) beside the reference. Its sums are
// double for both precisions; in float exponentials of the scores are not.
#include <cmath>
#include <cstdint>
#include <string>

#include "engine/options.h"
#include "parity/all_engines.h"
#include "parity/engine_parity.h"
#include "support/catch.h"
#include "support/models/random_models.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

enum class Scores { kSmall, kLarge, kMasked, kCentred };

ModelCase hidden_markov_case(std::int64_t length, int labels, Scores scores, bool tail, std::uint64_t seed) {
  ModelCase sample = make_case(CaseKind::kPlain, {length, 1, labels}, seed);
  sample.description += " scores " + std::to_string(static_cast<int>(scores)) + (tail ? ", tail" : "");
  const auto count = static_cast<std::size_t>(labels);
  sample.model.initial = seed % 2 == 0 ? InitialTerm::kUniform : InitialTerm::kNone;
  sample.model.start_scores.assign(count, 0.0);
  sample.model.end_scores.assign(count, 0.0);
  for (std::size_t c = 0; c < count; ++c) {
    sample.model.start_scores[c] = 0.5 * static_cast<double>(c % 3);
    sample.model.end_scores[c] = -0.25 * static_cast<double>(c % 5);
    if (tail)
      sample.model.log_tail.push_back(c % 4 == 3 ? kNegativeInfinity
                                                 : -0.01 - 0.2 * static_cast<double>(c % 6));
  }
  if (scores == Scores::kCentred) {
    sample.subtract_position_max = true;
    sample.baseline.assign(count, 0.125);
  }
  const auto visit = [&](auto& entries) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (scores == Scores::kLarge) entries[i] *= 300;
      if (scores == Scores::kMasked && i % 7 == 3) entries[i] = -1e9;
      if (scores == Scores::kMasked && i % 11 == 5 && labels > 1) entries[i] = -INFINITY;
    }
  };
  visit(sample.emissions.f32);
  visit(sample.emissions.f64);
  return sample;
}

void check(const ModelCase& sample) {
  const auto reference = make_reference_engine(sample.model);
  const ExpectedCase expected = expected_case(*reference, sample);
  for (const EngineOptions& options : cpu_engines()) {
    const auto engine = make_engine(options, sample.model);
    for (const std::string& difference :
         compare_with(expected, *engine, sample, tolerances_of(options.precision)))
      FAIL_CHECK(engine->description() << ": " << difference);
  }
}

}  // namespace

TEST_CASE("K = 1: every label may follow every other") {
  std::uint64_t seed = 400;
  for (const int labels : {1, 2, 3, 4, 5, 8, 9, 10, 12, 15, 16})
    for (const std::int64_t length : {1, 2, 3, 4, 5, 15, 16, 17, 33, 260, 517}) {
      const auto scores = static_cast<Scores>(seed % 4);
      check(hidden_markov_case(length, labels, scores, seed % 3 != 0, seed));
      ++seed;
    }
}

TEST_CASE("K = 1: more labels than registers hold") {
  for (const int labels : {17, 31, 32, 33, 65})
    for (const std::int64_t length : {1, 17, 260})
      check(hidden_markov_case(length, labels, Scores::kMasked, labels % 2 == 0, 455));
}

TEST_CASE("K = 1: several chunks and windows") {
  for (const Scores scores : {Scores::kSmall, Scores::kLarge, Scores::kMasked, Scores::kCentred})
    for (const bool tail : {false, true})
      check(hidden_markov_case(17'001, 5, scores, tail, 460 + static_cast<std::uint64_t>(scores)));
}

TEST_CASE("K = 1: what the pass leaves out is computed as for any other K") {
  for (const bool tail : {false, true}) {
    ModelCase sample = hidden_markov_case(9'001, 4, Scores::kSmall, tail, 470);
    sample.model.transition[1] = kNegativeInfinity;
    check(sample);
    sample.model.transition[1] = -1000;
    check(sample);
    sample = hidden_markov_case(9'001, 4, Scores::kSmall, tail, 471);
    sample.start_scores = sample.end_scores = sample.emissions;
    check(sample);
  }
}

TEST_CASE("K = 1: expected counts") {
  std::uint64_t seed = 480;
  for (const int labels : {1, 3, 8, 10, 17})
    for (const std::int64_t length : {1, 2, 16, 17, 18, 300, 9'001}) {
      for (const bool tail : {false, true})
        check_these_engines(cpu_engines(), hidden_markov_case(length, labels, Scores::kSmall, tail, seed),
                            {.inference = false, .gradient = true});
      ++seed;
    }
}
