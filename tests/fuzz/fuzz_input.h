// What the fuzz harnesses share: the bytes of one run as a file, and checks that end the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace semicrf::fuzz {

// Ends the process, which the fuzzer reports with the input.
[[noreturn]] void fail(const char* what);

inline void require(bool right, const char* what) {
  if (!right) fail(what);
}

// Puts `bytes` into a file in memory and returns its path, which stays valid until the next call.
std::string as_file(std::span<const std::uint8_t> bytes);

// Runs `work`. A reader may refuse its input with one of the errors that are shown to the user, and with
// nothing else: std::bad_alloc and std::logic_error are findings.
void allow_refusal(const std::function<void()>& work);

inline std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One input; each harness defines it.
void run(std::span<const std::uint8_t> bytes);

}  // namespace semicrf::fuzz
