#include "fuzz/fuzz_input.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "core/error.h"

namespace semicrf::fuzz {

void fail(const char* what) {
  std::fprintf(stderr, "wrong: %s\n", what);
  std::abort();
}

std::string as_file(std::span<const std::uint8_t> bytes) {
  static const int file = memfd_create("input", MFD_CLOEXEC);
  require(file >= 0 && ftruncate(file, 0) == 0 &&
              pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "the file in memory could not be written");
  return "/proc/self/fd/" + std::to_string(file);
}

void allow_refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(!message.empty() && message.find('\n') == std::string_view::npos, "an error message is one line");
  }
}

}  // namespace semicrf::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  semicrf::fuzz::run({data, size});
  return 0;
}
