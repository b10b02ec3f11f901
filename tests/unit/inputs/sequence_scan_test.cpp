#include <cmath>
#include <map>

#include "core/error.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "inputs/piece_source.h"
#include "support/catch.h"
#include "support/files/npy_fixture.h"
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
  bool sound = true;

  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& whole) override {
    ++sequences[whole.sequence];
    return std::make_unique<Told>(sums, sound);
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
    Told(std::optional<BlockSums> told, bool said) : sums(std::move(told)), is_sound(said) {}
    bool sound(std::int64_t) override { return is_sound; }
    std::optional<BlockSums> block_sums(double) override { return sums; }
    std::optional<BlockSums> sums;
    bool is_sound;
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

TEST_CASE("tracks whose values are their features are used where they lie") {
  const TempFolder folder;
  const double nan = std::nan("");
  std::vector<double> values;
  for (int i = 0; i < 20000; ++i) values.push_back(i / 8.0);
  const std::vector<Track> tracks = {track("a", MissingPolicy::kZero), track("b", MissingPolicy::kSkip)};
  RowBuffer buffer;
  const auto rows = make_track_rows(array(folder, values, 2), tracks, Precision::kFloat, 2);
  const float* const first = rows->in_place().f32;
  REQUIRE(first != nullptr);
  CHECK(rows->read(3000, 9000, buffer).f32 == first + 6000);
  CHECK(buffer.missing == std::vector<std::uint8_t>(6000, 0));
  // Values that are missing are replaced, so that they lie elsewhere; the others are the same.
  values[2 * 7000 + 1] = nan;
  const auto lacking = make_track_rows(array(folder, values, 2), tracks, Precision::kFloat, 2);
  const float* const raw = lacking->in_place().f32;
  CHECK(lacking->read(0, 7000, buffer).f32 == raw);
  const float* const replaced = lacking->read(6000, 8000, buffer).f32;
  CHECK(lacking->in_place().empty());
  CHECK(replaced[2001] == 0);
  CHECK(replaced[2000] == 2 * 7000 / 8.0);
  CHECK(buffer.missing[1000] == 1);
  CHECK(buffer.missing[999] == 0);
  // Other tracks, and other precisions than that of the array, are copied.
  std::vector<Track> moved = tracks;
  moved[1].center = 1;
  CHECK(make_track_rows(array(folder, values, 2), moved, Precision::kFloat)->in_place().empty());
  moved[1] = track("b", MissingPolicy::kSkip, Transform::kAsinh);
  CHECK(make_track_rows(array(folder, values, 2), moved, Precision::kFloat)->in_place().empty());
  CHECK(make_track_rows(array(folder, values, 2), tracks, Precision::kDouble)->in_place().empty());
}

TEST_CASE("a device says whether a sequence of tracks lacks a value") {
  const TempFolder folder;
  Parameters parameters;
  parameters.labels.resize(2);
  parameters.tracks = {track("a", MissingPolicy::kSkip)};
  parameters.emission = EmissionHead{{1, -1}, {0, 0}};
  std::vector<double> values(1 << 18, 0.5);
  SequenceScores scores;
  scores.heads = std::make_shared<LinearHeads>(parameters);
  PrefetchingEngine engine;
  for (const bool sound : {false, true}) {
    scores.rows = make_track_rows(array(folder, values, 1), parameters.tracks, Precision::kFloat);
    scores.number = 0;
    engine.sound = sound;
    CHECK(scan_on_device(scores, engine, false).has_value() == sound);
    CHECK((scores.prefetch != nullptr) == sound);
    scores.prefetch.reset();
  }
  // What was said to be sound is not looked at again: here it is not.
  values[1000] = std::nan("");
  scores.rows = make_track_rows(array(folder, values, 1), parameters.tracks, Precision::kFloat);
  scores.number = 0;
  REQUIRE(scan_on_device(scores, engine, false));
  RowBuffer buffer;
  CHECK(std::isnan(scores.rows->read(900, 1100, buffer).f32[100]));
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
  CHECK_FALSE(scan_on_device(scores, engine, true));
  CHECK(scores.prefetch == nullptr);
  engine.sums = sums;
  const auto found = scan_on_device(scores, engine, true);
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
