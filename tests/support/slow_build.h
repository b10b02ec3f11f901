// What a build with sanitizers, or one that runs under an emulator (SEMICRF_SLOW_TESTS), is too slow for.
#pragma once

#include <cstdint>

namespace semicrf::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(SEMICRF_SLOW_TESTS)
inline constexpr bool kSlowBuild = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif
#else
inline constexpr bool kSlowBuild = false;
#endif

// Positions, repetitions or ranks of a long test: a quarter of them there.
constexpr std::int64_t of_long_test(std::int64_t count) { return kSlowBuild ? count / 4 : count; }

// Which cases of a long grid are tried, by their numbers: every third there.
constexpr bool is_tried(std::uint64_t number) { return !kSlowBuild || number % 3 == 0; }

}  // namespace semicrf::testing
