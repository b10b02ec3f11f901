// Where the files of a report come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/data/basis.h"
#include "report/report_options.h"

namespace semicrf {

struct FileFact {
  std::string role;  // "parameters", "track H3K4me3"
  std::string name;  // without its folder
  std::int64_t bytes = -1;
  std::string sha256;  // empty: too large (kMostHashed)
};

inline constexpr std::int64_t kMostHashed = std::int64_t{4} << 30;  // bytes

struct ProvenanceFacts {
  std::vector<FileFact> files;
  std::string header;               // header of the segments: its first lines with #, or empty
  std::string segments_command;     // made from that header, or empty
  std::string report_command;       // with names of files in place of paths
  std::vector<std::string> doubts;  // where the header names other files than those that were given
};

// Hashes the files, `options.threads` of them at a time.
ProvenanceFacts provenance_facts(const ReportOptions& options, const ReportBasis& basis);

}  // namespace semicrf
