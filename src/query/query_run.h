// The command query: the probabilities of claims.
#pragma once

#include <string>

#include "log/progress.h"
#include "runs/run_options.h"

namespace semicrf {

struct QueryOptions {
  RunOptions run;            // digits: significant ones of the numbers
  std::string claims;        // BED, the claim in column 4
  std::string output = "-";  // table, TSV
};

// Reads, computes, writes and commits. Throws the errors of core/error.h. `progress` may be null.
void run_query(const QueryOptions& options, Progress* progress);
// What --dry-run prints.
std::string plan_query(const QueryOptions& options);

}  // namespace semicrf
