// The plain CUDA engine, its kernels as fibers on the host: see plain_cases.h.
#include <functional>
#include <stdexcept>
#include <vector>

#include "core/error.h"
#include "cuda/device/device_buffer.h"
#include "device_counters.h"
#include "engine/device_memory.h"
#include "parity/cuda/plain_cases.h"
#include "parity/engine_parity.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;
using namespace semicrf::testing;

TEST_CASE("the plain kernels equal the reference over lengths, durations and labels") {
  std::uint64_t seed = test_seed(2100);
  for (const CaseShape& shape : plain_shapes())
    for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kTies})
      expect_none(check_plain(make_plain, make_case(kind, shape, ++seed)));
}

TEST_CASE("the plain kernels equal the reference on every kind of model") {
  std::uint64_t seed = test_seed(2200);
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      for (const CaseShape& shape : {CaseShape{1, 2, 2}, {6, 4, 3}, {17, 40, 33}, {60, 24, 6}, {150, 9, 2}})
        expect_none(check_plain(make_plain, make_case(kind, shape, ++seed)));
    }
  }
}

TEST_CASE("the plain kernels equal the reference where segments have a shortest duration") {
  std::uint64_t seed = test_seed(2300);
  for (const CaseShape& shape : {CaseShape{17, 20, 3}, {65, 30, 2}, {97, 16, 5}, {33, 60, 33}})
    for (const double score : {kNegativeInfinity, -1e9, -1e5})
      expect_none(check_plain(make_plain, shortest_duration_case(shape, 8, score, ++seed)));
}

TEST_CASE("the plain kernels decide ties of tails as the reference does") {
  std::uint64_t seed = test_seed(2350);
  for (int i = 0; i < 20; ++i)
    expect_none(check_plain(make_plain, tied_tails_case({40 + i, 1 + i % 4, 1 + i % 3}, ++seed)));
}

TEST_CASE("the plain kernels equal the reference on chains of cut pieces") {
  std::uint64_t seed = test_seed(2400);
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kLongTail,
                              CaseKind::kMasks, CaseKind::kBoundaryScores, CaseKind::kMinimumDurations})
    for (const CaseShape& shape : {CaseShape{1, 2, 3}, {5, 3, 2}, {40, 17, 3}, {100, 33, 2}})
      expect_none(check_plain_cut_edges(make_plain, make_case(kind, shape, ++seed)));
}

TEST_CASE("the plain traceback follows a path in several launches") {
  expect_none(check_plain_long_path(make_plain));
}

TEST_CASE("the plain engine refuses what it does not know") {
  ModelCase sample = make_case(CaseKind::kPlain, {20, 4, 2}, 1);
  const auto engine = make_plain(sample.model);
  CHECK(engine->name() == "cuda-plain");
  CHECK(engine->precision() == Precision::kDouble);
  CHECK_THROWS_AS(engine->viterbi(sample.whole(), {0, 10}, nullptr, false), std::logic_error);
  CHECK_THROWS_AS(engine->forward(sample.window(0, 10), {0, 10}, nullptr, {}), std::logic_error);
  const BoundaryState state;
  CHECK_THROWS_AS(engine->posteriors(sample.whole(), {0, 20}, nullptr, &state, {}), std::logic_error);
  const ViterbiWindow window = engine->viterbi(sample.whole(), {0, 20}, nullptr, true);
  TraceCursor cursor{TraceCursor::Phase::kFindStart, 0, 0, 0};  // no segment ends there
  std::vector<Segment> reversed;
  CHECK_THROWS_AS(window.messages->trace(cursor, reversed), std::logic_error);
  sample.model.cut.left = true;
  CHECK_THROWS_AS(make_plain(sample.model), std::logic_error);
}

TEST_CASE("a sequence takes no more memory of the plain engine's device than was said") {
  for (const CaseShape& shape : {CaseShape{300, 20, 3}, CaseShape{2000, 5, 3}, CaseShape{3000, 100, 12}}) {
    const ModelCase sample = make_case(CaseKind::kTails, shape, 871);
    INFO(sample.description);
    const auto engine = make_plain(sample.model);
    const DeviceMemory& memory = *engine->own_memory();
    const PositionRange all{0, sample.length};
    const WindowShape window{sample.length, sample.length, sample.length, 0};
    const auto peak_of = [&](const std::function<void()>& work) {
      // The pool keeps what it was given back until the device has no more.
      emulation::fail_allocations_after(0);
      CHECK_THROWS_AS(cuda::DeviceBuffer<double>(std::size_t{1} << 30), MemoryError);
      emulation::fail_allocations_after(-1);
      emulation::reset_peak();
      work();
      return emulation::peak_device_bytes();
    };
    const std::size_t path = peak_of([&] { engine->viterbi(sample.whole(), all, nullptr, true); });
    CHECK(path > 0);
    CHECK(path <= memory.viterbi_device_bytes(window));
    CHECK(peak_of([&] { engine->posteriors(sample.whole(), all, nullptr, nullptr, {}); }) <=
          memory.posterior_device_bytes(window, false));
    ExpectedCounts counts;
    PosteriorArrays out;
    out.counts = &counts;
    CHECK(peak_of([&] { engine->posteriors(sample.whole(), all, nullptr, nullptr, out); }) <=
          memory.posterior_device_bytes(window, true));
  }
}

TEST_CASE("the plain engine says when its device has no memory, and works again when it has") {
  const ModelCase sample = make_case(CaseKind::kTails, {9000, 60, 12}, 872);
  const auto engine = make_plain(sample.model);
  emulation::fail_allocations_after(0);
  CHECK_THROWS_AS(engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, {}), MemoryError);
  emulation::fail_allocations_after(-1);
  CHECK_NOTHROW(engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, {}));
}
