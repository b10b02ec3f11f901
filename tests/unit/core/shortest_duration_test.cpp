#include "core/chain_model.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("the shortest duration that some label allows") {
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 3;
  model.duration_bias = {kNegativeInfinity, kNegativeInfinity, kNegativeInfinity, 0, 0, 0};
  CHECK(shortest_duration(model) == 2);
  model.duration_bias.assign(6, kNegativeInfinity);
  CHECK(shortest_duration(model) == 0);
  model.log_tail.assign(2, -0.1);  // a tail goes on from the longest duration, so it allows nothing by itself
  CHECK(shortest_duration(model) == 0);
}
