// Teams whose ring of earlier starts has no room in shared memory: long durations of many labels, or here a
// card that has little of it.
#include <cstddef>
#include <memory>

#include "cuda/engine/cuda_engine_impl.h"
#include "parity/cuda/cuda_checks.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// The least shared memory with which a kernel that is unrolled for its labels has the ring elsewhere.
std::size_t little_memory(const ChainModel& model) {
  for (std::size_t bytes = 1 << 10; bytes < std::size_t{227} << 10; bytes += 256) {
    const cuda::TileConfig tile =
        cuda::choose_tile(model.num_labels, model.max_duration, sizeof(float), bytes, model.cut.right);
    if (tile.rows > 0 && !tile.ring_in_shared) return bytes;
  }
  return 0;
}

std::unique_ptr<Engine> make(const ChainModel& model, Precision precision) {
  if (precision == Precision::kDouble) return make_cuda(model, precision);
  constexpr std::size_t kMemory = std::size_t{1} << 40;
  return std::make_unique<cuda::CudaEngine<float>>(model, 0, "small", little_memory(model), kMemory, 1,
                                                   cuda::WorkRules{1});
}

}  // namespace

TEST_CASE("kernels with the ring in device memory equal the reference") {
  std::uint64_t seed = 881;
  for (const CaseKind kind :
       {CaseKind::kPlain, CaseKind::kBoundaryScores, CaseKind::kTails, CaseKind::kEverything}) {
    for (const CaseShape& shape : {CaseShape{300, 150, 3},
                                   {260, 100, 16},
                                   {230, 70, 17},
                                   {200, 90, 32},
                                   {150, 40, 33},
                                   {120, 64, 64}}) {
      DYNAMIC_SECTION(name_of(kind) << " K=" << shape.max_duration << " C=" << shape.num_labels) {
        const ModelCase sample = make_case(kind, shape, seed);
        REQUIRE(little_memory(sample.model) > 0);
        expect_none(check_case(make, sample), sample.description);
      }
      ++seed;
    }
  }
}
