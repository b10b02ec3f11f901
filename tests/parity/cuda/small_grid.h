// A grid of cases for sanitizers, which make everything ten to a hundred times slower.
#pragma once

#include "parity/cuda/cuda_checks.h"
#include "parity/cuda/head_cases.h"
#include "parity/cuda/plain_cases.h"

namespace semicrf::testing {

// Every kernel, with labels below and above a warp's, rings below and above a block's.
inline void check_small_grid() {
  std::uint64_t seed = 701;
  for (const CaseShape& shape : {CaseShape{100, 20, 5}, CaseShape{70, 17, 24}, CaseShape{50, 40, 33}}) {
    for (const CaseKind kind : {CaseKind::kPlain, CaseKind::kEverything, CaseKind::kMasks, CaseKind::kDyadic})
      check(make_case(kind, shape, seed++));
  }
  for (const CaseKind kind : {CaseKind::kEverything, CaseKind::kTails})
    expect_none(check_plain(make_plain, make_case(kind, {40, 17, 33}, seed)));
  check_together(make_case(CaseKind::kEverything, {200, 20, 5}, seed), {100, 1, 30, 16});
  check_paths_together(make_case(CaseKind::kEverything, {200, 20, 5}, seed), {100, 1, 30, 16});
  expect_none(check_few_heads(make_cuda));
}

}  // namespace semicrf::testing
