// A real NPY file, written by NumPy.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "io/arrays/npy_reader.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("real NPY: the pilot regions' five tracks") {
  const std::string path = SEMICRF_SHARED_DATA "/pilot_hg19/E065.200bp.npy";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: no file " << path);
    return;
  }
  const NpyArray array = NpyArray::open(path);
  CHECK(array.rows() == 140808);
  CHECK(array.columns() == 5);
  REQUIRE(array.data_f32() != nullptr);
  std::vector<float> rows(std::size_t{5} * 1000);
  array.read_rows(139000, 140000, rows.data());
  CHECK(std::equal(rows.begin(), rows.end(), array.data_f32() + std::size_t{5} * 139000));
  check_values(rows, 5, 139000, ValueRule::kFinite, path);
}
