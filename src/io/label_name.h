// What the name of a label or track may be.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

// Why `name` (UTF-8) cannot be a name, or an empty string: names are not empty and hold no control characters
// (which includes tabs and line ends: names become a column of the outputs).
std::string name_problem(std::string_view name);

// The same of a name that a parameter file is to hold: names there are UTF-8.
std::string stored_name_problem(std::string_view name);

}  // namespace semicrf
