#include "model/scores/centering.h"

#include <cmath>
#include <limits>
#include <random>

#include "support/catch.h"

using namespace semicrf;

namespace {

std::vector<float> random_rows(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(3, 10);
  std::vector<float> rows(count);
  for (float& value : rows) value = normal(random);
  return rows;
}

}  // namespace

TEST_CASE("sequence means do not depend on how a sequence is cut") {
  const unsigned seed = 77;
  INFO("seed " << seed);
  constexpr std::size_t kColumns = 3;
  constexpr std::int64_t kLength = 3 * SequenceMean::kBlock + 1234;
  std::vector<float> rows = random_rows(seed, kColumns * static_cast<std::size_t>(kLength));
  rows[3 * 5000 + 1] = -std::numeric_limits<float>::infinity();
  SequenceMean whole(kColumns);
  whole.add(rows.data(), 0, kLength);
  const std::vector<double> expected = whole.mean();
  std::mt19937 random(seed);
  for (const std::int64_t longest : {1, 10, 4096, 9000}) {
    SequenceMean parts(kColumns, longest == 9000 ? 3 : 1);  // with threads, whole blocks by themselves
    for (std::int64_t begin = 0; begin < kLength;) {
      const std::int64_t end = std::min(kLength, begin + 1 + static_cast<std::int64_t>(random()) % longest);
      parts.add(rows.data() + static_cast<std::size_t>(begin) * kColumns, begin, end);
      begin = end;
    }
    CHECK(parts.mean() == expected);
    CHECK(parts.rows() == kLength);
    CHECK(parts.masked() == 1);
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    long double sum = 0;
    long double count = 0;
    for (std::size_t i = c; i < rows.size(); i += kColumns) {
      if (std::isinf(rows[i])) continue;
      sum += static_cast<long double>(rows[i]);
      count += 1;
    }
    CHECK(expected[c] == Approx(static_cast<double>(sum / count)).epsilon(1e-14));
  }
}

TEST_CASE("left-out bins do not count, and their positions still fix the sums") {
  const std::vector<double> rows{1, 2, 3, 4, 5, 6};
  SequenceMean mean(2);
  CHECK(mean.mean() == std::vector<double>{0, 0});
  mean.add(rows.data(), 10, 12);
  mean.add(rows.data() + 4, 1'000'000'000'000, 1'000'000'000'001);
  CHECK(mean.mean() == std::vector<double>{3, 4});
  CHECK(mean.rows() == 3);
  CHECK_THROWS_AS(mean.add(rows.data(), 5, 6), std::logic_error);
}

TEST_CASE("forbidden entries take no part and masks are counted") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> rows{1, -infinity, -1e9, 2, -infinity, 0, 3, -infinity, 0};
  SequenceMean mean(3);
  mean.add(rows.data(), 0, 3);
  CHECK(mean.mean() == std::vector<double>{2, 0, -1e9 / 3});
  CHECK(mean.masked() == 4);
}

TEST_CASE("sums keep their digits over long sequences") {
  SequenceMean mean(1);
  std::vector<double> rows(10'000, 0.1);
  for (std::int64_t t = 0; t < 1'000'000; t += 10'000) mean.add(rows.data(), t, t + 10'000);
  CHECK(mean.mean()[0] == Approx(0.1).epsilon(1e-12));
}

TEST_CASE("centrings have names") {
  for (const auto centering :
       {Centering::kMean, Centering::kNone, Centering::kPositionMax, Centering::kMeanPreserving}) {
    CHECK(centering_from_name(centering_name(centering)) == centering);
  }
  CHECK(centering_name(Centering::kMeanPreserving) == "mean-preserving");
  CHECK(!centering_from_name("Mean"));
}
