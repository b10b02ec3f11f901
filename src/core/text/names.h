// What the names of labels, tracks and sequences may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace semicrf {

// Why `name` cannot be a name, or an empty string: names are not empty, are UTF-8 and hold no control
// characters (which includes tabs and line ends: names become a column of the outputs).
std::string name_problem(std::string_view name);

// Why `name` cannot be that of a sequence, which is the first column of BED files: it does not begin with #
// either.
std::string sequence_name_problem(std::string_view name);

// The most labels that a model or a segmentation may have.
inline constexpr std::int64_t kMaxLabels = 2000;

// InputError at this place of a file, where so many different names in column 4 cannot be labels.
void check_label_count(std::size_t labels, const std::string& path, const std::string& where);

}  // namespace semicrf
