#include "parity/all_engines.h"
#include "parity/cut_edge_cases.h"
#include "support/catch.h"
#include "support/seeds.h"
#include "support/slow_build.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// Those that can afford the case, or all.
std::vector<MakeOne> makers(const std::vector<EngineOptions>& engines, const ModelCase* sample) {
  std::vector<MakeOne> all;
  for (const EngineOptions& options : engines)
    if (sample == nullptr || can_afford(options, *sample))
      all.push_back([options](const ChainModel& model) { return make_engine(options, model); });
  return all;
}

}  // namespace

TEST_CASE("engines that know cut edges equal the chain with roles on every kind of model") {
  const std::uint64_t first = test_seed(9000);
  std::uint64_t seed = first;
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      for (const CaseShape shape : {CaseShape{5, 3, 2},
                                    {1, 2, 3},
                                    {16, 1, 3},
                                    {17, 40, 2},
                                    {33, 16, 5},
                                    {64, 17, 3},
                                    {100, 33, 4},
                                    {of_long_test(257), 32, 3},
                                    {of_long_test(140), 100, 3}}) {
        const ModelCase sample = make_case(kind, shape, ++seed);
        check_cut_edges(makers(fast_engines(), &sample), sample);
      }
    }
  }
}

// More than a chunk: of the cpu engine; and runs side by side, of the CUDA engine.
TEST_CASE("engines that know cut edges equal the chain with roles over chunks and runs") {
  const std::uint64_t seed = test_seed(9400);
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kTails, CaseKind::kLongTail, CaseKind::kPeriodicLate}) {
    const ModelCase sample = make_case(kind, {of_long_test(8197), 40, 2}, seed);
    check_cut_edges(makers(cpu_engines(), &sample), sample);
    const ModelCase short_one = make_case(kind, {of_long_test(1500), 20, 2}, seed);
    check_cut_edges(makers(cuda_engines(), nullptr), short_one);
  }
}

TEST_CASE("several cut sequences at once equal one after the other") {
  check_cut_batches(makers(cuda_engines(), nullptr), test_seed(9500));
}
