// What the names of labels, tracks and sequences may be.
#pragma once

#include <string>
#include <string_view>

namespace semicrf {

// Why `name` cannot be a name, or an empty string: names are not empty, are UTF-8 and hold no control
// characters (which includes tabs and line ends: names become a column of the outputs).
std::string name_problem(std::string_view name);

// The same of a sequence, whose name is the first column of BED files: it does not begin with #.
std::string sequence_name_problem(std::string_view name);

}  // namespace semicrf
