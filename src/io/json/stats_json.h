// The document that --stats writes: "semicrf-stats" version 1.0 (docs/file-details.md).
#pragma once

#include <string>

#include "io/files/temp_spool.h"
#include "model/statistics.h"

namespace semicrf {

// The document's text, ended by a newline. Numbers read back to the same double (up to 17 significant
// digits); NaN and infinities become null.
std::string stats_text(const Stats& stats);

// The document in parts, for sequences that are not in memory at the same time: what stands before the first
// entry, the entries, and what stands behind the last one. `stats.sequences` does not count.
struct StatsFrame {
  std::string before, behind;
};
StatsFrame stats_frame(const Stats& stats, bool has_entries);
std::string stats_entry(const SequenceStats& sequence, bool is_first);

// Writes the parts, with `entries` of the sequences, like any output: complete or not at all; "-" is standard
// output. WriteError.
void write_stats(const std::string& path, const Stats& stats, const SpooledText& entries);

}  // namespace semicrf
