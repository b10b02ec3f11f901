// Errors of system calls as the errors that reach the user.
#pragma once

#include <string>

#include "core/error.h"

namespace semicrf {

// "No space left on device" for an errno value.
std::string errno_text(int error_number);

// A failure to write `path`, which an errno value explains; `action` such as "cannot be written".
WriteError write_error(const std::string& path, const std::string& action, int error_number);

// A failure to open or read `path`.
ReadError read_error(const std::string& path, const std::string& action, int error_number);

}  // namespace semicrf
