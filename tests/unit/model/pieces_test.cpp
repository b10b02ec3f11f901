#include <random>

#include "model/bins.h"
#include "support/catch.h"

namespace semicrf {
namespace {

using Bins = std::vector<BinRange>;
using Bases = std::vector<BaseRange>;

PieceRequest request(std::int64_t length, std::int64_t bin_size) {
  PieceRequest result;
  result.length = length;
  result.bin_size = bin_size;
  return result;
}

TEST_CASE("a chromosome without regions is one piece") {
  CHECK(make_pieces(request(1000, 200)) == Bins{{0, 5}});
  CHECK(make_pieces(request(1001, 200)) == Bins{{0, 6}});
  CHECK(make_pieces(request(1, 200)) == Bins{{0, 1}});
  CHECK(count_bins(INT64_MAX, 1) == INT64_MAX);
}

TEST_CASE("regions are widened to bins; overlapping ones merge, touching ones stay apart") {
  CHECK(widen_to_bins({{250, 251}, {0, 1}, {990, 5000}, {-50, 10}, {7, 7}, {2000, 3000}}, 1000, 100) ==
        Bins{{0, 1}, {2, 3}, {9, 10}});
  CHECK(widen_to_bins({{0, 150}, {150, 300}}, 1000, 100) == Bins{{0, 3}});
  CHECK(widen_to_bins({{200, 300}, {0, 100}, {100, 200}}, 1000, 100) == Bins{{0, 1}, {1, 2}, {2, 3}});
  CHECK(widen_to_bins({{0, 500}, {100, 200}, {300, 900}}, 1000, 100) == Bins{{0, 9}});
}

TEST_CASE("excluded regions and missing bins cut the pieces") {
  PieceRequest cut = request(1000, 100);
  cut.exclude = {{150, 160}, {720, 810}};
  cut.missing = {{4, 5}, {8, 9}, {3, 3}};
  CHECK(make_pieces(cut) == Bins{{0, 1}, {2, 4}, {5, 7}, {9, 10}});
  cut.include = Bases{{0, 120}, {200, 300}, {300, 1000}};
  CHECK(make_pieces(cut) == Bins{{0, 1}, {2, 3}, {3, 4}, {5, 7}, {9, 10}});
  cut.include = Bases{};
  CHECK(make_pieces(cut).empty());
  cut.include.reset();
  cut.exclude = {{0, 1000}};
  CHECK(make_pieces(cut).empty());
}

TEST_CASE("pieces are what a mask of bins says") {
  const unsigned seed = std::random_device()();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto uniform = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    PieceRequest wanted = request(uniform(1, 300), uniform(1, 20));
    const std::int64_t bins = count_bins(wanted.length, wanted.bin_size);
    std::vector<int> included(static_cast<std::size_t>(bins), round % 2), kept;
    const auto mark = [&](std::vector<int>& mask, std::int64_t begin_base, std::int64_t end_base, int value) {
      for (std::int64_t base = begin_base; base < end_base; ++base) {
        mask[static_cast<std::size_t>(base / wanted.bin_size)] = value;
      }
    };
    if (round % 2 == 0) {
      wanted.include.emplace();
      for (int i = 0; i < 3; ++i) {
        const std::int64_t begin = uniform(0, wanted.length - 1), end = uniform(begin + 1, wanted.length);
        wanted.include->push_back({begin, end});
        mark(included, begin, end, 1);
      }
    }
    kept = included;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t begin = uniform(0, wanted.length - 1),
                         end = uniform(begin, std::min(begin + 30, wanted.length));
      wanted.exclude.push_back({begin, end});
      mark(kept, begin, end, 0);
      const std::int64_t first = uniform(0, bins - 1), last = uniform(first, bins);
      wanted.missing.push_back({first, std::min(last, first + 2)});
      for (std::int64_t bin = first; bin < wanted.missing.back().end; ++bin)
        kept[static_cast<std::size_t>(bin)] = 0;
    }
    std::vector<int> found(static_cast<std::size_t>(bins), 0);
    std::int64_t previous_end = 0;
    for (const BinRange& piece : make_pieces(wanted)) {
      REQUIRE(piece.begin >= previous_end);
      REQUIRE(piece.size() > 0);
      for (std::int64_t bin = piece.begin; bin < piece.end; ++bin)
        found.at(static_cast<std::size_t>(bin)) = 1;
      previous_end = piece.end;
    }
    REQUIRE(found == kept);
  }
}

}  // namespace
}  // namespace semicrf
