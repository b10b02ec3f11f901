// The kernels as fibers on the host against the reference engine: their arithmetic, indexing and
// synchronisation, on any machine. What only a device can show (races, speed) is left to test_gpu.
#include <algorithm>
#include <array>
#include <string>

#include "cuda/viterbi/trace_shape.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/cuda/device_models.h"
#include "parity/cuda/head_cases.h"
#include "parity/cuda/make_spread.h"
#include "parity/cuda/prefetch_cases.h"
#include "parity/cuda/projection_cases.h"
#include "parity/cuda/window_cases.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

TEST_CASE("emulated kernels equal the reference over tiles") {
  std::uint64_t seed = 1;
  for (const CaseShape& shape : tile_shapes(12, 11)) {
    check(make_case(seed % 2 == 0 ? CaseKind::kPlain : CaseKind::kEverything, shape, seed));
    ++seed;
  }
}

// Short sequences are cut into runs of 64 positions that warm up for 256; only the end fixes the phase of the
// second kind, so that its runs are repaired. Windows need whole chunks of the grid: they are left to
// test_gpu.
TEST_CASE("emulated kernels equal the reference over runs that warm up") {
  check(make_case(CaseKind::kTails, {700, 3, 2}, 301));
  check(make_case(CaseKind::kPeriodicLate, {700, 3, 3}, 301));
}

// K = 100: runs of 512 positions, where units are 208.
TEST_CASE("emulated kernels equal the reference over runs that are no whole units") {
  check(make_case(CaseKind::kEverything, {2300, 100, 2}, 302));
  check_counts(make_case(CaseKind::kTails, {2300, 100, 3}, 303));
}

// Where a warp or a block of threads has one chunk, blocks with boundary scores have a loop of their own.
TEST_CASE("emulated kernels take boundary scores where a chunk has a warp or a block to itself") {
  std::uint64_t seed = 311;
  for (const CaseKind kind : {CaseKind::kBoundaryScores, CaseKind::kEverything}) {
    for (const CaseShape& shape : {CaseShape{333, 20, 19}, {333, 40, 32}, {500, 300, 7}}) {
      for (int i = 0; i < 4; ++i) check(make_case(kind, shape, seed++));
    }
  }
}

// Shorter than K, of one position, around whole blocks; of several runs, some of them repaired.
TEST_CASE("emulated kernels give several sequences at once the digits they have one by one") {
  const std::vector<std::int64_t> lengths{100, 1, 7, 16, 17, 1, 350, 33, 64, 5, 300};
  for (const CaseKind kind :
       {CaseKind::kEverything, CaseKind::kTails, CaseKind::kBoundaryScores, CaseKind::kMasks,
        CaseKind::kForbiddenPositions, CaseKind::kPeriodicLate, CaseKind::kInfeasible}) {
    DYNAMIC_SECTION(name_of(kind)) {
      check_together(make_case(kind, {900, 20, 3}, 801 + static_cast<std::uint64_t>(kind)), lengths);
    }
  }
}

// A window of one chunk, and one of two parts whose junction does not agree.
TEST_CASE("emulated kernels give windows over several devices the digits of one") {
  const ModelCase sample = silent_case(2 * 8192 + 700, std::int64_t{2} * 8192, 822);
  expect_none(check_spread(make_cuda, make_spread, sample, {Precision::kFloat}));
}

// Many labels; runs that are repaired; more blocks exact than a store has room for at first.
TEST_CASE("emulated kernels give several sequences at once their digits after a second look") {
  check_together(make_case(CaseKind::kPlain, {120, 30, 39}, 803), {40, 31, 1, 48});
  check_together(make_case(CaseKind::kPeriodicLate, {1900, 3, 3}, 804), {700, 400, 600});
  check_together(make_case(CaseKind::kWildDurations, {1200, 3, 2}, 805), {590, 3, 600});
  // Marks at different distances.
  check_together(make_case(CaseKind::kTails, {9000, 150, 2}, 806), {400, 5300, 1300, 2000},
                 {Precision::kFloat});
}

// Around whole blocks and around K; of several runs and of several pieces; sequences without a path between
// others.
TEST_CASE("emulated kernels give the paths of several sequences at once as one by one") {
  const std::vector<std::int64_t> lengths{100, 1, 2, 15, 16, 17, 19, 20, 21, 350, 33, 1, 64, 5, 300};
  for (const CaseKind kind :
       {CaseKind::kEverything, CaseKind::kTails, CaseKind::kBoundaryScores, CaseKind::kMinimumDurations,
        CaseKind::kForbiddenPositions, CaseKind::kMasks, CaseKind::kPeriodicEndScores, CaseKind::kInfeasible,
        CaseKind::kTies, CaseKind::kDyadic}) {
    DYNAMIC_SECTION(name_of(kind)) {
      const ModelCase sample = make_case(kind, {970, 20, 3}, 821 + static_cast<std::uint64_t>(kind));
      check_paths_together(sample, lengths, kind != CaseKind::kInfeasible);
    }
  }
}

TEST_CASE("emulated kernels give the paths of several sequences at once for any number of labels") {
  const std::vector<std::int64_t> lengths{17, 1, 40, 29, 30, 31, 2, 16, 130};
  for (const int labels : {1, 2, 5, 24, 33}) {
    for (const CaseKind kind : {CaseKind::kDyadic, CaseKind::kEverything}) {
      const auto seed = 841 + static_cast<std::uint64_t>(labels);
      check_paths_together(make_case(kind, {300, 30, labels}, seed), lengths, labels == 5);
    }
  }
}

// Runs that are repaired, exact blocks, segments and tails over many blocks, paths in several batches of
// pieces.
TEST_CASE("emulated kernels give the paths of several long sequences at once as one by one") {
  check_paths_together(make_case(CaseKind::kPeriodicLate, {1900, 3, 3}, 851), {700, 400, 600});
  check_paths_together(make_case(CaseKind::kWildDurations, {1200, 3, 2}, 852), {590, 3, 600});
  check_paths_together(make_case(CaseKind::kTails, {1700, 150, 2}, 853), {400, 700, 7, 500});
  check_paths_together(long_segments_case({1700, 100, 3}, 854), {600, 3, 500, 150, 400});
  std::vector<std::int64_t> many(120, 300);
  check_paths_together(make_case(CaseKind::kDyadic, {36'000, 2, 2}, 855), many, true, {Precision::kFloat});
}

TEST_CASE("emulated kernels repair several runs at a time") {
  for (const std::size_t real_bytes : {sizeof(float), sizeof(double)})
    check(late_repair_case(real_bytes, 302));
}

// Intervals of 2K positions: counts join blocks that are far apart, cross marks, and where durations are
// steep or forbidden their factors leave the range of the numbers.
TEST_CASE("emulated kernels count segments over many blocks and across marks") {
  for (const CaseKind kind : {CaseKind::kTails, CaseKind::kMinimumDurations, CaseKind::kWildDurations,
                              CaseKind::kMasks, CaseKind::kBoundaryScores}) {
    DYNAMIC_SECTION(name_of(kind)) { check_counts(make_case(kind, {700, 150, 2}, 351)); }
  }
}

// More than eight, whose threads are neighbours, and some of the next eight.
TEST_CASE("emulated kernels count segments of many intervals") {
  check_counts(make_case(CaseKind::kPlain, {12000, 20, 3}, 354));
}

// A last block that is whole, with nothing but the end's score on it.
TEST_CASE("emulated kernels count segments up to an end between two blocks") {
  ModelCase sample = make_case(CaseKind::kBoundaryScores, {64, 9, 3}, 355);
  sample.start_scores = sample.end_scores = {};
  check_counts(sample);
}

// Many blocks of this one are exact in one direction only.
TEST_CASE("emulated posteriors do not drift along an interval of 1200 positions") {
  const ModelCase sample = make_case(CaseKind::kTails, {2400, 600, 3}, 6);
  const auto engine = make_cuda_engine(sample.model, Precision::kFloat, {});
  for (const ChunkReport& chunk : posterior_case(*engine, sample, {0, sample.length}).chunks)
    CHECK(chunk.max_normalization_error < 5e-6);
}

TEST_CASE("emulated kernels count long segments, tails and what numbers would lose") {
  check_counts(make_case(CaseKind::kEverything, {150, 33, 35}, 352));
  check_counts(long_segments_case({1300, 300, 2}, 353));
  check_counts(opposed_blocks_case(700, 361));
}

// With so many labels alpha grows so much along a block that starts of its two ends do not fit into one range
// of numbers.
TEST_CASE("emulated kernels keep the logarithms of starts that vanish as numbers") {
  check(make_case(CaseKind::kPlain, {150, 40, 60}, 900));
}

// Long rings: warps that sum up parts of it ahead of the recursion. The second kind moves the ring to another
// gauge under their hands.
TEST_CASE("emulated kernels equal the reference with helpers") {
  check(make_case(CaseKind::kPlain, {400, 150, 33}, 351));
  check(make_case(CaseKind::kMasks, {400, 200, 5}, 352));
  check(make_case(CaseKind::kTails, {1700, 150, 3}, 353));
}

TEST_CASE("emulated kernels keep tails far below their label on the fast path") {
  const ModelCase sample = sinking_tails_case({2000, 120, 3}, 371);
  check(sample);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  CHECK(exact_blocks(*engine, sample) <= 10);  // of 375
}

// With so many labels alpha grows by e^80 and more along a block.
TEST_CASE("emulated kernels keep alphas that grow on the fast path") {
  ModelCase sample = make_case(CaseKind::kPlain, {100, 30, 39}, 374);
  for (double& score : sample.model.transition) score += 1;
  check(sample);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  CHECK(exact_blocks(*engine, sample) == 0);
}

TEST_CASE("emulated states have 0 for their largest entry") {
  const ModelCase sample = make_case(CaseKind::kTails, {700, 150, 3}, 375);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  const BoundaryState state = engine->viterbi(sample.whole(), {0, sample.length}, nullptr, false).right;
  CHECK(*std::max_element(state.message.begin(), state.message.end()) <= 0);
  double largest = kNegativeInfinity;
  for (const auto* entries : {&state.ring, &state.message, &state.tail})
    for (const double entry : *entries) largest = std::max(largest, entry);
  CHECK(largest == 0);
}

TEST_CASE("emulated kernels keep blocks at the ends of a sequence on the fast path") {
  for (const std::int64_t length : {5, 16, 300}) {
    for (const InitialTerm initial : {InitialTerm::kUniform, InitialTerm::kNone}) {
      ModelCase sample = make_case(CaseKind::kPlain, {length, 30, 5}, 372);
      sample.model.initial = initial;
      INFO("T=" << length << " initial=" << static_cast<int>(initial));
      check(sample);
      const auto engine = make_cuda(sample.model, Precision::kFloat);
      CHECK(exact_blocks(*engine, sample) == 0);
    }
  }
}

TEST_CASE("emulated kernels make the scores of linear heads as the host does") {
  expect_none(check_projection(make_cuda));
}

TEST_CASE("emulated kernels take features of sequences and add them up as the host does") {
  expect_none(check_heads(make_cuda, {Precision::kFloat}));
}

TEST_CASE("emulated kernels check scores and add them up as the host does") {
  expect_none(check_prefetch(make_cuda));
}

// More pieces of a path than one batch has.
TEST_CASE("emulated tracebacks in batches equal the reference") {
  const ModelCase sample = make_case(CaseKind::kDyadic, {35'000, 2, 2}, 411);
  const std::vector<std::int64_t> whole{0, sample.length};
  const auto engine = make_cuda_engine(sample.model, Precision::kFloat, {});
  CHECK((decode_case(*engine, sample, whole).path ==
         decode_case(*make_reference_engine(sample.model), sample, whole).path));
}

TEST_CASE("emulated tracebacks follow segments over many pieces") {
  expect_none(check_long_segments_path(make_cuda));
}

TEST_CASE("emulated tracebacks follow segments of any length") {
  // The first one is longer than a record has room for.
  expect_none(check_path_of_lengths(make_cuda, std::array<std::int64_t, 4>{cuda::kLongLength, 3, 1, 2},
                                    {Precision::kFloat}));
}

TEST_CASE("emulated edges of windows have the path of the window") {
  expect_none(check_joined_windows(make_cuda));
}
