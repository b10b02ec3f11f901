#include "core/text/names.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("names with numbers are in the order of their numbers") {
  const std::vector<std::string> sorted = {"",
                                           "10a",
                                           "A",
                                           "A1",
                                           "A01",
                                           "A2",
                                           "A2b1",
                                           "A2b10",
                                           "A10",
                                           "B",
                                           "E1",
                                           "E2",
                                           "E10",
                                           "a",
                                           "a99999999999999999999",
                                           "a100000000000000000000"};
  std::vector<std::string> expected = sorted;
  // A01 and A1 have the same number: the bytes decide.
  std::swap(expected[3], expected[4]);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected.size(); ++j) {
      INFO(expected[i] << " before " << expected[j]);
      CHECK(natural_less(expected[i], expected[j]) == (i < j));
    }
}

TEST_CASE("ranks in natural order") {
  CHECK(natural_ranks({"E10", "E2", "E1"}) == std::vector<std::size_t>{2, 1, 0});
  CHECK(natural_ranks({}).empty());
}
