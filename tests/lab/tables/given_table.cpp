// Seconds and log Z of the product on a problem that another program is given, too (peers.py).
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "core/compensated_sum.h"
#include "engine/batch.h"
#include "lab/peers/given_problem.h"
#include "lab/product.h"
#include "lab/tables/table.h"

namespace semicrf::lab {
namespace {

constexpr double kEnough = 0.2;  // seconds after which a short pass is not repeated
constexpr int kMostRepeats = 5;

struct Timed {
  double seconds = 0, log_partition = 0;  // the least of the repeats; the sum over the sequences
};

template <class Real>
Timed time_pass(const std::string& name, const GivenProblem& problem, const std::vector<Real>& emissions,
                bool backward) {
  const auto engine = product_engine(name, problem.chain());
  const std::vector<ScoreWindow> windows = problem.windows(emissions);
  std::vector<double> labels(problem.emissions.size());
  std::vector<PosteriorArrays> out(windows.size());
  for (std::size_t b = 0; b < out.size(); ++b)
    out[b].labels = labels.data() + b * static_cast<std::size_t>(problem.length * problem.labels);
  Timed found;
  double spent = 0;
  for (int repeat = 0; repeat < kMostRepeats && (repeat == 0 || spent < kEnough); ++repeat) {
    ExpectedCounts counts;
    const double begin = seconds_for(name);
    const auto results = backward ? engine->batches().posteriors_of(windows, out, &counts)
                                  : engine->batches().log_partitions(windows);
    const double seconds = seconds_for(name) - begin;
    CompensatedSum sum;
    for (const SequenceResult& result : results) sum.add(result.log_partition);
    found = {repeat == 0 ? seconds : std::min(found.seconds, seconds), sum.value()};
    spent += seconds;
  }
  return found;
}

}  // namespace

void time_given_problem(const std::string& path) {
  const GivenProblem problem = read_given_problem(path);
  const std::vector<float> single = problem.single_emissions();
  for (const std::string& name : product_engines()) {
    if (name == "reference") continue;
    for (const bool backward : {false, true}) {
      const Timed found = name.ends_with("float") ? time_pass(name, problem, single, backward)
                                                  : time_pass(name, problem, problem.emissions, backward);
      std::printf("%s\t%s\t%.6g\t%.17g\n", name.c_str(), backward ? "forward+backward" : "forward",
                  found.seconds, found.log_partition);
    }
  }
}

}  // namespace semicrf::lab
