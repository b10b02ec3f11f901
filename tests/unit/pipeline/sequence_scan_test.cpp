#include "pipeline/inputs/sequence_scan.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "support/catch.h"
#include "support/npy_fixture.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::test;

namespace {

Track track(const std::string& name, MissingPolicy missing, Transform transform = Transform::kNone) {
  Track made;
  made.name = name;
  made.missing = missing;
  made.transform = transform;
  return made;
}

NpyArray array(const TempFolder& folder, const std::vector<double>& values, std::size_t columns) {
  const ByteVector bytes = npy_array(values, values.size() / columns, columns);
  return NpyArray::open(folder.add("x.npy", std::string(bytes.begin(), bytes.end())));
}

// An engine that says of scores what it was told to.
class PrefetchingEngine : public Engine, public DeviceMemory {
 public:
  PrefetchingEngine() : Engine({}, this, one_by_one_) {}
  std::optional<BlockSums> sums;

  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& whole) override {
    ++sequences[whole.sequence];
    return std::make_unique<Told>(sums);
  }
  std::map<std::uint64_t, int> sequences;  // how often each was asked for

  std::size_t device_memory() const override { return 0; }
  std::size_t viterbi_device_bytes(const WindowShape&) const override { return 0; }
  std::size_t posterior_device_bytes(const WindowShape&, bool) const override { return 0; }
  bool joins_windows(const WindowShape&) const override { return false; }
  std::size_t viterbi_bytes(std::int64_t, bool) const override { return 0; }
  std::size_t posterior_bytes(std::int64_t, bool) const override { return 0; }
  ViterbiWindow viterbi(const ScoreWindow&, PositionRange, const BoundaryState*, bool) override { return {}; }
  PosteriorWindow posteriors(const ScoreWindow&, PositionRange, const BoundaryState*, const BoundaryState*,
                             const PosteriorArrays&) override {
    return {};
  }
  ForwardWindow forward(const ScoreWindow&, PositionRange, const BoundaryState*,
                        const ForwardArrays&) override {
    return {};
  }

 private:
  struct Told : ScorePrefetch {
    explicit Told(std::optional<BlockSums> told) : sums(std::move(told)) {}
    bool sound(std::int64_t) override { return true; }
    std::optional<BlockSums> block_sums(double) override { return sums; }
    std::optional<BlockSums> sums;
  };
  OneByOne one_by_one_{*this};
};

}  // namespace

TEST_CASE("missing and excluded bins do not count in the mean") {
  const TempFolder folder;
  const double nan = std::nan("");
  const NpyArray values = array(folder, {1, 10, 2, nan, 3, 30, nan, 40, 5, 50, 6, 60}, 2);
  const auto rows = make_track_rows(
      values, {track("a", MissingPolicy::kZero), track("b", MissingPolicy::kSkip)}, Precision::kFloat);
  ScanRequest request;
  request.want_mean = true;
  request.excluded = {{4, 5}};
  const SequenceScan scan = scan_sequence(*rows, request);
  CHECK(scan.missing == std::vector<BinRange>{{1, 2}});
  REQUIRE(scan.mean.size() == 2);
  CHECK(scan.mean[0] == Approx((1 + 3 + 0 + 6) / 4.0));
  CHECK(scan.mean[1] == Approx((10 + 30 + 40 + 60) / 4.0));
}

TEST_CASE("values that a track's policy or transform refuses are errors with their row") {
  const TempFolder folder;
  const NpyArray values = array(folder, {0, 1, -2, std::nan("")}, 1);
  RowBuffer buffer;
  CHECK_THROWS_WITH(
      make_track_rows(values, {track("a", MissingPolicy::kError)}, Precision::kFloat)->read(0, 4, buffer),
      Catch::Matchers::Contains("row 3 column 0"));
  const auto rows =
      make_track_rows(values, {track("a", MissingPolicy::kZero, Transform::kLog1p)}, Precision::kDouble);
  CHECK(rows->read(0, 2, buffer).f64[1] == std::log1p(1.0));
  CHECK_THROWS_WITH(rows->read(1, 4, buffer), Catch::Matchers::Contains("row 2 column 0"));
}

TEST_CASE("rows that were checked elsewhere are not checked again") {
  const TempFolder folder;
  const double nan = std::nan("");
  const auto rows = make_score_rows(array(folder, {0, 1, nan, 3, nan}, 1), Precision::kDouble);
  RowBuffer buffer;
  rows->assume_checked(0, 3);
  CHECK_NOTHROW(rows->read(1, 3, buffer));
  rows->assume_checked(3, 4);
  CHECK_NOTHROW(rows->read(0, 4, buffer));
  CHECK_THROWS_WITH(rows->read(0, 5, buffer), Catch::Matchers::Contains("row 4, column 0"));
}

TEST_CASE("the mean of a sequence from sums that an engine made") {
  const TempFolder folder;
  constexpr std::int64_t kLength = (1 << 18) + 5;
  std::vector<double> values;
  for (std::int64_t i = 0; i < kLength; ++i) values.push_back(static_cast<double>(i * 37 % 1000) / 8);
  values[11] = -2e6;
  BlockSums sums{{}, {0}, 1};
  for (std::int64_t i = 0; i < kLength; ++i) {
    if (i % BlockSums::kPositions == 0) sums.sums.push_back(0);
    sums.sums.back() += values[static_cast<std::size_t>(i)];
  }
  SequenceScores scores;
  scores.rows = make_score_rows(array(folder, values, 1), Precision::kFloat);
  ScanRequest request;
  request.want_mean = true;
  const SequenceScan expected = scan_sequence(*scores.rows, request);
  PrefetchingEngine engine;
  CHECK_FALSE(scan_on_device(scores, engine));
  CHECK(scores.prefetch == nullptr);
  engine.sums = sums;
  const auto found = scan_on_device(scores, engine);
  REQUIRE(found);
  CHECK(found->mean == expected.mean);
  CHECK(found->masked == 1);
  CHECK(scores.prefetch != nullptr);
  // What decoding asks for is what was copied.
  CHECK(engine.sequences == std::map<std::uint64_t, int>{{sequence_number(scores, {0, kLength}), 2}});
  CHECK(engine.sequences.count(sequence_number(scores, {0, kLength - 1})) == 0);
}

TEST_CASE("kept rows are the rows") {
  const TempFolder folder;
  const NpyArray values = array(folder, {1, 2, 3, 4, 5, 6}, 2);
  const auto cached = make_cached_rows(make_track_rows(
      values, {track("a", MissingPolicy::kZero), track("b", MissingPolicy::kZero)}, Precision::kFloat));
  RowBuffer buffer;
  CHECK(cached->bytes_per_row() == 0);
  const ScoreArray part = cached->read(1, 3, buffer);
  CHECK(part.f32[0] == 3);
  CHECK(part.f32[3] == 6);
}
