#include "pipeline/sequence_scan.h"

#include <cmath>

#include "core/error.h"
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
