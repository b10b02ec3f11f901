// Counts of methylation calls as text: bedMethyl, of ENCODE and of modkit, and the coverage files of Bismark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/tracks/track_text.h"

namespace semicrf {

// The names of the two columns of each of them, in their order.
std::vector<std::string> methylation_columns();

// Which of them the first lines of a file are; nullopt: none.
std::optional<TrackTextFormat> methylation_format_of(const std::vector<std::string>& lines);

// Rows are the bins of `bin_size` bases that have calls: the sums over the sites that begin in the bin of the
// methylated calls and of all calls, whatever the strand. Sites without a call are passed over, and so are,
// in files of modkit, modifications other than 5mC. InputError with the line, beside those of
// TrackTextReader: another number of columns, counts that are no whole numbers or above 1e9, more methylated
// calls than calls, a percentage outside 0..100, sites that are not sorted.
std::unique_ptr<TrackTextReader> open_methylation(const TrackText& text, std::span<const std::size_t> columns,
                                                  std::int64_t bin_size);

}  // namespace semicrf
