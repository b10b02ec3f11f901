// Which names of outputs mean bigWig and bigBed.
#pragma once

#include <string_view>

#include "io/files/output_endings.h"

namespace semicrf {

inline bool is_bigwig_name(std::string_view path) { return has_ending(path, {".bw", ".bigwig"}); }

inline bool is_bigbed_name(std::string_view path) { return has_ending(path, {".bb", ".bigbed"}); }

// Either: a file with an index of its own and without header lines.
inline bool is_indexed_name(std::string_view path) { return is_bigwig_name(path) || is_bigbed_name(path); }

}  // namespace semicrf
