// The files that are mapped into memory, for the handler of SIGBUS: a page that was cut off the file kills
// who touches it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace semicrf {

// Registers `size` bytes at `data`, which are those of the file `path`, for as long as the object lives.
class MappedRegion {
 public:
  MappedRegion() = default;
  MappedRegion(const void* data, std::size_t size, const std::string& path);
  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  ~MappedRegion() { release(); }
  void release() noexcept;

  struct Entry;

 private:
  Entry* entry_ = nullptr;
};

// The line of the error, with its end, where `address` is in a registered region; else empty.
// Async-signal-safe.
std::string_view line_of_lost_page(const void* address) noexcept;

}  // namespace semicrf
