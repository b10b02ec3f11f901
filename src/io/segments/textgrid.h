// Praat TextGrid files, in the long and the short text format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace semicrf {

struct TextGridInterval {
  double begin = 0;  // seconds
  double end = 0;
  std::string text;       // UTF-8
  std::int64_t line = 0;  // several intervals may share one: what separates them is white space of any kind
};

struct TextGridTier {
  std::string name;
  bool of_intervals = true;  // else of points, whose marks are not kept
  std::vector<TextGridInterval> intervals;
};

// Whether the first bytes are those of a TextGrid.
bool is_textgrid(const std::string& path);

// UTF-8, or UTF-16 with a byte order mark. InputError with the line where it is no TextGrid, cut, or longer
// than 64 MiB.
std::vector<TextGridTier> read_textgrid(const std::string& path);

}  // namespace semicrf
