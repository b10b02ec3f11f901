#include "inputs/rows/missing_values.h"

#include "support/catch.h"

using namespace semicrf;

namespace {

Track track(const std::string& name) {
  Track made;
  made.name = name;
  return made;
}

}  // namespace

TEST_CASE("wanted bins are taken once, whatever is read") {
  MissingCounter counter({track("a")}, false);
  CHECK(counter.take(0, 100).empty());
  counter.want({{10, 20}, {30, 50}, {60, 61}});
  CHECK(counter.wanted_bins() == 31);
  using Ranges = std::vector<BinRange>;
  CHECK(counter.take(0, 10) == Ranges{});
  CHECK(counter.take(35, 40) == Ranges{{35, 40}});
  CHECK(counter.take(15, 45) == Ranges{{15, 20}, {30, 35}, {40, 45}});
  CHECK(counter.take(0, 100) == Ranges{{10, 15}, {45, 50}, {60, 61}});
  CHECK(counter.take(0, 100) == Ranges{});
}

TEST_CASE("counts of several sequences are added, and empty ones are named") {
  MissingCounter first({track("a"), track("b")}, true), second({track("a"), track("b")}, true);
  first.want({{0, 10}});
  second.want({{0, 5}});
  first.add(1, 2, 70);
  second.add(1, 5, 100);
  MissingSummary summary;
  summary.add("chr1", first);
  summary.add("chr2", second);
  REQUIRE(summary.lines().size() == 1);
  CHECK(summary.lines()[0] ==
        "b: 7 of 15 bins have no value, 170 bases in all have none, no value at all on chr2; bases without a "
        "value "
        "count as 0 (missing: zero)");
  CHECK(summary.summary() == "1 of 2 tracks lack values");
  REQUIRE(summary.warnings().size() == 1);
  CHECK(summary.warnings()[0].code == "track-without-values");
  CHECK(MissingSummary().lines().empty());
  CHECK(MissingSummary().summary().empty());
}
