// Catch2, version 2 or 3.
#pragma once

#if SEMICRF_CATCH2_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace semicrf::test {

// A matcher of texts that hold `part`, whose name the versions spell differently.
inline auto holds(const std::string& part) {
#if SEMICRF_CATCH2_V3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Contains(part);
#endif
}

}  // namespace semicrf::test
