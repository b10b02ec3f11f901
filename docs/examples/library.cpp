// The model of a parameter file, whose name is the argument, on scores that lie in memory
// (docs/api/library.md).
#include <cstdio>
#include <semicrf.hpp>
#include <vector>

int main(int, char** arguments) {
  using namespace semicrf::lib;
  const Model model = Model::read(arguments[1]);
  const Engine engine(model, {.backend = "cpu", .threads = 2});
  const std::vector<float> scores(static_cast<std::size_t>(1000 * model.columns()), 0.5F);
  const semicrf_sequence sequence = {.scores = array_of(scores.data(), 1000, model.columns())};
  const Result result = engine.compute({&sequence, 1}, {.log_partition = 1, .best_path = 1});
  std::printf("log Z %.6g, %zu segments\n", result.number(0, SEMICRF_LOG_PARTITION),
              result.segments(0, SEMICRF_BEST_PATH).size());
}
