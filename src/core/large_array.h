// Arrays so large that the pages they take in are what costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace semicrf {

// Leaves elements that resize() adds without a value.
template <class T>
struct WithoutValues : std::allocator<T> {
  WithoutValues() = default;
  template <class U>
  WithoutValues(const WithoutValues<U>&) noexcept {}

  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    std::construct_at(at, std::forward<Values>(values)...);
  }
};

// A vector whose memory is taken in by the threads that fill it, not by the one that makes room: every
// element must be written before it is read.
template <class T>
using LargeArray = std::vector<T, WithoutValues<T>>;

// As values.resize(count), but values in memory that is too small are lost. Asks the system for huge pages
// (2 MiB in place of 4 KiB) behind memory that is new and large: taking in a chromosome's rows costs as much
// as computing on them otherwise.
template <class T, class Allocator>
void resize_large(std::vector<T, Allocator>& values, std::size_t count) {
#if defined(__linux__)
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;
  if (count > values.capacity() && count * sizeof(T) >= 4 * kHugePage) {
    values.clear();
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
