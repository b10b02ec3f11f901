// Writes values of bins as bigWig, as NumPy arrays and as ChromHMM's binarised text.
#pragma once

#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "reads/bin_values.h"

namespace semicrf {

// Runs of equal values are one interval; chromosomes and bins without values have none.
void write_bigwig(const ReadGrid& grid, const BinValues& values, OutputFile& output);

// An array (T, F) float32 for every chromosome that some of the tracks has values on, a column per track.
// Where no track has any, the arrays of all chromosomes are zeros.
// Takes 16 bytes of memory for each value of the longest chromosome.
void write_npz(const ReadGrid& grid, const std::vector<const BinValues*>& tracks, OutputFile& output);

// Whether binarised tracks have values on the chromosome: then write_binary_text() makes a file of it.
bool has_binary_text(const std::vector<const BinValues*>& tracks, std::size_t chromosome);

// CELL, tab, chromosome; a line with the marks; a line of 0, 1 or 2 per bin. `tracks`: by mark, null: no
// data, 2.
void write_binary_text(const ReadGrid& grid, std::size_t chromosome, const std::string& cell,
                       const std::vector<std::string>& marks, const std::vector<const BinValues*>& tracks,
                       OutputFile& output);

}  // namespace semicrf
