// What the name of an output stands for.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

inline constexpr std::string_view kStandardOutput = "-";

// "standard output" for "-", else the path, for messages.
std::string output_display_name(const std::string& path);

// The regular file that writing to `path` creates or replaces, as an absolute path with links resolved. Empty
// when the bytes go straight to `path` itself: standard output, or something that exists and is neither a
// regular file nor a folder.
std::string resolve_output(const std::string& path);

// Whether a file of that name is written as BGZF.
bool is_compressed_name(std::string_view path);

// The folder part of a resolved target.
std::string folder_of(const std::string& target);

}  // namespace semicrf
