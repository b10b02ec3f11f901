// The command query: the probabilities of claims.
#pragma once

#include <string>
#include <vector>

#include "analyses/claims/claim.h"
#include "inputs/statements/interval_file.h"
#include "log/stage_times.h"
#include "model/parameters.h"
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

// Claims as files have them: BED lines whose names say what is claimed.
struct ClaimLine : IntervalLine {
  ClaimKind kind = ClaimKind::kBoundary;
  int label = -1;
};

// How claims are written, for the reader of the file and for messages.
IntervalFile claim_file(const std::string& path);

// In the order of the file. InputError with the line: not BED, no claim in column 4, an unknown kind or
// label, a label that is missing or not wanted; or no claim at all.
std::vector<ClaimLine> read_claims(const IntervalFile& file, const std::vector<Label>& labels);

}  // namespace semicrf
