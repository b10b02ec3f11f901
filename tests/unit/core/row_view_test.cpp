#include "core/row_view.h"

#include <cstdint>
#include <vector>

#include "core/counts.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("a row view finds the numbers of rows with indices of any type") {
  std::vector<double> values{0, 1, 2, 10, 11, 12};
  const RowView rows(values, 3);
  const std::int64_t t = 1;
  CHECK(rows(t, 2) == 12);
  CHECK(rows(std::size_t{0}, 1) == 1);
  rows(t - 1, 0) = 5;
  CHECK(values.front() == 5);
  CHECK(rows.row(t).size() == 3);
  CHECK(rows.row(1)[1] == 11);
  const std::vector<float> constant{1, 2, 3, 4};
  CHECK(RowView(constant, 2)(1, 0) == 3);
  CHECK(RowView(constant.data() + 1, 2).row(0)[1] == 3);
}

TEST_CASE("a ratio of whole numbers is a real number, and a count an int") {
  CHECK(ratio(1, 4) == 0.25);
  CHECK(ratio(-3, std::size_t{2}) == -1.5);
  CHECK(ratio(0.5, std::int64_t{2}) == 0.25);
  CHECK(count_of(std::vector<int>(3)) == 3);
}
