// Few and small cases of every kernel on the emulated device, for builds with sanitizers.
#include "parity/cuda/small_grid.h"

#include "support/catch.h"

using namespace semicrf::testing;

TEST_CASE("emulated kernels stay inside their memory") { check_small_grid(); }
