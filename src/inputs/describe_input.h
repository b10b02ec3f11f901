// What is in a file, for `semicrf info`.
#pragma once

#include <string>

namespace semicrf {

// Several lines about a parameter file, a bigWig file, an array or an archive of arrays; the file is checked
// as far as its structure goes. InputError or ReadError when it is none of these, or damaged.
std::string describe_input(const std::string& path);

}  // namespace semicrf
