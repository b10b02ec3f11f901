// Scores of the sizes that real models have, against the reference: no size of them may send blocks off the
// fast path, and what vanishes beside larger numbers must not be missed later.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "parity/cuda/cuda_checks.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"
#include "support/models/harder.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

void multiply_emissions(ModelCase& sample, double by) {
  for (float& score : sample.emissions.f32) score = static_cast<float>(static_cast<double>(score) * by);
  for (double& score : sample.emissions.f64) score *= by;
  sample.description += " times " + std::to_string(by);
}
double& duration(ModelCase& sample, std::size_t k, std::size_t c) {
  return sample.model.duration_bias[(k - 1) * static_cast<std::size_t>(sample.model.num_labels) + c];
}

// `at_edges`: blocks at either end of the sequence that may be exact.
void check_without_exact_blocks(const ModelCase& sample, int at_edges = 0) {
  check(sample);
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    INFO(sample.description);
    const auto engine = make_cuda(sample.model, precision);
    std::int64_t swept = 0, decoded = 0;
    for (const ChunkReport& chunk : posterior_case(*engine, sample, {0, sample.length}).chunks)
      swept += chunk.fallbacks;
    for (const ChunkReport& chunk : decode_case(*engine, sample, {0, sample.length}).chunks)
      decoded += chunk.fallbacks;
    CHECK(swept <= 2 * at_edges);
    CHECK(decoded <= at_edges);
  }
}

}  // namespace

TEST_CASE("emulated kernels keep scores of any size on the fast path") {
  std::uint64_t seed = 901;
  for (const double size : {3.0, 10.0, 30.0, 100.0, 1000.0}) {
    for (const CaseShape& shape : {CaseShape{150, 24, 6}, {100, 60, 17}, {90, 20, 40}, {300, 9, 3}}) {
      DYNAMIC_SECTION("N(0," << size << "^2), K=" << shape.max_duration << " C=" << shape.num_labels) {
        ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
        multiply_emissions(sample, size);
        check_without_exact_blocks(sample);
      }
      ++seed;
    }
  }
}

// Starts that are nothing beside a newer one of their block are not kept, but where a state is: the states of
// two runs are compared entry by entry, and one that does not agree would be done again.
TEST_CASE("emulated runs of large scores agree where they meet") {
  for (const double size : {10.0, 100.0}) {
    for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails}) {
      ModelCase sample = make_case(kind, {12'000, 20, 3}, 927);
      multiply_emissions(sample, size);
      const auto engine = make_cuda(sample.model, Precision::kFloat);
      const PosteriorCase run = posterior_case(*engine, sample, {0, sample.length});
      CHECK(run.chunks.size() > 1);
      for (const ChunkReport& chunk : run.chunks) CHECK_FALSE(chunk.repaired);
    }
  }
}

// The first label gains 15 per position for 12 of 37 positions, which others get little of, as it is costly
// to leave: its starts there fall behind older ones of their block, and count alone when these are longer ago
// than K.
TEST_CASE("emulated kernels keep starts that fall behind older ones of their block") {
  for (const int longest : {17, 30, 70}) {
    for (const bool tail : {false, true}) {
      ModelCase sample = make_case(CaseKind::kPlain, {260, longest, 2}, 929);
      sample.subtract_position_max = false;
      sample.model.transition = {kNegativeInfinity, -300, 0, 0};
      for (std::size_t t = 20; t < 250; ++t) {
        if (t % 37 < 12) add_to_emission(sample, t, 0, 15);
      }
      if (tail) sample.model.log_tail = {-0.5, -0.05};
      check(sample);
    }
  }
}

TEST_CASE("emulated kernels keep tails of large scores on the fast path") {
  std::uint64_t seed = 931;
  for (const double size : {3.0, 30.0}) {
    for (const int longest : {7, 20, 64, 150}) {
      DYNAMIC_SECTION("N(0," << size << "^2), K=" << longest) {
        ModelCase sample = make_case(CaseKind::kPlain, {350, longest, 4}, seed);
        multiply_emissions(sample, size);
        sample.model.log_tail = {-0.05, -0.5, -1.0, kNegativeInfinity};
        check_without_exact_blocks(sample);
      }
      ++seed;
    }
  }
}

TEST_CASE("emulated kernels take scores of several sizes in one sequence") {
  std::uint64_t seed = 941;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kBoundaryScores, CaseKind::kEverything}) {
    for (const CaseShape& shape : {CaseShape{300, 30, 5}, {250, 100, 3}, {140, 17, 34}}) {
      DYNAMIC_SECTION(name_of(kind) << " K=" << shape.max_duration << " C=" << shape.num_labels) {
        ModelCase sample = make_case(kind, shape, seed);
        std::mt19937_64 random(seed);
        const auto labels = static_cast<std::size_t>(shape.num_labels);
        for (std::size_t t = 0; t < static_cast<std::size_t>(shape.length); ++t) {
          const double by = std::pow(10.0, static_cast<double>(t / 23 % 4) - 1);
          for (std::size_t i = t * labels; i < (t + 1) * labels; ++i) {
            if (!sample.emissions.f32.empty()) sample.emissions.f32[i] *= static_cast<float>(by);
            if (!sample.emissions.f64.empty()) sample.emissions.f64[i] *= by;
          }
        }
        check(sample);
      }
      ++seed;
    }
  }
}

// Two labels that hardly change into each other; the second falls e^-1000 behind and catches up.
TEST_CASE("emulated kernels do not forget a label that is far behind") {
  for (const double crossing : {-30.0, -2000.0, kNegativeInfinity}) {
    for (const int longest : {4, 40}) {
      DYNAMIC_SECTION("crossing " << crossing << " K=" << longest) {
        ModelCase sample = make_case(CaseKind::kPlain, {260, longest, 2}, 951);
        sample.subtract_position_max = false;
        sample.model.transition = {0, crossing, crossing, 0};
        for (std::size_t t = 40; t < 90; ++t) add_to_emission(sample, t, 1, -20);
        for (std::size_t t = 120; t < 200; ++t) add_to_emission(sample, t, 1, 20);
        check(sample);
      }
    }
  }
}

TEST_CASE("emulated kernels take steep durations with large scores") {
  for (const double slope : {-1.0, -5.0, -10.0, 3.0}) {
    for (const double size : {1.0, 30.0}) {
      DYNAMIC_SECTION("slope " << slope << " size " << size) {
        ModelCase sample = make_case(CaseKind::kPlain, {250, 40, 4}, 961);
        multiply_emissions(sample, size);
        for (std::size_t k = 1; k <= 40; ++k)
          for (std::size_t c = 0; c < 4; ++c) duration(sample, k, c) += slope * static_cast<double>(k);
        check(sample);
      }
    }
  }
}

// No segment may be short: forbidden, or a mask. Starts and ends have scores of their own, and the sequence
// ends one position into a block.
TEST_CASE("emulated kernels take shortest durations with boundary scores") {
  struct Shape {
    CaseShape of;
    int shortest;
  };
  std::uint64_t seed = 702;
  for (const Shape& shape : {Shape{{17, 69, 7}, 14},
                             {{17, 14, 1}, 14},
                             {{33, 14, 1}, 14},
                             {{49, 20, 3}, 9},
                             {{257, 60, 2}, 25},
                             {{257, 16, 5}, 16},
                             {{113, 300, 2}, 40},
                             {{65, 2, 33}, 2},
                             {{145, 70, 3}, 33}}) {
    for (const double score : {kNegativeInfinity, -1e4, -1e5, -1e9}) {
      ModelCase sample = make_case(CaseKind::kBoundaryScores, shape.of, seed);
      seed += 100;  // other centrings
      for (std::size_t k = 1; k < static_cast<std::size_t>(shape.shortest); ++k)
        for (std::size_t c = 0; c < static_cast<std::size_t>(shape.of.num_labels); ++c)
          duration(sample, k, c) = score;
      if (shape.of.max_duration == 14) duration(sample, 14, 0) = -2.14;
      DYNAMIC_SECTION(sample.description << " shortest " << shape.shortest << " score " << score) {
        // What passes through larger masks is known to an ulp of the mask, which is more than doubles are
        // held to.
        if (score == -1e4 || score == kNegativeInfinity) {
          check(sample);
        } else {
          expect_none(check_engines(
              {[](const ChainModel& model) { return make_cuda(model, Precision::kFloat); }}, sample));
        }
      }
    }
    seed -= 399;
  }
}

// What is open may not end yet, so that a sum over durations lies far below what it will be: it is done again
// alone.
TEST_CASE("emulated kernels do refused sums again, not their blocks") {
  std::uint64_t seed = 981;
  for (const CaseShape& shape : {CaseShape{300, 60, 10}, {260, 70, 3}, {260, 60, 24}, {180, 40, 34}}) {
    for (const int shortest : {4, 10, 17}) {
      DYNAMIC_SECTION("K=" << shape.max_duration << " C=" << shape.num_labels << " shortest " << shortest) {
        ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
        add_runs(sample, seed);
        forbid_shorter(sample, shortest);
        if (shortest % 2 == 0)
          sample.model.log_tail.assign(static_cast<std::size_t>(shape.num_labels), -0.05);
        // No segment ends near the edges.
        check_without_exact_blocks(sample, shortest / 16 + 2);
      }
      ++seed;
    }
  }
}

TEST_CASE("emulated kernels take shortest durations with everything else") {
  std::uint64_t seed = 1001;
  for (const CaseKind kind : {CaseKind::kBoundaryScores, CaseKind::kEverything}) {
    for (const CaseShape& shape : {CaseShape{200, 40, 6}, {150, 12, 9}, {120, 300, 4}}) {
      for (const double score : {kNegativeInfinity, -300.0}) {
        DYNAMIC_SECTION(name_of(kind) << " K=" << shape.max_duration << " score " << score) {
          ModelCase sample = make_case(kind, shape, seed);
          add_runs(sample, seed);
          forbid_shorter(sample, 10, score);
          check(sample);
        }
        ++seed;
      }
    }
  }
}

TEST_CASE("emulated kernels multiply by 0 at forbidden positions") {
  std::uint64_t seed = 1021;
  for (const CaseShape& shape :
       {CaseShape{300, 60, 10}, {260, 20, 5}, {260, 60, 24}, {180, 40, 34}, {200, 9, 6}}) {
    for (const double probability : {0.002, 0.05}) {
      for (const bool tails : {false, true}) {
        DYNAMIC_SECTION("K=" << shape.max_duration << " C=" << shape.num_labels << " P=" << probability
                             << (tails ? " tails" : "")) {
          ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
          forbid_scores(sample, probability, seed);
          if (tails) sample.model.log_tail.assign(static_cast<std::size_t>(shape.num_labels), -0.05);
          if (tails && shape.max_duration < 16) {
            check(sample);
          } else {
            check_without_exact_blocks(sample);
          }
        }
        ++seed;
      }
    }
  }
}

TEST_CASE("emulated kernels take forbidden positions with everything else") {
  std::uint64_t seed = 1051;
  for (const CaseKind kind : {CaseKind::kBoundaryScores, CaseKind::kEverything}) {
    for (const CaseShape& shape : {CaseShape{200, 40, 6}, {150, 12, 9}, {129, 300, 4}}) {
      for (const double probability : {0.01, 0.2}) {
        DYNAMIC_SECTION(name_of(kind) << " K=" << shape.max_duration << " P=" << probability) {
          ModelCase sample = make_case(kind, shape, seed);
          add_runs(sample, seed);
          forbid_scores(sample, probability, seed);
          forbid_shorter(sample, seed % 3 == 0 ? 8 : 1);
          check(sample);
        }
        ++seed;
      }
    }
  }
}

TEST_CASE("emulated kernels count nothing where no segmentation has a finite score") {
  const ModelCase sample = make_case(CaseKind::kInfeasible, {100, 20, 3}, 971);
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto engine = make_cuda(sample.model, precision);
    ExpectedCounts counts;
    PosteriorArrays out;
    out.counts = &counts;
    engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, out);
    for (const auto* values : {&counts.transition, &counts.duration, &counts.tail})
      CHECK(std::all_of(values->begin(), values->end(), [](double x) { return x == 0; }));
  }
}
