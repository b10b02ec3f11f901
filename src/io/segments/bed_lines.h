// What a line of a BED file is: a header, data, or the line of another format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace semicrf {

// Splits a line at its tabs, or at its blanks where it has no tab, into `fields`, reusing their memory.
void split_bed(std::string_view line, std::vector<std::string>& fields);

// Whether the line is empty, a comment (#) or a header of a genome browser: "track" with KEY=VALUE behind it,
// or "browser" with one of its words. A chromosome may be called track or browser, too.
bool is_bed_header(std::string_view line);

// The format that a line, which is no data of a BED file, tells: "VCF", "GFF"; empty: not known.
std::string_view other_format(std::string_view line);

}  // namespace semicrf
