// The file that peers.py writes, read back.
#include "lab/peers/given_problem.h"

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace semicrf;
using namespace semicrf::lab;

TEST_CASE("given problem: shapes and scores are those of the file, a shorter file is refused") {
  const test::TempFolder folder;
  const std::int64_t shape[] = {2, 3, 4, 1};  // B, T, K, C
  std::vector<double> values(2 * 3 * 1 + 1 + 4);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  std::string content(reinterpret_cast<const char*>(shape), sizeof shape);
  content.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  const GivenProblem problem = read_given_problem(folder.add("problem.bin", content));
  CHECK(problem.chain().max_duration == 4);
  CHECK(problem.transition == std::vector<double>{6});
  CHECK(problem.duration == std::vector<double>{7, 8, 9, 10});
  const std::vector<float> single = problem.single_emissions();
  const auto windows = problem.windows(single);
  REQUIRE(windows.size() == 2);
  CHECK(windows[1].length == 3);
  CHECK(windows[1].emissions.f32[0] == 3);
  content.resize(content.size() - sizeof(double));
  CHECK_THROWS(read_given_problem(folder.add("short.bin", content)));
}
