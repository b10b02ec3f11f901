// Reliability, what the truth says of bins, and the coverage of intervals, against accounts one by one.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "eval/metrics/reliability.h"
#include "eval/metrics/stretches.h"
#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;

namespace {

std::vector<Stretch> random_stretches(std::mt19937& random, std::int64_t length) {
  std::vector<Segment> truth;
  std::int64_t at = static_cast<std::int64_t>(random() % 9);
  while (at < length) {
    const std::int64_t end = std::min(length, at + 1 + static_cast<std::int64_t>(random() % 15));
    truth.push_back({at, end, static_cast<int>(random() % 3)});
    at = end + (random() % 6 == 0 ? 1 + static_cast<std::int64_t>(random() % 8) : 0);
  }
  const std::vector<BinRange> wanted = {{0, length / 2}, {length / 2, length}};
  return make_stretches(truth, {}, wanted);
}

const Stretch* stretch_with(const std::vector<Stretch>& stretches, std::int64_t begin, std::int64_t end) {
  for (const Stretch& stretch : stretches)
    if (stretch.begin <= begin && end <= stretch.end) return &stretch;
  return nullptr;
}

}  // namespace

TEST_CASE("the numbers of a reliability table are those of its definition") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    const int bins = 1 + static_cast<int>(random() % 12);
    Reliability sums(bins);
    double squares = 0, loss = 0, predicted = 0, error = 0;
    std::int64_t count = 0, events = 0;
    std::vector<double> differences(static_cast<std::size_t>(bins));
    for (int i = 0; i < 200; ++i) {
      const double p = random() % 4 == 0 ? static_cast<double>(random() % 11) / 10
                                         : static_cast<double>(random() % 1000) / 1000;
      const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 5);
      const std::int64_t y = static_cast<std::int64_t>(random() % static_cast<unsigned>(n + 1));
      sums.add(p, 5e-7, n, y);
      int bin = 0;
      while (bin + 1 < bins && p >= static_cast<double>(bin + 1) / bins) ++bin;
      const double inner = std::clamp(p, 5e-7, 1 - 5e-7);
      for (std::int64_t j = 0; j < n; ++j) {
        const double happened = j < y ? 1 : 0;
        squares += (p - happened) * (p - happened);
        loss -= j < y ? std::log(inner) : std::log1p(-inner);
        predicted += p;
        differences[static_cast<std::size_t>(bin)] += p - happened;
      }
      count += n;
      events += y;
    }
    for (const double difference : differences) error += std::abs(difference);
    const auto n = static_cast<double>(count);
    CHECK(sums.count() == count);
    CHECK(sums.events() == events);
    CHECK(std::abs(*sums.brier() - squares / n) < 1e-12);
    CHECK(std::abs(*sums.log_loss() - loss / n) < 1e-12);
    CHECK(std::abs(*sums.mean_predicted() - predicted / n) < 1e-12);
    CHECK(std::abs(*sums.calibration_error() - error / n) < 1e-12);
    for (const ReliabilityBin& bin : sums.bins()) {
      if (bin.count == 0) continue;
      CHECK(bin.observed_lower() <= *bin.observed());
      CHECK(bin.observed_upper() >= *bin.observed());
    }
  }
  const Reliability empty;
  CHECK_FALSE(empty.brier());
  CHECK_FALSE(empty.calibration_error());
}

TEST_CASE("a Wilson interval by hand") {
  // 1 of 10: the roots of (p - 0.1)^2 = z^2 p (1-p) / 10.
  const ReliabilityBin bin{10, 1, 1.0};
  for (const double p : {bin.observed_lower(), bin.observed_upper()})
    CHECK(std::abs((p - 0.1) * (p - 0.1) - 1.959963984540054 * 1.959963984540054 * p * (1 - p) / 10) < 1e-12);
}

TEST_CASE("starts and labels of bins are those of an account bin by bin") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(testing::test_seed(seed));
    const std::int64_t length = 60 + static_cast<std::int64_t>(random() % 60);
    const std::int64_t bin_size = 1 + static_cast<std::int64_t>(random() % 7);
    const std::vector<Stretch> stretches = random_stretches(random, length);
    BinTruth starts(stretches), labels(stretches);
    std::int64_t begin = static_cast<std::int64_t>(random() % 10);
    while (begin < length) {
      const std::int64_t bins = 1 + static_cast<std::int64_t>(random() % 9);
      const BinRun run{begin, std::min(length, begin + bins * bin_size), bin_size, random() % 3 == 0};
      BinEvents expected;
      std::vector<std::pair<std::int64_t, int>> expected_labels;
      for (std::int64_t i = 0; begin + i * bin_size < run.end; ++i) {
        const std::int64_t first = begin + i * bin_size, end = std::min(run.end, first + bin_size);
        const Stretch* const stretch = stretch_with(stretches, first, end);
        if (stretch == nullptr) continue;
        std::map<int, std::int64_t> bases;
        bool starts_here = false;
        int first_label = -1;
        for (const Segment& segment : stretch->truth) {
          const std::int64_t shared = std::min(end, segment.end) - std::max(first, segment.begin);
          if (shared <= 0) continue;
          if (first_label < 0) first_label = segment.label;
          bases[segment.label] += shared;
          starts_here = starts_here || (segment.begin >= first && segment.begin > stretch->begin);
        }
        std::int64_t most = 0;
        for (const auto& [label, size] : bases) most = std::max(most, size);
        int label = -1;
        for (const Segment& segment : stretch->truth)
          if (label < 0 && std::min(end, segment.end) > std::max(first, segment.begin) &&
              bases[segment.label] == most)
            label = segment.label;
        expected_labels.emplace_back(i, label);
        if (stretch->begin == first || (i == 0 && run.first_is_given)) continue;
        ++expected.bins;
        expected.events += starts_here ? 1 : 0;
      }
      const BinEvents found = starts.starts(run);
      CHECK(found.bins == expected.bins);
      CHECK(found.events == expected.events);
      std::vector<std::pair<std::int64_t, int>> found_labels;
      for (const Segment& segment : labels.labels(run))
        for (std::int64_t i = segment.begin; i < segment.end; ++i)
          found_labels.emplace_back(i, segment.label);
      CHECK(found_labels == expected_labels);
      begin = run.end + static_cast<std::int64_t>(random() % 2 == 0 ? 0 : random() % 20);
    }
  }
}

TEST_CASE("scores of labels count every bin once") {
  LabelsCalibration labels;
  labels.bins = 2;
  labels.labels = {{"a", Reliability()}, {"b", Reliability()}};
  labels.labels[0].reliability.add(0.75, 5e-7, 1, 1);
  labels.labels[1].reliability.add(0.25, 5e-7, 1, 0);
  labels.labels[0].reliability.add(0.5, 5e-7, 1, 0);
  labels.labels[1].reliability.add(0.5, 5e-7, 1, 1);
  CHECK(std::abs(*labels.brier() - (2 * 0.0625 + 0.5) / 2) < 1e-15);
  CHECK(std::abs(*labels.log_loss() + (std::log(0.75) + std::log(0.5)) / 2) < 1e-15);
  CHECK(labels.pooled().count() == 4);
}
