// An engine of several devices: what it does not share out it must hand on to one of them.
#include <functional>
#include <vector>

#include "device_counters.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/cuda/make_spread.h"
#include "parity/gradient_case.h"
#include "parity/same_results.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

std::size_t launches_of(const std::function<void()>& work) {
  const std::size_t before = emulation::launches();
  work();
  return emulation::launches() - before;
}

}  // namespace

TEST_CASE("an engine of several devices describes itself as one of them does") {
  const ModelCase sample = make_case(CaseKind::kTails, {60, 5, 3}, 861);
  for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
    const auto one = make_cuda(sample.model, precision);
    const auto several = make_spread(sample.model, precision);
    const DeviceMemory* const memory = one->own_memory();
    DeviceMemory* const its_memory = several->own_memory();
    REQUIRE(its_memory != nullptr);
    CHECK(several->name() == one->name());
    CHECK(several->description() != one->description());  // it says how many
    CHECK(several->model().transition == sample.model.transition);
    CHECK(several->precision() == precision);
    for (const std::int64_t length : {300, 20'000, 3'000'000}) {
      CHECK(several->grid(length).chunk == one->grid(length).chunk);
      CHECK(several->grid(length).warmup == one->grid(length).warmup);
      CHECK(several->grid(length).tolerance == one->grid(length).tolerance);
    }
    CHECK(several->projects() == one->projects());
    CHECK(several->batches().batch_positions() == one->batches().batch_positions());
    CHECK(several->batches().batch_positions() > 0);
    CHECK(its_memory->device_memory() == memory->device_memory());
    // A window of one part is computed by one device; windows of several are not joined.
    const WindowShape shape{300, 300, 300, 12};
    CHECK(its_memory->viterbi_device_bytes(shape) == memory->viterbi_device_bytes(shape));
    CHECK(its_memory->posterior_device_bytes(shape, false) == memory->posterior_device_bytes(shape, false));
    CHECK(its_memory->posterior_device_bytes(shape, true) == memory->posterior_device_bytes(shape, true));
    CHECK(several->viterbi_bytes(shape.positions, true) >= one->viterbi_bytes(shape.positions, true));
    CHECK(several->posterior_bytes(shape.positions, true) >= one->posterior_bytes(shape.positions, true));
    CHECK_FALSE(its_memory->joins_windows({250'000'000, 1 << 20, 1 << 20, 12}));
    CHECK(its_memory->prefetch(sample.whole()) == nullptr);
  }
}

TEST_CASE("an engine of several devices gives batches and forward messages to one of them") {
  const ModelCase sample = make_case(CaseKind::kEverything, {300, 20, 3}, 862);
  // The checks make the engine that computes one by one first, then the one that computes together.
  int made = 0;
  const auto in_turns = [&](const ChainModel& model, Precision precision) {
    return made++ % 2 == 0 ? make_cuda(model, precision) : make_spread(model, precision);
  };
  const std::vector<std::int64_t> lengths{100, 1, 33, 64, 17};
  expect_none(check_batch(in_turns, sample, lengths));
  expect_none(check_batch_paths(in_turns, sample, lengths));

  const auto one = make_cuda(sample.model, Precision::kFloat);
  const auto several = make_spread(sample.model, Precision::kFloat);
  const std::vector<std::int64_t> whole{0, sample.length};
  const ForwardCase expected = forward_case(*one, sample, whole),
                    found = forward_case(*several, sample, whole);
  CHECK(same_numbers(found.starts, expected.starts));
  CHECK(same_numbers(found.ends, expected.ends));
  CHECK(same_numbers(found.start_levels, expected.start_levels));

  // The digits would be the same one by one; the number of kernels would not.
  const std::vector<ScoreWindow> sequences(6, sample.whole());
  const std::vector<PosteriorArrays> nothing(sequences.size());
  const auto same_work = [&](auto work) {
    CHECK(launches_of([&] { work(*several); }) == launches_of([&] { work(*one); }));
  };
  same_work([&](Engine& engine) { engine.batches().log_partitions(sequences); });
  same_work([&](Engine& engine) { engine.batches().viterbi_of(sequences); });
  same_work([&](Engine& engine) { engine.batches().posteriors_of(sequences, nothing, nullptr); });
}
