// The plain CUDA engine on a device against the reference engine. Without one every case says so and is
// skipped.
#include <iostream>
#include <string>

#include "cuda/engine/cuda_engine.h"
#include "parity/cuda/plain_cases.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

bool has_gpu() {
  const std::string obstacle = cuda_obstacle();
  if (!obstacle.empty()) std::cout << "skipped: no GPU: " << obstacle << std::endl;
  return obstacle.empty();
}

}  // namespace

TEST_CASE("the plain cuda engine equals the reference over lengths, durations and labels") {
  if (!has_gpu()) return;
  std::uint64_t seed = 2100;
  for (const CaseShape& shape : plain_shapes())
    for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kTails, CaseKind::kTies})
      expect_none(check_plain(make_plain, make_case(kind, shape, ++seed)));
}

TEST_CASE("the plain cuda engine equals the reference on every kind of model") {
  if (!has_gpu()) return;
  std::uint64_t seed = 2200;
  for (const CaseKind kind : all_case_kinds()) {
    DYNAMIC_SECTION(name_of(kind)) {
      for (const CaseShape& shape : {CaseShape{6, 4, 3}, {17, 40, 33}, {700, 24, 6}, {3000, 9, 2}})
        expect_none(check_plain(make_plain, make_case(kind, shape, ++seed)));
    }
  }
}

TEST_CASE("the plain cuda engine takes many labels, long durations and long sequences") {
  if (!has_gpu()) return;
  for (const CaseShape& shape : {CaseShape{70, 5, 300}, {400, 3000, 5}, {20'000, 12, 3}}) {
    expect_none(check_plain(make_plain, make_case(CaseKind::kPlain, shape, 501)));
    expect_none(check_plain(make_plain, make_case(CaseKind::kEverything, shape, 502)));
  }
}

TEST_CASE("the plain cuda engine equals the reference where segments have a shortest duration") {
  if (!has_gpu()) return;
  for (const double score : {kNegativeInfinity, -1e9, -1e5})
    expect_none(check_plain(make_plain, shortest_duration_case({257, 60, 33}, 20, score, 2301)));
}

TEST_CASE("the plain cuda engine decides ties of tails as the reference does") {
  if (!has_gpu()) return;
  for (int i = 0; i < 20; ++i)
    expect_none(check_plain(make_plain, tied_tails_case({40 + i, 1 + i % 4, 1 + i % 3}, 2351)));
}

TEST_CASE("the plain cuda engine equals the reference on chains of cut pieces") {
  if (!has_gpu()) return;
  std::uint64_t seed = 2400;
  for (const CaseKind kind : all_case_kinds())
    expect_none(check_plain_cut_edges(make_plain, make_case(kind, {300, 33, 3}, ++seed)));
}

TEST_CASE("the plain cuda engine follows a path in several launches") {
  if (!has_gpu()) return;
  expect_none(check_plain_long_path(make_plain));
}
