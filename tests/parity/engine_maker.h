// How checks of one engine get it, and how they say what is wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "support/catch.h"

namespace semicrf::testing {

using MakeEngine = std::function<std::unique_ptr<Engine>(ChainModel, Precision)>;

// Of the checks that run in every precision. An emulated device takes so long that its longest cases have
// one.
using Precisions = std::vector<Precision>;
inline const Precisions kBothPrecisions{Precision::kFloat, Precision::kDouble};

// Fails the running test case with every problem.
inline void expect_none(const std::vector<std::string>& problems,
                        const std::string& description = "checked") {
  for (const std::string& problem : problems) FAIL_CHECK(problem);
  SUCCEED(description);
}

inline void append(std::vector<std::string>& problems, std::vector<std::string> more) {
  for (std::string& problem : more) problems.push_back(std::move(problem));
}

}  // namespace semicrf::testing
