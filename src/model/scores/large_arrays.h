// Arrays so large that the pages they take in are what costs.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace semicrf {

// As values.resize(count). Asks the system for huge pages (2 MiB in place of 4 KiB) behind memory that is new
// and large: taking in a chromosome's rows costs as much as computing on them otherwise.
template <class T>
void resize_large(std::vector<T>& values, std::size_t count) {
#if defined(__linux__)
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  if (count > values.capacity() && count * sizeof(T) >= 4 * kHugePage) {
    values.reserve(count);
    const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(values.data()) % kHugePage;
    const std::size_t first = (kHugePage - beyond) % kHugePage;
    const std::size_t bytes = (count * sizeof(T) - first) / kHugePage * kHugePage;
    // A request: without huge pages everything works as well.
    madvise(reinterpret_cast<char*>(values.data()) + first, bytes, MADV_HUGEPAGE);
  }
#endif
  values.resize(count);
}

}  // namespace semicrf
