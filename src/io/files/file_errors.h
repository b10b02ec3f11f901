// What the system says of files: its errors as those that reach the user, open descriptors and their number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/error.h"

namespace semicrf {

// "No space left on device" for an errno value.
std::string errno_text(int error_number);

// A failure to write `path`, which an errno value explains; `action` such as "cannot be written".
WriteError write_error(const std::string& path, const std::string& action, int error_number);

// A failure to open or read `path`.
ReadError read_error(const std::string& path, const std::string& action, int error_number);

// Opens /dev/null on those of the descriptors 0, 1 and 2 that are closed, in the direction that they are not
// used in: no file that is opened later gets such a number, and a use of the descriptor still fails. To be
// called first of all.
void reserve_standard_descriptors() noexcept;

// The descriptor of a process that a path (/dev/stdout, /dev/fd/3) stands for, through whatever links.
struct DescriptorPath {
  int number = -1;
  bool own = true;  // a descriptor that this process has open
};

// Nothing for a path that is a file of its own. "-" is standard output.
std::optional<DescriptorPath> descriptor_of(const std::string& path);

// Whether `descriptor` is open for writing.
bool is_writable_descriptor(int descriptor) noexcept;

// Raises the process's limit to `count` as far as the system lets it. Returns how many may be open: `count`
// or more where that is allowed.
std::int64_t allow_open_files(std::int64_t count);

}  // namespace semicrf
