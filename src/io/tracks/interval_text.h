// Tracks as lines with positions: bedGraph, and tables whose columns have names or numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/tracks/track_text.h"

namespace semicrf {

inline constexpr std::size_t kBedGraphFields = 4;

struct FoundTable {
  TableLayout layout;
  std::vector<std::string> columns;
  std::size_t fields = 0;  // number of fields of a line
};

// What the first lines of a file say of a table: a header, which may be a comment, or lines that begin with
// chromosome, start and end. nullopt: they are none.
std::optional<FoundTable> table_of(const std::string& comment, const std::vector<std::string>& lines);

// bedGraph and tables.
std::unique_ptr<TrackTextReader> open_intervals(const TrackText& text, std::span<const std::size_t> columns,
                                                std::int64_t bin_size);

// Tracks as wig: fixedStep and variableStep.
//
// Values under the declarations of a file; positions count from 1 there. One column.
std::unique_ptr<TrackTextReader> open_wig(const std::string& path);

}  // namespace semicrf
