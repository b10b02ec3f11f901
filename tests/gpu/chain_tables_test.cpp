// The tables the kernels read, against their definition.
#include "cuda/chain_tables.h"

#include <cmath>

#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::cuda;

namespace {

ChainModel small_model() {
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 20;
  model.transition = {-1.0, -2.5, kNegativeInfinity, -0.25};
  for (int k = 1; k <= 20; ++k) {
    model.duration_bias.push_back(-0.5 * k);
    model.duration_bias.push_back(k == 3 ? kNegativeInfinity : 0.125 * k);
  }
  model.start_scores = {0.5, -0.5};
  return model;
}

}  // namespace

TEST_CASE("duration tables hold every duration at its place, relative to its bound") {
  const ChainModel model = small_model();
  const ChainTables<double, LogSemiring> t(model, Direction::kForward, 3, 4);
  CHECK(t.offsets == 2);
  CHECK(t.ring_blocks == 2);
  for (int o = 0; o <= t.offsets; ++o) {
    for (int x = 0; x < (o == 0 ? 16 : 31); ++x) {
      const int k = o == 0 ? 1 + x : 16 * o - 14 + x;
      for (int c = 0; c < 3; ++c) {
        const auto at = [](int row, int width, int column) {
          return static_cast<std::size_t>(row * width + column);
        };
        const double number =
            o == 0 ? t.near_table[at(c, kBlock, x)] : t.offset_table[at((o - 1) * 3 + c, kTableRow, x)];
        const double bias = c < 2 && k <= 20 ? model.duration_score(k, c) : kNegativeInfinity;
        INFO("o=" << o << " k=" << k << " c=" << c);
        if (bias == kNegativeInfinity) {
          CHECK(number == 0.0);
        } else {
          CHECK(std::log(number) + t.offset_bound[at(o, 3, c)] * kLog2 == Approx(bias));
          CHECK(number < 2.0);
        }
      }
    }
  }
}

TEST_CASE("the backward tables are those of the mirrored chain") {
  const ChainModel model = small_model();
  const ChainTables<double, MaxSemiring> ahead(model, Direction::kForward, 2, 2);
  const ChainTables<double, MaxSemiring> back(model, Direction::kBackward, 2, 2);
  CHECK(back.transition_log[1] == kNegativeInfinity);
  CHECK(back.transition_log[2] == -2.5);
  CHECK_FALSE(back.initial_transition);
  CHECK(ahead.first_scores[0] == 0.5);
  CHECK(back.last_scores[0] == 0.5);
  for (std::size_t from = 0; from < 2; ++from) {
    for (std::size_t to = 0; to < 2; ++to) {
      const double score =
          ahead.transition[from * 2 + to] + ahead.source_bound[from] + ahead.transition_bound[to];
      CHECK(score == model.transition[from * 2 + to]);
      CHECK(back.transition[to * 2 + from] == ahead.transition[from * 2 + to]);
    }
  }
}
