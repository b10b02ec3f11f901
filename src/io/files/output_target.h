// What the name of an output stands for.
#pragma once

#include <string>
#include <string_view>

#include "io/files/output_endings.h"

namespace semicrf {

inline constexpr std::string_view kStandardOutput = "-";
inline constexpr std::string_view kStandardInput = "-";  // where a file is read

// "standard output" for "-", else the path, for messages.
std::string output_display_name(const std::string& path);

// The regular file that writing to `path` creates or replaces, as an absolute path with links resolved. Empty
// when the bytes go straight to `path` itself: an open descriptor (standard output, /dev/fd/3), or something
// that exists and is neither a regular file nor a folder.
std::string resolve_output(const std::string& path);

// The folder part of a resolved target.
std::string folder_of(const std::string& target);

}  // namespace semicrf
