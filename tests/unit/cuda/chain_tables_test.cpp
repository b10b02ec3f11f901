// The tables the kernels read, against their definition.
#include "cuda/tables/chain_tables.h"

#include <algorithm>
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
  const auto at = [](int row, int width, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(width) + static_cast<std::size_t>(column);
  };
  for (const auto layout : {DurationLayout::kByDistance, DurationLayout::kByGroup}) {
    const bool by_group = layout == DurationLayout::kByGroup;
    const ChainTables<double, LogSemiring> t(model, Direction::kForward, 3, 4, layout);
    CHECK(t.offsets == 2);
    CHECK(t.ring_blocks == 2);
    for (int row = 0; row <= t.offsets; ++row) {
      const bool distance = row > 0 && !by_group;
      for (int x = 0; x < (distance ? 31 : 16); ++x) {
        const int k = 16 * row + x + (distance ? -14 : 1);
        for (int c = 0; c < 3; ++c) {
          double number = t.near_table[at(c, kBlock, x % 16)];
          if (distance) number = t.duration_table[at((row - 1) * 3 + c, kDistanceRow, x)];
          if (by_group) number = t.duration_table[at(row * 3 + c, kBlock, turned(x, turn_of(c)))];
          const double bias = c < 2 && k <= 20 ? model.duration_score(k, c) : kNegativeInfinity;
          INFO("by group=" << by_group << " row=" << row << " k=" << k << " c=" << c);
          if (bias == kNegativeInfinity) {
            CHECK(number == 0.0);
          } else {
            CHECK(std::log(number) + t.duration_bound[at(row, 3, c)] * kLog2 == Approx(bias));
            CHECK(number < 2.0);
          }
          if (row == 0) CHECK(t.near_table[at(c, kBlock, x)] == number);
        }
      }
    }
  }
}

// What a distance holds at least says which others may be left out: it must not be too much, nor say anything
// of distances at which some durations are forbidden.
TEST_CASE("spreads say how far the least duration of a distance is below its bound") {
  ChainModel model = small_model();
  model.max_duration = 40;
  model.duration_bias.clear();
  for (int k = 1; k <= 40; ++k) {
    model.duration_bias.push_back(-0.5 * k);
    model.duration_bias.push_back(k == 3 ? kNegativeInfinity : 0.125 * k);
  }
  for (const auto layout : {DurationLayout::kByDistance, DurationLayout::kByGroup}) {
    const bool by_group = layout == DurationLayout::kByGroup;
    const auto check = [&](const auto& t, double unit) {
      CHECK(t.duration_spread.size() == t.duration_bound.size());
      const auto bound = [&](int o, int c) {
        const auto i = static_cast<std::size_t>(3 * o + c);
        return by_group ? std::max(t.duration_bound[i - 3], t.duration_bound[i]) : t.duration_bound[i];
      };
      const auto least = [&](int o, int c) {
        return bound(o, c) - t.duration_spread[static_cast<std::size_t>(3 * o + c)];
      };
      // Distance 1 has durations 2 to 32, distance 2 some beyond K.
      CHECK(least(1, 0) == static_cast<int>(std::floor(-0.5 * 32 / unit)));
      CHECK(t.duration_spread[3 + 1] == kWidestSpread);
      CHECK(t.duration_spread[2 * 3] == kWidestSpread);
      CHECK(t.duration_spread[3 + 2] == kWidestSpread);
    };
    check(ChainTables<float, LogSemiring>(model, Direction::kForward, 3, 4, layout), kLog2);
    check(ChainTables<double, MaxSemiring>(model, Direction::kForward, 3, 4, layout), 1.0);
  }
}

TEST_CASE("the backward tables are those of the mirrored chain") {
  const ChainModel model = small_model();
  const ChainTables<double, MaxSemiring> ahead(model, Direction::kForward, 2, 2, DurationLayout::kByGroup);
  const ChainTables<double, MaxSemiring> back(model, Direction::kBackward, 2, 2, DurationLayout::kByGroup);
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

// What an older start may add when a newer one of its block is far larger, and how much room sums need below.
TEST_CASE("tables say whether a longer duration may count more than one that is less than a block shorter") {
  ChainModel model;
  model.num_labels = 1;
  model.max_duration = 60;
  model.transition = {0};
  model.duration_bias.assign(60, -1.0);
  const auto tables = [&] {
    return ChainTables<float, LogSemiring>(model, Direction::kForward, 1, 1, DurationLayout::kByDistance);
  };
  CHECK(tables().gaps == 0);
  CHECK(tables().most_above == 30 + 127);
  CHECK(tables().room_above == 48 - 127);
  model.duration_bias[40] = -40;  // beyond the first block
  CHECK(tables().gaps == 1);
  CHECK(tables().room_above == 48 - 127);
  CHECK(ChainTables<float, MaxSemiring>(model, Direction::kForward, 1, 1, DurationLayout::kByDistance).gaps ==
        0);
  for (std::size_t k = 40; k < 60; ++k) model.duration_bias[k] = -40;  // longer ones are no better
  CHECK(tables().gaps == 0);
  model.duration_bias[3] = -20;
  CHECK(tables().gaps == 0);
  CHECK(tables().room_above == -127);
  model.duration_bias[3] = -100;
  CHECK(tables().gaps == 1);
  CHECK(tables().most_above == 4 + 127);
  CHECK(tables().room_above == -127);
}
