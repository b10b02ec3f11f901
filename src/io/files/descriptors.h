// Open descriptors: the three standard ones, and paths that stand for a descriptor (/dev/stdout, /dev/fd/3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace semicrf {

// Opens /dev/null on those of the descriptors 0, 1 and 2 that are closed, in the direction that they are not
// used in: no file that is opened later gets such a number, and a use of the descriptor still fails. To be
// called first of all.
void reserve_standard_descriptors() noexcept;

// The descriptor of a process that `path` stands for, through whatever links.
struct DescriptorPath {
  int number = -1;
  bool own = true;  // a descriptor that this process has open
};

// Nothing for a path that is a file of its own. "-" is standard output.
std::optional<DescriptorPath> descriptor_of(const std::string& path);

// Whether `descriptor` is open for writing.
bool is_writable_descriptor(int descriptor) noexcept;

// How many files the process may have open at once.

// Raises the process's limit to `count` as far as the system lets it. Returns how many may be open: `count`
// or more where that is allowed.
std::int64_t allow_open_files(std::int64_t count);

}  // namespace semicrf
