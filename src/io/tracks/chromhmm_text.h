// Tracks as ChromHMM has them: a file for each chromosome of a cell type, a column for each mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/tracks/track_text.h"

namespace semicrf {

// Whether these are the first lines of such a file: cell and chromosome, names of marks, as many numbers.
bool is_chromhmm_text(const std::vector<std::string>& lines);

// A file that begins with these lines. Names with "_signal" are those of signals.
TrackText chromhmm_file(const std::string& path, const std::vector<std::string>& lines);

// The files of a folder whose names end in _binary.txt or in _signal.txt, perhaps with .gz. ReadError: it
// cannot be read, or has none. InputError: both kinds; files that differ in their marks; a chromosome of
// a cell twice.
TrackText chromhmm_folder(const std::string& path);

std::unique_ptr<TrackTextReader> open_chromhmm(const TrackText& text, std::span<const std::size_t> columns,
                                               const std::string& cell, std::int64_t bin_size);

}  // namespace semicrf
