// The CUDA engine on a device against the reference engine. Without one every case says so and is skipped.
#include <array>
#include <cstdint>
#include <iostream>
#include <string>

#include "core/threads/parallel.h"
#include "cuda/engine/cuda_engine.h"
#include "cuda/viterbi/trace_shape.h"
#include "engine/batch.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/cuda/device_models.h"
#include "parity/cuda/head_cases.h"
#include "parity/cuda/make_spread.h"
#include "parity/cuda/prefetch_cases.h"
#include "parity/cuda/projection_cases.h"
#include "parity/cuda/small_grid.h"
#include "parity/cuda/window_cases.h"
#include "parity/cut_edge_cases.h"
#include "parity/engine_parity.h"
#include "reference/reference_engine.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

bool has_gpu() {
  const std::string obstacle = cuda_obstacle();
  if (!obstacle.empty()) std::cout << "skipped: no GPU: " << obstacle << std::endl;
  return obstacle.empty();
}

}  // namespace

TEST_CASE("the cuda engine equals the reference over tiles") {
  if (!has_gpu()) return;
  std::uint64_t seed = 1;
  for (const CaseShape& shape : tile_shapes(96, 12)) {
    check(make_case(seed % 2 == 0 ? CaseKind::kPlain : CaseKind::kEverything, shape, seed));
    ++seed;
  }
}

TEST_CASE("the cuda engine equals the reference on every kind of model") {
  if (!has_gpu()) return;
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      std::uint64_t seed = 100;
      for (const CaseShape& shape : tile_shapes(4, 30 + static_cast<std::uint64_t>(kind)))
        check(make_case(kind, shape, seed++));
      check(make_case(kind, {6, 4, 3}, 200));
      check(make_case(kind, {700, 24, 6}, 201));
    }
  }
}

TEST_CASE("the cuda engine equals the reference over chunks and windows") {
  if (!has_gpu()) return;
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kMasks, CaseKind::kDyadic, CaseKind::kPeriodic,
                              CaseKind::kPeriodicLate, CaseKind::kPeriodicEndScores, CaseKind::kRareSource}) {
    DYNAMIC_SECTION(name_of(kind)) { check(make_case(kind, {3 * 8192 + 37, 5, 4}, 301)); }
  }
}

// A window of one chunk, and one of three parts; junctions that agree, and one that does not.
TEST_CASE("the cuda engine and its likes give windows over several devices the digits of one") {
  if (!has_gpu()) return;
  const std::int64_t length = 3 * 8192 + 700;
  for (const ModelCase& sample :
       {make_case(CaseKind::kTails, {length, 3, 3}, 821), silent_case(length, std::int64_t{2} * 8192, 822)}) {
    expect_none(check_spread(make_cuda, make_spread, sample));
  }
}

TEST_CASE("edges of windows of the cuda engine have the path of the window") {
  if (!has_gpu()) return;
  expect_none(check_joined_windows(make_cuda));
  expect_none(check_long_segments_path(make_cuda));
  // Some that a record of the traceback has no room for, and some that it just has.
  expect_none(check_path_of_lengths(
      make_cuda, std::array<std::int64_t, 6>{70'000, cuda::kLongLength, 3, 1, cuda::kLongLength - 1, 2}));
}

// Hundreds of pieces of a path at a time, long and short segments, in batches.
TEST_CASE("the cuda engine follows long paths as the reference does") {
  if (!has_gpu()) return;
  for (const CaseShape& shape :
       {CaseShape{200000, 3, 2}, CaseShape{150000, 60, 5}, CaseShape{150000, 20, 40}}) {
    const ModelCase sample = make_case(CaseKind::kDyadic, shape, 821);
    const std::vector<std::int64_t> whole{0, sample.length};
    const DecodedCase expected = decode_case(*make_reference_engine(sample.model), sample, whole);
    CHECK((decode_case(*make_cuda_engine(sample.model, Precision::kFloat, {}), sample, whole).path ==
           expected.path));
  }
}

TEST_CASE("the cuda engine takes many labels and long durations") {
  if (!has_gpu()) return;
  for (const CaseShape& shape :
       {CaseShape{100, 10, 64}, CaseShape{70, 5, 256}, CaseShape{700, 1000, 6}, CaseShape{500, 400, 24},
        CaseShape{300, 30000, 3}, CaseShape{600, 390, 8}, CaseShape{150, 40, 60},
        // Whose ring has no room in shared memory.
        CaseShape{400, 1024, 64}, CaseShape{300, 3000, 20}, CaseShape{300, 9000, 10}}) {
    check(make_case(CaseKind::kPlain, shape, 501));
    check(make_case(CaseKind::kEverything, shape, 502));
  }
}

TEST_CASE("the cuda engine counts segments over many blocks and across marks") {
  if (!has_gpu()) return;
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) { check(make_case(kind, {1400, 300, 3}, 551)); }
  }
}

TEST_CASE("the cuda engine counts long segments, tails and what numbers would lose") {
  if (!has_gpu()) return;
  check_counts(make_case(CaseKind::kTails, {7000, 3000, 2}, 552));
  check_counts(long_segments_case({7000, 1000, 3}, 553));
  check(opposed_blocks_case(5000, 554));
}

TEST_CASE("the cuda engine gives several sequences at once the digits they have one by one") {
  if (!has_gpu()) return;
  const std::vector<std::int64_t> lengths{100, 1, 7, 16, 17, 3000, 1, 350, 33, 64, 5, 9000, 300};
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      check_together(make_case(kind, {13000, 20, 3}, 801 + static_cast<std::uint64_t>(kind)), lengths);
    }
  }
  SECTION("many labels, long durations") {
    check_together(make_case(CaseKind::kPlain, {9600, 30, 39}, 901), std::vector<std::int64_t>(32, 300));
    check_together(make_case(CaseKind::kEverything, {20000, 600, 6}, 902), {5000, 5000, 1, 9000, 900});
  }
}

TEST_CASE("the cuda engine gives the paths of several sequences at once as one by one") {
  if (!has_gpu()) return;
  const std::vector<std::int64_t> lengths{100, 1, 2, 15, 16, 17, 19, 20, 21, 3000, 1, 64, 9000, 5, 300};
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      const ModelCase sample = make_case(kind, {13000, 20, 3}, 821 + static_cast<std::uint64_t>(kind));
      check_paths_together(sample, lengths);
      check_paths_together(sample, lengths, true);
    }
  }
  SECTION("many labels, long durations, many sequences") {
    for (const int labels : {1, 2, 5, 24, 33, 64})
      check_paths_together(make_case(CaseKind::kEverything, {1000, 30, labels}, 841),
                           {17, 1, 40, 31, 2, 800});
    check_paths_together(long_segments_case({20000, 600, 6}, 842), {5000, 5000, 1, 9000, 900});
    check_paths_together(make_case(CaseKind::kDyadic, {600000, 50, 5}, 843),
                         std::vector<std::int64_t>(600, 1000), true);
  }
}

TEST_CASE("the cuda engine gives the same digits again") {
  if (!has_gpu()) return;
  const ModelCase sample = make_case(CaseKind::kEverything, {40000, 40, 5}, 601);
  const auto engine = make_cuda_engine(sample.model, Precision::kFloat, {});
  const PosteriorCase first = posterior_case(*engine, sample, {0, sample.length});
  const DecodedCase path = decode_case(*engine, sample, {0, sample.length});
  for (int again = 0; again < 3; ++again) {
    const PosteriorCase other = posterior_case(*engine, sample, {0, sample.length});
    CHECK(other.log_partition == first.log_partition);
    CHECK((other.labels == first.labels));
    CHECK((other.starts == first.starts));
    CHECK((decode_case(*engine, sample, {0, sample.length}).path == path.path));
  }
}

TEST_CASE("the cuda engine makes the scores of linear heads as the host does") {
  if (!has_gpu()) return;
  expect_none(check_projection(make_cuda));
}

TEST_CASE("the cuda engine takes features of sequences and adds them up as the host does") {
  if (!has_gpu()) return;
  expect_none(check_heads(make_cuda));
}

TEST_CASE("the cuda engine checks scores and adds them up as the host does") {
  if (!has_gpu()) return;
  expect_none(check_prefetch(make_cuda));
}

TEST_CASE("the cuda engine repairs several runs at a time") {
  if (!has_gpu()) return;
  for (const std::size_t real_bytes : {sizeof(float), sizeof(double)})
    check(late_repair_case(real_bytes, 302));
}

TEST_CASE("the cuda engine repairs runs side by side where messages are forgotten slowly") {
  if (!has_gpu()) return;
  check(slow_case(40'000, -0.05, 303));
  expect_none(check_spread(make_cuda, make_spread, slow_case(40'000, -0.02, 304)));
}

TEST_CASE("the cuda engine knows cut edges") {
  if (!has_gpu()) return;
  std::vector<MakeOne> engines;
  for (const Precision precision : kBothPrecisions)
    engines.push_back([precision](const ChainModel& model) { return make_cuda(model, precision); });
  std::uint64_t seed = 9000;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape& shape :
         {CaseShape{5, 3, 2}, {17, 40, 2}, {100, 33, 4}, {257, 32, 3}, {300, 100, 33}, {1500, 20, 5}})
      check_cut_edges(engines, make_case(kind, shape, ++seed));
  check_cut_batches(engines, 9500);
}

// Their kernels are the same, but want other amounts of shared memory.
TEST_CASE("engines of different models work side by side") {
  if (!has_gpu()) return;
  constexpr std::size_t kEngines = 6;
  std::vector<ModelCase> samples;
  std::vector<double> alone, together(kEngines * 20);
  for (std::size_t i = 0; i < kEngines; ++i) {
    samples.push_back(make_case(CaseKind::kPlain, {3000, 600 + 150 * static_cast<int>(i), 8}, 40 + i));
    const ScoreWindow window = samples.back().whole();
    alone.push_back(make_cuda(samples.back().model, Precision::kFloat)
                        ->batches()
                        .log_partitions({&window, 1})
                        .front()
                        .log_partition);
  }
  parallel_for(static_cast<int>(kEngines), together.size(), [&](std::size_t i, int) {
    const ModelCase& sample = samples[i % kEngines];
    const ScoreWindow window = sample.whole();
    together[i] = make_cuda(sample.model, Precision::kFloat)
                      ->batches()
                      .log_partitions({&window, 1})
                      .front()
                      .log_partition;
  });
  for (std::size_t i = 0; i < together.size(); ++i) CHECK(together[i] == alone[i % kEngines]);
}

// compute-sanitizer runs this one a hundred times slower.
TEST_CASE("a small grid for the sanitizers") {
  if (!has_gpu()) return;
  check_small_grid();
}
