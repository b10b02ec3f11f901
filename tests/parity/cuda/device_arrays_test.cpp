// Scores and posteriors that lie on the device, and counts of every sequence of its own, against those of the
// host.
#include <limits>
#include <vector>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "parity/cuda/cuda_checks.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// Sequences of one model whose arrays follow each other, each `stride` positions behind the one before.
struct Batch {
  ModelCase sample;
  std::vector<std::int64_t> lengths;
  std::int64_t stride;

  std::vector<ScoreWindow> windows(bool on_device) const {
    std::vector<ScoreWindow> found;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const std::int64_t begin = static_cast<std::int64_t>(i) * stride;
      ScoreWindow window = sample.window(begin, begin + lengths[i]);
      window.begin = 0;
      window.end = window.length = lengths[i];
      window.baseline = {};
      for (ScoreArray* const array : {&window.emissions, &window.start_scores, &window.end_scores})
        array->on_device = on_device && !array->empty();
      found.push_back(window);
    }
    return found;
  }
};

template <class Real>
void check_same(const Batch& batch) {
  INFO(batch.sample.description);
  constexpr Precision kPrecision = sizeof(Real) == sizeof(float) ? Precision::kFloat : Precision::kDouble;
  const auto engine = make_cuda(batch.sample.model, kPrecision);
  const auto labels = static_cast<std::size_t>(batch.sample.model.num_labels);
  const std::size_t sequences = batch.lengths.size();
  std::vector<std::vector<double>> host(4 * sequences);
  std::vector<std::vector<Real>> device(4 * sequences);
  std::vector<ExpectedCounts> host_counts(sequences), device_counts(sequences);
  std::vector<PosteriorArrays> host_out(sequences), device_out(sequences);
  std::vector<DevicePosteriors> rows(sequences);
  for (std::size_t i = 0; i < sequences; ++i) {
    for (std::size_t which = 0; which < 4; ++which) {
      const std::size_t size = static_cast<std::size_t>(batch.lengths[i]) * (which == 0 ? 1 : labels);
      host[4 * i + which].resize(size);
      device[4 * i + which].resize(size);
    }
    double* const to[] = {host[4 * i].data(), host[4 * i + 1].data(), host[4 * i + 2].data(),
                          host[4 * i + 3].data()};
    host_out[i] = {to[0], to[1], to[2], to[3]};
    rows[i] = {device[4 * i].data(), device[4 * i + 1].data(), device[4 * i + 2].data(),
               device[4 * i + 3].data()};
    device_out[i].on_device = &rows[i];
    device_out[i].counts = &device_counts[i];
  }
  const std::vector<ScoreWindow> on_host = batch.windows(false), on_device = batch.windows(true);
  std::vector<double> expected;
  for (std::size_t i = 0; i < sequences; ++i)
    expected.push_back(engine->batches()
                           .posteriors_of({&on_host[i], 1}, {&host_out[i], 1}, &host_counts[i])
                           .front()
                           .log_partition);
  DeviceMemory& memory = *engine->own_memory();
  REQUIRE(memory.takes_device_arrays());
  memory.begin_after(nullptr);
  const std::vector<SequenceResult> found = engine->batches().posteriors_of(on_device, device_out, nullptr);
  const std::vector<SequenceResult> alone = engine->batches().log_partitions(on_device);
  memory.finish_before(nullptr);
  for (std::size_t i = 0; i < sequences; ++i) {
    CHECK(found[i].log_partition == expected[i]);
    CHECK((alone[i].log_partition == expected[i] || std::abs(alone[i].log_partition - expected[i]) < 1e-4));
    for (std::size_t which = 0; which < 4; ++which)
      CHECK(std::vector<double>(device[4 * i + which].begin(), device[4 * i + which].end()) ==
            host[4 * i + which]);
    CHECK(device_counts[i].transition == host_counts[i].transition);
    CHECK(device_counts[i].duration == host_counts[i].duration);
    CHECK(device_counts[i].tail == host_counts[i].tail);
  }
}

}  // namespace

TEST_CASE("arrays on the device give the digits of arrays on the host") {
  const std::vector<std::vector<std::int64_t>> shapes = {{40}, {40, 40, 40}, {32, 32}, {7, 40, 1, 16, 33}};
  for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kBoundaryScores,
                              CaseKind::kTails, CaseKind::kForbiddenPositions})
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      Batch batch{make_case(kind, {45 * 5, 6, 3}, 50 + i), shapes[i], 45};
      check_same<float>(batch);
      check_same<double>(batch);
    }
}

TEST_CASE("values on the device that are no scores are an error") {
  for (const std::size_t sequences : {std::size_t{1}, std::size_t{3}}) {
    Batch batch{make_case(CaseKind::kPlain, {150, 4, 2}, 9), std::vector<std::int64_t>(sequences, 40), 45};
    ScoreTable& scores = batch.sample.emissions;
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      if (scores.f32.empty()) {
        scores.f64[17] = value;
      } else {
        scores.f32[17] = static_cast<float>(value);
      }
      const auto engine = make_cuda(batch.sample.model, Precision::kFloat);
      const std::vector<ScoreWindow> windows = batch.windows(true);
      const std::vector<PosteriorArrays> nothing(sequences);
      CHECK_THROWS_AS(engine->batches().log_partitions(windows), InputError);
      CHECK_THROWS_AS(engine->batches().posteriors_of(windows, nothing, nullptr), InputError);
    }
  }
}
