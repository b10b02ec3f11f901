// Alignments through HTSlib; for read_file.cpp alone.
#pragma once

#include <memory>

#include "io/reads/read_file.h"

namespace semicrf {

// Fills in what header and index say. Errors as inspect_reads().
void inspect_alignments(ReadFileInfo& file);

std::unique_ptr<ReadSource> open_alignments(const ReadFileInfo& file, const ChromosomeIndex& chromosomes,
                                            const ReadFilter& filter, const ReadParts& parts, int threads);

}  // namespace semicrf
