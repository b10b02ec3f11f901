// Device memory as it is known before a run.
#include "cuda/engine/device_needs.h"

#include "engine/device_memory.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::cuda;

namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;
const ModelShape kModel{5, 100, false, sizeof(float), {3000, 1000}};

WindowShape window(std::int64_t length, std::int64_t positions) { return {length, positions, positions, 20}; }

}  // namespace

TEST_CASE("a device gives what is free, what is allowed or what is comfortable") {
  CHECK(device_budget(16 * kGiB, 2 * kGiB) == 2 * kGiB);
  CHECK(device_budget(kGiB, 2 * kGiB) < kGiB);
  CHECK(device_budget(140 * kGiB, 0) < 8 * kGiB);
  CHECK(device_budget(140 * kGiB, 100 * kGiB) == 100 * kGiB);
  CHECK(device_budget(0, 0) == 0);
}

TEST_CASE("scores of a sequence stay where they leave room for messages") {
  CHECK(keeps_sequence(window(250'000'000, 1 << 20), device_budget(140 * kGiB, 0)));
  CHECK(!keeps_sequence(window(250'000'000, 1 << 20), 4 * kGiB));
  CHECK(keeps_sequence(window(1000, 1000), kGiB));
}

TEST_CASE("needs grow with the window, its tail, its counts and its precision") {
  const RunGrid grid = run_grid(kModel.max_duration);
  const std::int64_t length = 250'000'000;
  const auto viterbi = [&](std::int64_t positions, const ModelShape& model = kModel) {
    return viterbi_need(model, grid, window(length, positions), kGiB);
  };
  CHECK(viterbi(1 << 20) < viterbi(1 << 22));
  CHECK(viterbi(1 << 22) > (std::size_t{1} << 22) * (20 + sizeof(float) * 5 * 2));
  ModelShape other = kModel;
  other.tail = true;
  CHECK(viterbi(1 << 22, other) > viterbi(1 << 22));
  other = kModel;
  other.real_bytes = sizeof(double);
  CHECK(viterbi(1 << 22, other) > viterbi(1 << 22));
  const WindowShape shape = window(length, 1 << 22);
  CHECK(posterior_need(kModel, grid, shape, false, kGiB) > viterbi(1 << 22));
  CHECK(posterior_need(kModel, grid, shape, true, kGiB) > posterior_need(kModel, grid, shape, false, kGiB));
  // The whole sequence where it stays, else the window with its halos.
  const WindowShape alone = window(length, 1 << 19);  // not joined
  CHECK(viterbi_need(kModel, grid, alone, 100 * kGiB) - viterbi_need(kModel, grid, alone, kGiB) ==
        20 * static_cast<std::size_t>(length - alone.read));
}

TEST_CASE("windows are joined where their edges take little and scores stay") {
  const std::int64_t length = 250'000'000;
  const std::size_t budget = device_budget(140 * kGiB, 0);
  CHECK(joins_neighbours(kModel, window(length, 1 << 20), budget));
  CHECK(!joins_neighbours(kModel, window(length, 1 << 16), budget));
  CHECK(!joins_neighbours(kModel, window(length, length), budget));
  CHECK(!joins_neighbours(kModel, window(length, 1 << 20), kGiB));
  const RunGrid grid = run_grid(kModel.max_duration);
  CHECK(viterbi_need(kModel, grid, window(length, 1 << 20), budget) >
        viterbi_need(kModel, grid, window(1 << 20, 1 << 20), budget) + 20 * std::size_t{length - (1 << 20)} +
            238 * static_cast<std::size_t>(joining_edge(kModel.max_duration)) * 5 * 2 * sizeof(float));
}

TEST_CASE("a whole chromosome stays on the device within eight gibibytes") {
  const RunGrid grid = run_grid(kModel.max_duration);
  const std::size_t budget = device_budget(140 * kGiB, 0);
  CHECK(viterbi_need(kModel, grid, window(250'000'000, 24'000'000), budget) < budget);
}

TEST_CASE("a batch needs what its rows, its runs and the ends of its sequences take") {
  const BatchShape one{1, 1 << 20, 1 << 12, 1 << 13, 20};
  const auto need = [](BatchShape shape, BatchOutput output) { return batch_need(kModel, shape, output); };
  CHECK(need(one, BatchOutput::kLogPartitions) < need(one, BatchOutput::kPaths));
  CHECK(need(one, BatchOutput::kPaths) < need(one, BatchOutput::kPosteriors));
  CHECK(need(one, BatchOutput::kPosteriors) < need(one, BatchOutput::kCounts));
  BatchShape other = one;
  other.rows *= 2;
  CHECK(need(other, BatchOutput::kLogPartitions) - need(one, BatchOutput::kLogPartitions) ==
        (std::size_t{1} << 20) * one.score_bytes);
  CHECK(need(other, BatchOutput::kPaths) - need(one, BatchOutput::kPaths) >
        (std::size_t{1} << 20) * (one.score_bytes + sizeof(float) * 5 * 2));
  CHECK(need(other, BatchOutput::kPosteriors) > need(one, BatchOutput::kPosteriors));
  other = one;
  other.runs *= 2;
  CHECK(need(other, BatchOutput::kPosteriors) > need(one, BatchOutput::kPosteriors));
  other = one;
  other.states *= 2;
  CHECK(need(other, BatchOutput::kLogPartitions) > need(one, BatchOutput::kLogPartitions));
  other = one;
  other.sequences = 1000;
  CHECK(need(other, BatchOutput::kPaths) > need(one, BatchOutput::kPaths));
  CHECK(need(other, BatchOutput::kPosteriors) > need(one, BatchOutput::kPosteriors));
  // Sums of features: nothing without posteriors, and no more than their workspace.
  other = one;
  other.head_sum_entries = 1600;
  CHECK(need(other, BatchOutput::kPaths) == need(one, BatchOutput::kPaths));
  CHECK(need(other, BatchOutput::kPosteriors) - need(one, BatchOutput::kPosteriors) ==
        (1 + 2 * 1024) * std::size_t{1600} * 8);
  other.head_sum_entries *= 1000;
  CHECK(need(other, BatchOutput::kPosteriors) - need(one, BatchOutput::kPosteriors) == kMostHeadSums);
}
