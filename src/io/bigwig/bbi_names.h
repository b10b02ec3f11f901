// Which names of outputs mean bigWig and bigBed.
#pragma once

#include <string_view>

namespace semicrf {

inline bool is_bigwig_name(std::string_view path) {
  return path.ends_with(".bw") || path.ends_with(".bigwig") || path.ends_with(".bigWig");
}

inline bool is_bigbed_name(std::string_view path) {
  return path.ends_with(".bb") || path.ends_with(".bigbed") || path.ends_with(".bigBed");
}

// Either: a file with an index of its own and without header lines.
inline bool is_indexed_name(std::string_view path) { return is_bigwig_name(path) || is_bigbed_name(path); }

}  // namespace semicrf
