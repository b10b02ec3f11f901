// Cases made so that one check of the fast path alone stands between them and a wrong result: what one check
// lets through, no other refuses. docs/algorithm.md, "The certificate".
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/boundary_state.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"
#include "parity/all_engines.h"
#include "parity/engine_parity.h"
#include "support/catch.h"
#include "support/models/harder.h"
#include "support/models/random_models.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

constexpr double kNever = kNegativeInfinity;

// A case whose scores are all 0 and whose scores can be set one by one.
class PlainCase {
 public:
  PlainCase(std::string description, std::int64_t length, int max_duration, int num_labels)
      : labels_(static_cast<std::size_t>(num_labels)) {
    out_.description = std::move(description);
    out_.length = length;
    out_.model.num_labels = num_labels;
    out_.model.max_duration = max_duration;
    out_.model.transition.assign(labels_ * labels_, 0.0);
    out_.model.duration_bias.assign(static_cast<std::size_t>(max_duration) * labels_, 0.0);
    out_.model.start_scores.assign(labels_, 0.0);
    out_.model.end_scores.assign(labels_, 0.0);
    out_.model.initial = InitialTerm::kNone;
    for (ScoreTable* table : {&out_.emissions, &out_.start_scores, &out_.end_scores})
      table->f64.assign(static_cast<std::size_t>(length) * labels_, 0.0);
  }

  ChainModel& model() { return out_.model; }
  double& transition(std::size_t from, std::size_t to) { return out_.model.transition[from * labels_ + to]; }
  double& duration(std::size_t k, std::size_t label = 0) {
    return out_.model.duration_bias[(k - 1) * labels_ + label];
  }
  double& emission(std::size_t t, std::size_t label = 0) { return out_.emissions.f64[t * labels_ + label]; }
  double& start(std::size_t t, std::size_t label = 0) { return out_.start_scores.f64[t * labels_ + label]; }
  double& end(std::size_t t, std::size_t label = 0) { return out_.end_scores.f64[t * labels_ + label]; }
  const ModelCase& get() const { return out_; }

 private:
  ModelCase out_;
  std::size_t labels_;
};

}  // namespace

// A transition of -93 is zero in the float table; what it is multiplied with grows large inside a block.
TEST_CASE("a transition that vanished in its table is not lost") {
  constexpr std::size_t kLength = 48;
  for (const double gain : {2.0, 3.0}) {
    for (const double start : {-45.0, -30.0, -20.0}) {
      PlainCase sample("vanished transition", kLength, 16, 2);
      sample.model().transition = {0, -93, -20, -5};
      sample.model().start_scores = {0, start};
      sample.model().initial = InitialTerm::kUniform;
      for (std::size_t t = 0; t < kLength; ++t)
        sample.emission(t, 0) = t < 16 ? gain : -std::numeric_limits<double>::infinity();
      check_all_engines(sample.get());
    }
  }
}

// The same of a duration of -93: it is the best way from 20 to 22 because of the start score it is multiplied
// with.
TEST_CASE("a duration that vanished in its table is not lost") {
  PlainCase sample("vanished duration", 48, 2, 1);
  sample.duration(2) = -93;
  sample.start(20) = 60;
  sample.end(20) = -75;
  sample.start(21) = -40;
  check_all_engines(sample.get());
}

// Label 1 is e^-50 below label 0 when an end score takes e^-60 more: below the smallest float, and best at
// the end.
TEST_CASE("an alpha below the range of float is not lost") {
  PlainCase sample("small alpha", 64, 1, 2);
  sample.transition(0, 1) = sample.transition(1, 0) = kNever;
  for (std::size_t t = 0; t < 16; ++t) sample.emission(t, 1) = -50.0 / 16;
  sample.end(31, 1) = -60;
  for (std::size_t t = 32; t < 64; ++t) sample.emission(t, 1) = 111.0 / 32;
  check_all_engines(sample.get());
}

// Entering the tail costs e^-100, starting anew e^-20 every 15 positions: the tail is nothing at first and
// wins later, when no start that could still enter it is left.
TEST_CASE("a tail below the range of float is not lost") {
  PlainCase sample("small tail", 256, 16, 1);
  sample.duration(16) = -100;
  sample.model().log_tail = {-0.01};
  for (std::size_t t = 64; t < 256; ++t) sample.start(t) = -20;
  check_all_engines(sample.get());
}

// The factors e^-65 and e^-30 by which the sum of label 1 becomes alpha vanish together, but the sum is e^50.
TEST_CASE("two small factors of a large sum do not vanish") {
  PlainCase sample("small factors", 64, 1, 3);
  sample.model().transition = {0, -30, -48, kNever, kNever, 0, kNever, kNever, 0};
  sample.model().start_scores = {0, -60, -60};
  for (std::size_t t = 0; t < 64; ++t) sample.end(t, 1) = -65;
  sample.start(20, 1) = 50;
  for (std::size_t t = 32; t < 64; ++t) sample.emission(t, 2) = 3;
  check_all_engines(sample.get());
}

// The gamma at 25 is e^-90 of the one at 20 in its block, and the only good way to the end.
TEST_CASE("a gamma that vanishes beside a larger one is not lost") {
  PlainCase sample("small gamma", 45, 20, 1);
  for (std::size_t k = 2; k < 20; ++k) sample.duration(k) = kNever;
  sample.start(20) = 60;
  sample.end(20) = sample.end(39) = -60;
  sample.start(25) = -30;
  sample.end(25) = 30;
  sample.start(44) = -75;
  check_all_engines(sample.get());
}

// Label 2 follows only label 1, which lies e^-1000 below label 0: below the range of double, too.
TEST_CASE("a label entered only from e^-1000 is not lost") {
  PlainCase sample("rarest source", 64, 4, 3);
  sample.model().transition = {0, kNever, kNever, kNever, 0, 0, kNever, kNever, 0};
  sample.model().start_scores = {0, 0, kNever};
  sample.emission(10, 1) = -1000;
  for (std::size_t t = 0; t < 12; ++t) sample.emission(t, 2) = -5000;
  for (std::size_t t = 20; t < 40; ++t) sample.emission(t, 2) = 60;
  check_all_engines(sample.get());
}

// Every start left of the anchor at 512 costs e^-100, so the factors of all segments that cross it vanish.
TEST_CASE("an anchor whose segments have tiny factors is not trusted") {
  PlainCase sample("anchor of small starts", 600, 8, 1);
  for (std::size_t t = 496; t < 512; ++t) sample.start(t) = -100;
  check_all_engines(sample.get());
}

// With K = 85 an anchor would lie 64 positions right of the second chunk's left edge: segments that cross it
// may begin left of the chunk.
TEST_CASE("anchors that the chunk does not hold are not used") {
  ModelCase sample = make_case(CaseKind::kPlain, {17'000, 85, 2}, 701);
  for (std::size_t k = 1; k < 70; ++k)
    for (std::size_t c = 0; c < 2; ++c) sample.model.duration_bias[(k - 1) * 2 + c] -= 30;
  check_all_engines(sample);
}

// A chain that goes round and never forgets where it began: neither a chunk nor its right half reaches the
// truth by warming up. The score at the end tells whether the halves were put on one scale.
TEST_CASE("K = 1: halves of a chunk that cannot be joined are run again") {
  constexpr std::size_t kLabels = 3;
  for (const bool forgets : {false, true}) {
    PlainCase sample(forgets ? "a chain with a best label" : "a chain that goes round", 30'000, 1, kLabels);
    for (std::size_t from = 0; from < kLabels; ++from)
      for (std::size_t to = 0; to < kLabels; ++to)
        sample.transition(from, to) = to == (from + 1) % kLabels ? 0.5 : forgets ? 0.25 : kNever;
    sample.emission(0, 1) = 1;
    for (std::size_t t = 0; t < 30'000; ++t) sample.emission(t, t % kLabels) += t % 7 == 0 ? 0.125 : 0.0;

    const DecodedCase expected =
        decode_case(*make_reference_engine(sample.get().model), sample.get(), {0, 30'000});
    for (const EngineOptions& options : cpu_engines()) {
      const auto engine = make_engine(options, sample.get().model);
      INFO(engine->description() << ", " << sample.get().description);
      for (const std::int64_t chunks : {0, 1, 2}) {
        const DecodedCase decoded = decode_case(*engine, sample.get(), window_edges(*engine, 30'000, chunks));
        CHECK(decoded.score == expected.score);
        CHECK(decoded.path == expected.path);
        CHECK(std::any_of(decoded.chunks.begin(), decoded.chunks.end(),
                          [](const ChunkReport& chunk) { return chunk.repaired; }) == !forgets);
      }
    }
  }
}

// Of sequences that one engine computes one after the other each has a mean of its own, though the second may
// lie where the first one did.
TEST_CASE("K = 1: another sequence in the same memory is centred by its own mean") {
  constexpr std::size_t kLength = 300;
  ModelCase sample = make_case(CaseKind::kPlain, {kLength, 1, 3}, 731);
  for (const EngineOptions& options : cpu_engines()) {
    const auto engine = make_engine(options, sample.model);
    INFO(engine->description());
    for (const double shift : {0.0, 1.5, -2.0}) {
      sample.baseline.assign(3, 0.25);
      sample.baseline[1] += shift;
      const DecodedCase expected = decode_case(*make_reference_engine(sample.model), sample, {0, kLength});
      const DecodedCase decoded = decode_case(*engine, sample, {0, kLength});
      CHECK(decoded.path == expected.path);
    }
  }
}

// Leaving the table costs 1 per position and a segment below K costs 6, so paths follow tails, and where they
// begin is often a tie.
TEST_CASE("ties with tails go to the shortest") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const int longest = 3 + static_cast<int>(seed % 4);
    ModelCase sample = make_case(CaseKind::kTies, {300, longest, 2}, 710 + seed);
    REQUIRE(sample.exact_sums);
    sample.model.log_tail = {-1.0, seed % 2 == 0 ? -1.0 : kNever};
    sample.model.duration_bias.assign(sample.model.duration_bias.size(), -6.0);
    std::fill(sample.model.duration_bias.end() - 2, sample.model.duration_bias.end(), 0.0);
    check_all_engines(sample);
  }
}

TEST_CASE("models that forget are not repaired") {
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kTails}) {
    for (const EngineOptions& options : fast_engines()) {
      const CaseShape small{20, 24, 5};
      const std::int64_t chunk = make_engine(options, make_case(kind, small, 720).model)->info().grid.chunk;
      // A device cuts a short window into runs that warm up as chunks do.
      const bool device = options.backend == EngineOptions::Backend::kCuda;
      const ModelCase sample = make_case(kind, {device ? 700 : 4 * chunk, 24, 5}, 720);
      const auto engine = make_engine(options, sample.model);
      INFO(engine->description() << ", " << sample.description);
      for (const ChunkReport& report : decode_case(*engine, sample, {0, sample.length}).chunks)
        CHECK_FALSE(report.repaired);
      for (const ChunkReport& report : posterior_case(*engine, sample, {0, sample.length}).chunks)
        CHECK_FALSE(report.repaired);
    }
  }
}

// A first segment whose start was cut off is in a label of its own, which nothing leads into: its message is
// known from the sequence's edge alone, and differs from a warmed-up one wherever there is a tail. The last
// segment likewise, backward.
TEST_CASE("a piece that was cut is not repaired where its model forgets") {
  const auto check = [](const EngineOptions& options, std::int64_t length, const ModelCase& base) {
    const EdgeRoles roles(base.model, {true, true});
    ModelCase sample;
    sample.description = base.description + ", cut";
    sample.model = roles.chain();
    sample.length = length;
    for (std::int64_t i = 0; i < length * sample.model.num_labels; ++i)
      sample.emissions.f64.push_back(base.emissions.at(static_cast<std::size_t>(i / roles.count())));
    const auto engine = make_engine(options, sample.model);
    const auto reference =
        make_engine(engine_options(EngineOptions::Backend::kReference, Precision::kDouble), sample.model);
    INFO(engine->description() << ", " << sample.description);
    const auto decoded = decode_case(*engine, sample, {0, length}),
               best = decode_case(*reference, sample, {0, length});
    const auto found = posterior_case(*engine, sample, {0, length}),
               truth = posterior_case(*reference, sample, {0, length});
    for (const ChunkReport& report : decoded.chunks) CHECK_FALSE(report.repaired);
    for (const ChunkReport& report : found.chunks) CHECK_FALSE(report.repaired);
    const double tolerance = options.precision == Precision::kFloat ? 1e-4 : 1e-9;
    CHECK(decoded.score == Approx(best.score).epsilon(tolerance * 1e-3));
    CHECK(found.log_partition == Approx(truth.log_partition).epsilon(tolerance * 1e-3));
    double largest = 0;
    for (std::size_t i = 0; i < truth.labels.size(); ++i)
      largest = std::max(largest, std::fabs(found.labels[i] - truth.labels[i]));
    CHECK(largest < tolerance);
  };
  for (const EngineOptions& options : fast_engines()) {
    const bool device = options.backend == EngineOptions::Backend::kCuda;
    const std::int64_t length =
        device ? 1500
               : 3 * make_engine(options, make_case(CaseKind::kTails, {20, 24, 2}, 740).model)
                         ->info()
                         .grid.chunk;
    check(options, length, make_case(CaseKind::kTails, {length, 24, 2}, 740));
  }
}

TEST_CASE("a label beside its twin counts until it is nothing") {
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 1;
  model.transition = {0, kNever, 0, kNever};  // into label 0 alone
  model.twin = {-1, 0};
  const std::vector<int> twins = edge_twins(model, Direction::kForward);
  CHECK(twins == std::vector<int>{-1, 0});
  CHECK(edge_twins(model, Direction::kBackward).empty());
  BoundaryState truth;
  truth.ring = {-1, kNever};
  truth.message = {0, -1000};
  truth.tail = {-1, -2000};
  BoundaryState warmed = truth;
  warmed.message[1] = -300;
  warmed.tail[1] = kNever;
  CHECK_FALSE(agreement(truth, warmed, 1e-6, Precision::kFloat));
  CHECK(agreement(truth, warmed, 1e-6, Precision::kFloat, twins));
  for (const auto part : {&BoundaryState::message, &BoundaryState::tail}) {
    BoundaryState near = warmed, true_near = truth, other = warmed;
    (near.*part)[1] = (near.*part)[0] - 10;  // e^-10 of its twin: it may matter
    CHECK_FALSE(agreement(truth, near, 1e-6, Precision::kFloat, twins));
    (true_near.*part)[1] = (true_near.*part)[0] - 10;
    CHECK_FALSE(agreement(true_near, warmed, 1e-6, Precision::kFloat, twins));
    (other.*part)[0] += 0.01;  // the twin itself is judged
    CHECK_FALSE(agreement(truth, other, 1e-6, Precision::kFloat, twins));
  }
  warmed.ring[1] = -1000;  // starts are judged, too
  CHECK_FALSE(agreement(truth, warmed, 1e-6, Precision::kFloat, twins));
}

TEST_CASE("states agree only when all their parts do") {
  BoundaryState truth;
  truth.ring = {0, -1, -2, kNever};
  truth.message = {-3, -4};
  truth.tail = {-5, kNever};
  truth.whole = 7;
  BoundaryState shifted = truth;
  shifted.offset = 2;
  for (auto* values : {&shifted.ring, &shifted.message, &shifted.tail})
    for (double& value : *values) value -= 0.5;
  const auto shift = agreement(truth, shifted, 1e-6, Precision::kFloat);
  REQUIRE(shift);
  CHECK(*shift == Approx(-1.5));
  for (const double change : {0.01, kNever}) {
    BoundaryState ring = shifted, message = shifted, tail = shifted;
    ring.ring[1] += change;
    message.message[1] += change;
    tail.tail[0] += change;
    for (const BoundaryState* other : {&ring, &message, &tail}) {
      CHECK_FALSE(agreement(truth, *other, 1e-6, Precision::kFloat));
      CHECK_FALSE(agreement(*other, truth, 1e-6, Precision::kFloat));
    }
  }
}

// A minimum duration: the newest starts of an unlikely label outweigh by far those that segments may join.
TEST_CASE("sums far below what is open and may not end yet are not lost") {
  std::uint64_t seed = 1101;
  for (const CaseShape& shape : {CaseShape{180, 40, 5}, {130, 24, 18}, {150, 9, 3}}) {
    for (const int shortest : {5, 9, 20}) {
      if (shortest > shape.max_duration) continue;
      for (const double score : {kNever, -200.0, -1e5}) {
        ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
        add_runs(sample, seed);
        forbid_shorter(sample, shortest, score);
        if (seed % 2 == 0) sample.model.log_tail.assign(static_cast<std::size_t>(shape.num_labels), -0.1);
        ++seed;
        check_all_engines(sample);
      }
    }
  }
}

// Durations of every third position only, and none between 12 and 30.
TEST_CASE("sums over durations with gaps are not lost") {
  std::uint64_t seed = 1131;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kBoundaryScores}) {
    for (const double gap : {13.0, 40.0}) {
      ModelCase sample = make_case(kind, {170, 45, 4}, seed);
      add_runs(sample, seed, gap);
      ++seed;
      for (std::size_t k = 1; k <= 45; ++k)
        for (std::size_t c = 0; c < 4; ++c)
          if (k % 3 != 0 || (k > 12 && k < 30)) sample.model.duration_bias[(k - 1) * 4 + c] = kNever;
      check_all_engines(sample);
    }
  }
}

TEST_CASE("forbidden positions beside shortest durations are not joined over") {
  std::uint64_t seed = 1141;
  for (const CaseShape& shape : {CaseShape{170, 40, 5}, {130, 12, 18}}) {
    for (const double probability : {0.01, 0.1}) {
      ModelCase sample = make_case(CaseKind::kPlain, shape, seed);
      add_runs(sample, seed);
      forbid_scores(sample, probability, seed);
      forbid_shorter(sample, 4);
      ++seed;
      check_all_engines(sample);
    }
  }
}
