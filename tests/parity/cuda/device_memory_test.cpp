// What a window takes of a device against what was said before.
#include "engine/device_memory.h"

#include <functional>
#include <vector>

#include "core/error.h"
#include "device_counters.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/engine_parity.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// The most that was allocated while `work` ran, memory left over from before included.
std::size_t peak_of(const std::function<void()>& work) {
  emulation::reset_peak();
  work();
  return emulation::peak_device_bytes();
}

}  // namespace

TEST_CASE("windows take no more memory of the device than was said") {
  struct Case {
    CaseKind kind;
    CaseShape shape;
  };
  // Large states, long rings, many labels; a sequence of many runs. Each is larger than those before it.
  for (const Case& one : {Case{CaseKind::kTails, {300, 20, 3}}, Case{CaseKind::kEverything, {5000, 5, 3}},
                          Case{CaseKind::kTails, {600, 3000, 8}}}) {
    const ModelCase sample = make_case(one.kind, one.shape, 871);
    INFO(sample.description);
    for (const Precision precision : {Precision::kFloat, Precision::kDouble}) {
      const auto engine = make_cuda(sample.model, precision);
      const DeviceMemory& memory = *engine->own_memory();
      const PositionRange all{0, sample.length};
      const std::size_t columns = static_cast<std::size_t>(sample.model.num_labels);
      std::size_t score_bytes = 0;
      for (const ScoreTable* table : {&sample.emissions, &sample.start_scores, &sample.end_scores})
        if (!table->empty()) score_bytes += columns * (table->f32.empty() ? sizeof(double) : sizeof(float));
      const WindowShape shape{sample.length, sample.length, sample.length, score_bytes};
      const std::size_t path = peak_of([&] { engine->viterbi(sample.whole(), all, nullptr, true); });
      CHECK(path > 0);
      CHECK(path <= memory.viterbi_device_bytes(shape));
      std::vector<double> labels(static_cast<std::size_t>(sample.length) * columns);
      PosteriorArrays out;
      out.labels = labels.data();
      const std::size_t posterior =
          peak_of([&] { engine->posteriors(sample.whole(), all, nullptr, nullptr, out); });
      CHECK(posterior <= memory.posterior_device_bytes(shape, false));
      ExpectedCounts counts;
      out.counts = &counts;
      const std::size_t counted =
          peak_of([&] { engine->posteriors(sample.whole(), all, nullptr, nullptr, out); });
      CHECK(counted <= memory.posterior_device_bytes(shape, true));
    }
  }
}

TEST_CASE("a device without memory is an error, and the engine works again when there is some") {
  const ModelCase sample = make_case(CaseKind::kTails, {900, 60, 3}, 872);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  const std::vector<std::int64_t> whole{0, sample.length};
  emulation::fail_allocations_after(0);
  CHECK_THROWS_AS(decode_case(*engine, sample, whole), MemoryError);
  emulation::fail_allocations_after(-1);
  const DecodedCase expected = decode_case(*make_cuda(sample.model, Precision::kFloat), sample, whole);
  const DecodedCase found = decode_case(*engine, sample, whole);
  CHECK(found.path == expected.path);
  CHECK(found.score == expected.score);
}
