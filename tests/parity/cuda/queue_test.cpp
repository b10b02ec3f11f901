// Runs that a team does one after the other. A large card has so many teams that only sequences of millions
// of positions have such runs; here sequences are cut for a card of one multiprocessor.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/engine/cuda_engine_impl.h"
#include "cuda/recursion/run_list.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/engine_parity.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// Bytes of shared memory that leave room for few teams.
struct SmallCard {
  std::size_t single, twice;

  std::size_t shared(Precision precision) const { return precision == Precision::kFloat ? single : twice; }
  std::unique_ptr<Engine> make(const ChainModel& model, Precision precision) const {
    constexpr std::size_t kMemory = std::size_t{1} << 40;
    if (precision == Precision::kFloat)
      return std::make_unique<cuda::CudaEngine<float>>(model, 0, "small", single, kMemory, 1,
                                                       cuda::WorkRules{1});
    return std::make_unique<cuda::CudaEngine<double>>(model, 0, "small", twice, kMemory, 1,
                                                      cuda::WorkRules{1});
  }
  cuda::RunCut cut(const ModelCase& sample, Precision precision) const {
    const ChainModel& model = sample.model;
    const cuda::TileConfig tile =
        cuda::choose_tile(model.num_labels, model.max_duration,
                          precision == Precision::kFloat ? sizeof(float) : sizeof(double), shared(precision));
    return cuda::cut_into_runs(cuda::run_grid(model.max_duration), sample.length, cuda::teams_of(tile, 1));
  }
};

void check_queues(const SmallCard& card, const ModelCase& sample, Examined examined) {
  for (const Precision precision : kBothPrecisions) {
    const cuda::RunCut cut = card.cut(sample, precision);
    INFO(sample.description << ": runs of " << cut.run << ", chunks of " << cut.chunk);
    REQUIRE(cut.queue > 1);
    REQUIRE(cut.chunk < sample.length);
  }
  const auto make = [&](const ChainModel& model, Precision precision) { return card.make(model, precision); };
  expect_none(check_case(make, sample, examined), sample.description);
  // A run that does not go on where the one before it ended would be done again, and look right.
  const auto engine = card.make(sample.model, Precision::kFloat);
  for (const ChunkReport& report : posterior_case(*engine, sample, {0, sample.length}).chunks)
    CHECK_FALSE(report.repaired);
}

}  // namespace

TEST_CASE("runs of a queue equal the reference, whole and in windows") {
  check_queues({4 << 10, 4 << 10}, make_case(CaseKind::kTails, {14'003, 20, 3}, 871), {});
}

// Seven teams, of a warp each, against the runs of a large card, which all warm up.
TEST_CASE("runs of the queues of several warps find what runs that all warm up do") {
  const ModelCase sample = make_case(CaseKind::kTails, {46'007, 3, 20}, 872);
  const SmallCard card{40 << 10, 0};
  REQUIRE(card.cut(sample, Precision::kFloat).queue > 1);
  const PositionRange whole{0, sample.length};
  const auto queues = card.make(sample.model, Precision::kFloat);
  const auto others = make_cuda(sample.model, Precision::kFloat);
  const auto log_partition = [&](Engine& engine) {
    return log_sum(engine.forward(sample.whole(), whole, nullptr, {}).right);
  };
  const auto best_score = [&](Engine& engine) {
    int label = 0;
    return best_final_score(engine.viterbi(sample.whole(), whole, nullptr, false).right, &label);
  };
  const double sum = log_partition(*others), best = best_score(*others);
  CHECK(std::fabs(log_partition(*queues) - sum) <= 1e-6 * std::fabs(sum));
  CHECK(std::fabs(best_score(*queues) - best) <= 1e-6 * std::fabs(best));
}

// Five runs in queues of two: windows begin with a queue, so that the last one may be short, whichever way a
// pass goes.
TEST_CASE("a run begins a queue in a window where it does in the whole sequence") {
  for (const int backward : {0, 1}) {
    const auto beginnings = [&](int runs) {
      cuda::RunSequence sequence{};
      sequence.run = sequence.mark = 16;
      sequence.end = sequence.length = std::int64_t{16} * runs;
      sequence.queue = 2;
      sequence.runs = runs;
      cuda::RunListing listing{};
      listing.backward = backward;
      std::vector<bool> begins(static_cast<std::size_t>(runs));
      for (int n = 0; n < runs; ++n)
        begins[static_cast<std::size_t>(backward != 0 ? runs - 1 - n : n)] =
            cuda::begins_queue(listing, sequence, n);
      return begins;
    };
    const std::vector<bool> whole = beginnings(5), window = beginnings(4);
    CHECK(std::equal(window.begin(), window.end(), whole.begin()));
    CHECK(whole == (backward != 0 ? std::vector<bool>{false, true, false, true, true}
                                  : std::vector<bool>{true, false, true, false, true}));
  }
}

// Windows behind one at a cut edge begin at any block, and the marks in a run are counted from where it
// begins.
TEST_CASE("windows that begin at any block have the posteriors and counts of the whole sequence") {
  const SmallCard card{4 << 10, 4 << 10};
  const ModelCase sample = make_case(CaseKind::kTails, {14'003, 20, 3}, 871);
  for (const Precision precision : kBothPrecisions) {
    const cuda::RunCut cut = card.cut(sample, precision);
    REQUIRE(cut.run > 2 * cut.mark);
    const auto engine = card.make(sample.model, precision);
    const double tolerance = precision == Precision::kFloat ? 1e-4 : 1e-9;
    const auto labels = static_cast<std::size_t>(sample.model.num_labels);
    const auto rows = static_cast<std::size_t>(sample.length) * labels;
    std::vector<double> whole(rows), in_windows(rows);
    ExpectedCounts of_whole, of_windows;
    PosteriorArrays out;
    out.labels = whole.data();
    out.counts = &of_whole;
    engine->posteriors(sample.whole(), {0, sample.length}, nullptr, nullptr, out);
    out.counts = &of_windows;
    const std::int64_t first = cut.mark / 2 / 16 * 16, second = first + cut.run + cut.mark + 32;
    REQUIRE(first % cut.mark != 0);
    BoundaryState left;
    for (const PositionRange range : {PositionRange{0, first}, {first, second}, {second, sample.length}}) {
      out.labels = in_windows.data() + static_cast<std::size_t>(range.begin) * labels;
      left = engine->posteriors(sample.whole(), range, range.begin > 0 ? &left : nullptr, nullptr, out)
                 .right_forward;
    }
    double most = 0;
    for (std::size_t i = 0; i < rows; ++i) most = std::max(most, std::fabs(in_windows[i] - whole[i]));
    CHECK(most < tolerance);
    for (const auto array : {&ExpectedCounts::transition, &ExpectedCounts::duration, &ExpectedCounts::tail}) {
      for (std::size_t i = 0; i < (of_whole.*array).size(); ++i)
        CHECK(std::fabs((of_windows.*array)[i] - (of_whole.*array)[i]) <
              tolerance * static_cast<double>(sample.length));
    }
  }
}
